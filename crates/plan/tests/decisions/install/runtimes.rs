//! The runtimes that a cluster knows.

use expect_test::expect;
use model::{Ask, Installed, RequestId, Role, RuntimeVersion};

use super::stage::{REIMAGE, ask, bundle, ending, reimage, site, target, verdict};
use crate::rig::Rig;
use crate::rig::board::image;

fn import(rig: &mut Rig, version: &str, os_name: &str) -> RequestId {
    let bundle = model::Bundle { os_name: os_name.into(), ..bundle(version) };
    let id = rig.desk.request("alice", Ask::ImportRuntime { bundle: Box::new(bundle) }, None);
    rig.run_for(model::Span::seconds(1));
    id
}

fn forget(rig: &mut Rig, version: &str) -> RequestId {
    let version = RuntimeVersion::parse(version).unwrap();
    let id = rig.desk.request("alice", Ask::ForgetRuntime { version }, None);
    rig.run_for(model::Span::seconds(1));
    id
}

#[test]
fn a_runtime_is_imported_once_and_replaced_only_while_nothing_needs_it() {
    let mut rig = site();
    let mut told = String::new();
    for (version, name) in [("4.9.2", "one"), ("4.9.2", "one"), ("4.9.2", "other"), ("4.7.8", "Linux"), ("4.7.8", "other")] {
        let id = import(&mut rig, version, name);
        told.push_str(&format!("import {version} {name}: {}\n", verdict(&rig, &id)));
    }
    for version in ["4.7.8", "4.9.2", "4.9.2"] {
        let id = forget(&mut rig, version);
        told.push_str(&format!("forget {version}: {}\n", verdict(&rig, &id)));
    }
    expect![[r#"
        import 4.9.2 one: done
        import 4.9.2 one: done
        import 4.9.2 other: done
        import 4.7.8 Linux: done
        import 4.7.8 other: done
        forget 4.7.8: runtime 4.7.8 cannot be removed: rule runtime-in-use: it is the runtime of cluster `site1`
        remedy: keep it until nothing runs it any more
        forget 4.9.2: done
        forget 4.9.2: there is no runtime 4.9.2: rule runtime-exists: the cluster knows 4.7.8
        remedy: `rackwright runtime list` names them
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_slip_in_the_clusters_own_runtime_is_mended_until_it_is_installed_and_its_images_may_move_at_any_time() {
    let mut rig = site();
    let mended = import(&mut rig, "4.7.8", "Linux 3");
    assert_eq!(verdict(&rig, &mended), "done");
    reimage(&mut rig, Role::Compute);
    let other = import(&mut rig, "4.7.8", "Linux 4");
    expect![[r#"
        runtime 4.7.8 cannot be replaced by another one: rule runtime-immutable: it is installed on `rack1compute01`
        remedy: only the URLs of its images may change; give what is new a version of its own"#]]
    .assert_eq(&verdict(&rig, &other));
    let mut moved = model::Bundle { os_name: "Linux 3".into(), ..bundle("4.7.8") };
    moved.os_image.url = "http://elsewhere/os.img".into();
    moved.boot.http.as_mut().unwrap().url = "http://elsewhere/boot.efi".into();
    let version = moved.version;
    let id = rig.desk.request("alice", Ask::ImportRuntime { bundle: Box::new(moved) }, None);
    rig.run_for(model::Span::seconds(1));
    assert_eq!(verdict(&rig, &id), "done");
    assert_eq!(rig.desk.snapshot.runtimes[&version].os_image.url, "http://elsewhere/os.img");
}

#[test]
fn what_is_installed_somewhere_is_not_forgotten() {
    let mut rig = site();
    reimage(&mut rig, Role::Compute);
    let mut cluster = (*rig.desk.snapshot.cluster).clone();
    cluster.version = "4.9.2".into();
    rig.desk.snapshot.cluster = std::sync::Arc::new(cluster);
    let id = forget(&mut rig, "4.7.8");
    expect![[r#"
        runtime 4.7.8 cannot be removed: rule runtime-in-use: it is installed on `rack1compute01`
        remedy: keep it until nothing runs it any more"#]]
    .assert_eq(&verdict(&rig, &id));
}

/// A machine that has an older runtime than its cluster is said to run.
fn with_an_older_one(rig: &mut Rig) {
    let mut machine = (*rig.desk.snapshot.machines[&target(Role::Compute)]).clone();
    let installed = Installed { version: RuntimeVersion::parse("4.6.3").unwrap(), image: image(), at: machine.created_at };
    machine.installed = Some(installed);
    rig.desk.add(machine);
}

#[test]
fn a_machine_is_installed_with_the_version_that_it_has() {
    let mut rig = site();
    with_an_older_one(&mut rig);
    let id = ask(&mut rig, &target(Role::Compute), REIMAGE);
    expect![[r#"
        `rack1compute01` cannot be reimaged: rule runtime-exists: `rack1compute01` has 4.6.3; cluster `site1` knows 4.7.8
        remedy: make it known: `rackwright runtime import FILE`"#]]
    .assert_eq(&verdict(&rig, &id));
    import(&mut rig, "4.6.3", "Linux");
    let preview = Ask::Preview { machine: target(Role::Compute), action: REIMAGE, outage: model::Outage::Refused, replacement: None };
    let id = rig.desk.request("alice", preview, None);
    rig.run_for(model::Span::seconds(4));
    let Some(model::Verdict::Previewed { preview }) = &rig.desk.snapshot.requests[&id].verdict else { panic!("no preview") };
    assert_eq!((preview.refusal.clone(), preview.runtime.map(|version| version.to_string())), (None, Some("4.6.3".into())));
    let operation = reimage(&mut rig, Role::Compute);
    assert!(ending(&operation).contains("was reimaged with runtime 4.6.3"), "{}", ending(&operation));
}
