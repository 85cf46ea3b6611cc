//! Whose identity a machine has: what it was replaced by, until the site file says otherwise.

use std::collections::BTreeMap;

use expect_test::expect;
use model::{Replacement, Role, SecretRef, Site, SiteMachine, Standing};
use plan::{Stored, enroll};

use super::stage::{PRESERVE, REPLACE, ask, identity, new_board, preview, replace, site, target, verdict};
use crate::desk;

#[test]
fn a_replaced_machine_keeps_its_identity_until_the_site_file_names_another() {
    let mut rig = site();
    let name = target(Role::Compute);
    let described = rig.desk.snapshot.machines[&name].hardware.clone();
    rig.device(&name).board.parts.serial_number = "sn2".into();
    replace(&mut rig, Role::Compute, REPLACE, Some(new_board()));
    let machine = (*rig.desk.snapshot.machines[&name]).clone();
    let cluster = (*rig.desk.snapshot.cluster).clone();
    let again = |change: &dyn Fn(&mut model::Hardware), new_login: bool| {
        let mut hardware = described.clone();
        change(&mut hardware);
        let site = Site {
            cluster: cluster.name.clone(),
            home: cluster.home.clone(),
            version: cluster.version.clone(),
            limits: cluster.limits.clone(),
            skus: cluster.skus.clone(),
            join: None,
            new_logins: new_login.then(|| name.clone()).into_iter().collect(),
            racks: vec![model::SiteRack {
                name: hardware.rack.clone(),
                availability_zone: "1".into(),
                location: "here".into(),
                serial_number: "r".into(),
                sku: "rack".into(),
            }],
            machines: vec![SiteMachine {
                name: name.clone(),
                role: Role::Compute,
                standing: Standing::Provisioned,
                hardware,
                install: model::InstallSettings::default(),
            }],
        };
        let stored =
            Stored { cluster: Some(cluster.clone()), machines: BTreeMap::from([(name.clone(), machine.clone())]), ..Stored::default() };
        let enrolled = enroll(&stored, &site, desk::morning()).expect("nothing speaks against it");
        let after = enrolled.machines.get(&name).cloned().unwrap_or_else(|| machine.clone());
        let hardware = &after.hardware;
        let abandoned: Vec<&str> = enrolled.abandoned_logins.iter().map(SecretRef::as_str).collect();
        format!(
            "serial {}, slot {}, login {}, replaced {}, abandoned [{}]",
            hardware.serial_number,
            hardware.slot,
            hardware.credentials,
            after.replaced.is_some(),
            abandoned.join(", ")
        )
    };
    let same = |_: &mut model::Hardware| {};
    assert_eq!(again(&same, false), "serial sn2, slot 1, login replace/1, replaced true, abandoned []");
    assert_eq!(again(&|hardware| hardware.slot = 7, false), "serial sn2, slot 7, login replace/1, replaced true, abandoned []");
    assert_eq!(again(&same, true), "serial sn2, slot 1, login bmc/x, replaced true, abandoned [replace/1]");
    let renamed = |serial: &'static str| move |hardware: &mut model::Hardware| hardware.serial_number = serial.into();
    assert_eq!(again(&renamed("sn2"), false), "serial sn2, slot 1, login bmc/x, replaced false, abandoned [replace/1]");
    assert_eq!(again(&renamed("sn3"), false), "serial sn3, slot 1, login bmc/x, replaced false, abandoned [replace/1]");
}

#[test]
fn a_machine_that_is_replaced_twice_still_knows_what_the_site_file_says() {
    let mut rig = site();
    let name = target(Role::Compute);
    rig.device(&name).board.parts.serial_number = "sn2".into();
    replace(&mut rig, Role::Compute, REPLACE, Some(new_board()));
    rig.device(&name).board.parts.serial_number = "sn3".into();
    let third = Replacement { serial_number: Some("sn3".into()), credentials: Some(SecretRef::new("replace/2")), ..Replacement::default() };
    replace(&mut rig, Role::Compute, PRESERVE, Some(third));
    expect![[r#"
        serial sn3, login replace/2, described as sn; validated Pass; unhealthy: no
    "#]]
    .assert_eq(&identity(&rig, &name));
}

#[test]
fn only_a_replace_clears_the_unhealthy_mark() {
    let mut rig = site();
    let name = target(Role::Compute);
    rig.device(&name).board.parts.drives = 0;
    replace(&mut rig, Role::Compute, REPLACE, None);
    let failed = identity(&rig, &name);
    let reimage = super::stage::ask(&mut rig, &name, crate::install::stage::REIMAGE, None);
    let refused = verdict(&rig, &reimage);
    rig.device(&name).board.parts.drives = 2;
    replace(&mut rig, Role::Compute, REPLACE, None);
    expect![[r#"
        serial sn, login bmc/x, described as never; validated Fail; unhealthy: Drive test(s) failed: [Disk_0_Capacity_GB] expected: 960; observed: nothing; [Disk_0_Type] expected: SSD; observed: nothing; [Disk_1_Capacity_GB] expected: 960; observed: nothing; [Disk_1_Type] expected: SSD; observed: nothing; [Additional logs: No drive is seen in bay 0; No drive is seen in bay 1]
        `rack1compute01` cannot be reimaged: rule machine-unhealthy: it was given up at 10:01:01Z: Drive test(s) failed: [Disk_0_Capacity_GB] expected: 960; observed: nothing; [Disk_0_Type] expected: SSD; observed: nothing; [Disk_1_Capacity_GB] expected: 960; observed: nothing; [Disk_1_Type] expected: SSD; observed: nothing; [Additional logs: No drive is seen in bay 0; No drive is seen in bay 1]
        remedy: repair it, then `rackwright bmm replace rack1compute01`: nothing else brings it back
        serial sn, login bmc/x, described as never; validated Pass; unhealthy: no
    "#]].assert_eq(&format!("{failed}{refused}\n{}", identity(&rig, &name)));
}

#[test]
fn a_replaced_machine_keeps_its_name() {
    let mut rig = site();
    let other = Replacement { machine_name: Some("other".into()), ..Replacement::default() };
    let id = ask(&mut rig, &target(Role::Compute), REPLACE, Some(other.clone()));
    expect![[r#"
        `rack1compute01` cannot be replaced: rule machine-name-kept: the request calls it `other`
        remedy: leave the machine's name out, or say `rack1compute01`: a replaced machine keeps its name
    "#]]
    .assert_eq(&(verdict(&rig, &id) + "\n"));
    let refusal = preview(&mut rig, REPLACE, other).refusal.expect("a preview is judged as the replace is");
    assert_eq!(refusal.to_string(), verdict(&rig, &id).lines().next().unwrap());
    let own = Replacement { machine_name: Some("RACK1compute01".into()), ..Replacement::default() };
    assert_eq!(preview(&mut rig, REPLACE, own.clone()).refusal, None);
    let id = ask(&mut rig, &target(Role::Compute), REPLACE, Some(own));
    assert_eq!(verdict(&rig, &id), "accepted");
}
