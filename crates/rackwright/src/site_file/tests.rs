//! What a site file may say, and what it is told when it says something else.

mod etcd;
mod install;
mod logins;
mod shipped;
mod skus;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use expect_test::{Expect, expect};

use super::*;

const LOGINS: &str = "[rack1compute01]\nuser = \"root\"\npassword = \"secret\"\n";

const SITE: &str = r#"[cluster]
name = "site1"
subscription = "s"
resource-group = "site1"
location = "local"
version = "4.9.2"
kubeconfig = "kubeconfig.yaml"
bmc-credentials = "logins.toml"
allow-plain-http = true

[[rack]]
name = "rack1"
availability-zone = "1"
location = "row 1"
serial-number = "R1"
sku = "any"

[[machine]]
name = "rack1compute01"
rack = "rack1"
slot = 1
role = "compute"
sku = "any"
serial-number = "S1"
bmc = "http://10.0.1.17"
bmc-mac = "00:00:00:00:00:01"
boot-mac = "00:00:00:00:00:02"
"#;

/// A directory with a site file and what it points to.
struct Desk {
    directory: tempfile::TempDir,
    environment: BTreeMap<String, String>,
}

impl Desk {
    fn new(site: &str) -> Desk {
        let desk = Desk { directory: tempfile::tempdir().unwrap(), environment: BTreeMap::new() };
        desk.with("site.toml", site, 0o644).with("kubeconfig.yaml", "", 0o600).with("logins.toml", LOGINS, 0o600)
    }

    fn with(self, name: &str, text: &str, mode: u32) -> Desk {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    fn with_env(mut self, name: &str, value: &str) -> Desk {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    fn load(&self) -> Result<Loaded, Trouble> {
        Loaded::read_in(&self.directory.path().join("site.toml"), &|name| self.environment.get(name).cloned())
    }

    /// What a person reads, without the directory of the moment.
    fn complaint(&self) -> String {
        let trouble = self.load().err().unwrap_or_else(|| panic!("nothing was refused"));
        let mut text = trouble.message.clone() + "\n";
        for detail in &trouble.details {
            text += &format!("  {detail}\n");
        }
        text.replace(&format!("{}/", self.directory.path().display()), "")
    }

    fn login(&self) -> (String, String) {
        let loaded = self.load().unwrap_or_else(|trouble| panic!("{trouble:?}"));
        let login = loaded.logins.values().next().unwrap();
        (login.user.clone(), login.password.to_string())
    }
}

/// What is said about the example with some text of it replaced by another.
#[track_caller]
fn refused(from: &str, to: &str, expected: &Expect) {
    assert!(SITE.contains(from), "{from}");
    expected.assert_eq(&Desk::new(&SITE.replacen(from, to, 1)).complaint());
}

#[test]
fn a_described_site_is_loaded_at_real_speed() {
    let loaded = Desk::new(SITE).load().unwrap();
    assert_eq!(loaded.site().limits, Limits::default());
    assert_eq!(loaded.site().machines.len(), 1);
    assert_eq!(loaded.trusts.values().collect::<Vec<_>>(), [&BmcTrust::Plain]);
}

#[test]
fn every_problem_is_told_at_once_with_its_line() {
    let broken = SITE
        .replace("\"site1\"\nsub", "\"site 1\"\nsub")
        .replace("4.9.2", "latest")
        .replace("allow-plain-http = true", "allow-plain-htp = true")
        .replace("rack = \"rack1\"", "rack = \"rack9\"")
        .replace("slot = 1", "slot = 0")
        .replace("role = \"compute\"", "role = \"worker\"")
        .replace("sku = \"any\"\nserial", "serial")
        .replace("00:00:00:00:00:02", "00:00:00:00:02");
    expect![[r#"
        site.toml cannot be used: 9 problems
          site.toml:2: `site 1` is not a valid name: only letters, digits and hyphens are allowed
            2 | name = "site 1"
          site.toml:6: `version`: `latest` is no runtime version; one is written like 4.9.2
            6 | version = "latest"
          site.toml:9: [cluster] has no `allow-plain-htp`; did you mean `allow-plain-http`?
            9 | allow-plain-htp = true
          site.toml:18: [[machine]] lacks `sku`
            18 | [[machine]]
          site.toml:20: `rack1compute01` stands in rack `rack9`, which is not described
            20 | rack = "rack9"
          site.toml:21: `slot` must be a whole number from 1 to 256
            21 | slot = 0
          site.toml:22: `role`: `worker` is no role; there are `control-plane`, `management` and `compute`
            22 | role = "worker"
          site.toml:24: the password of `rack1compute01` would travel unencrypted over plain http
            24 | bmc = "http://10.0.1.17"
            use https, or say `allow-plain-http = true` in [cluster] if the management network is safe
          site.toml:26: `boot-mac`: `00:00:00:00:02` is no MAC address; one is written like AC:1F:6B:00:00:01
            26 | boot-mac = "00:00:00:00:02"
    "#]]
    .assert_eq(&Desk::new(&broken).complaint());
}

#[test]
fn a_resource_group_is_a_part_of_scopes() {
    refused(
        "resource-group = \"site1\"",
        "resource-group = \"größe/1\"",
        &expect![[r#"
            site.toml cannot be used
              site.toml:4: `resource-group` becomes part of an address and has only letters, digits, points, hyphens, underscores and parentheses
                4 | resource-group = "größe/1"
        "#]],
    );
}

#[test]
fn what_stands_twice_is_told_with_both_lines() {
    let (_, machine) = SITE.split_once("[[machine]]").unwrap();
    let twice = format!("{SITE}\n[[machine]]{}", machine.replace("rack1compute01", "Rack1Compute01"));
    expect![[r#"
        site.toml cannot be used: 6 problems
          site.toml:30: machine `Rack1Compute01` is on line 19 already
            30 | name = "Rack1Compute01"
          site.toml:32: slot 1 of rack `rack1` is on line 21 already
            32 | slot = 1
          site.toml:35: serial number `S1` is on line 24 already
            35 | serial-number = "S1"
          site.toml:36: BMC address `http://10.0.1.17` is on line 25 already
            36 | bmc = "http://10.0.1.17"
          site.toml:37: MAC address `00:00:00:00:00:01` is on line 26 already
            37 | bmc-mac = "00:00:00:00:00:01"
          site.toml:38: MAC address `00:00:00:00:00:02` is on line 27 already
            38 | boot-mac = "00:00:00:00:00:02"
    "#]]
    .assert_eq(&Desk::new(&twice).complaint());
}

#[test]
fn more_problems_than_anybody_reads_are_counted() {
    let machines: String = (0..30).map(|n| format!("[[machine]]\nname = \"m{n}\"\n")).collect();
    let complaint = Desk::new(&format!("{SITE}{machines}")).complaint();
    assert!(complaint.starts_with("site.toml cannot be used: 240 problems\n"), "{complaint}");
    assert!(complaint.ends_with("  … and 220 more\n"), "{complaint}");
}

#[test]
fn an_empty_site_and_a_file_of_another_kind_are_refused() {
    expect![[r#"
        site.toml cannot be used: 3 problems
          site.toml:1: there is no [cluster]
          site.toml:1: there is no [[rack]]
          site.toml:1: there is no [[machine]]
    "#]]
    .assert_eq(&Desk::new("").complaint());
    let complaint = Desk::new("apiVersion: v1\nkind: Config\n").complaint();
    assert!(complaint.contains("site.toml:1: ") && complaint.contains("1 | apiVersion: v1"), "{complaint}");
    refused(
        "[[rack]]",
        "[rack]",
        &expect![[r#"
            site.toml cannot be used: 2 problems
              site.toml:11: `rack` must be written as [[rack]], once for each
                11 | [rack]
              site.toml:20: `rack1compute01` stands in rack `rack1`, which is not described
                20 | rack = "rack1"
        "#]],
    );
    refused(
        "[[machine]]",
        "[[server]]",
        &expect![[r#"
            site.toml cannot be used: 2 problems
              site.toml:1: there is no [[machine]]
                1 | [cluster]
              site.toml:18: a site file has [cluster], [[rack]], [[machine]], [[sku]] and [simulated], and no `server`
                18 | [[server]]
        "#]],
    );
}

#[test]
fn a_bmc_is_in_one_site_and_a_cluster_in_one_file_however_they_are_spelt() {
    let beside = |other: &str| {
        let (first, second) = (Desk::new(&SITE.replace("10.0.1.17", "localhost:8000")), Desk::new(other));
        let (first, second) = (first.load().unwrap(), second.load().unwrap());
        neighbours::check(&[&first], &second).err().map(|trouble| (trouble.message, trouble.details.len()))
    };
    let same_group = SITE.replace("name = \"site1\"", "name = \"site2\"");
    let shared = "clusters `site1` and `site2` are in one resource group, `site1`, and both have machine `rack1compute01`";
    assert_eq!(beside(&same_group), Some((shared.into(), 2)));
    let other = same_group.replace("resource-group = \"site1\"", "resource-group = \"site2\"");
    assert_eq!(beside(&other), None);
    assert_eq!(beside(&other.replace("10.0.1.17", "127.0.0.1:8000")), Some(("BMC http://127.0.0.1:8000 is in two sites".into(), 2)));
    assert_eq!(beside(SITE), Some(("cluster `site1` is described twice".into(), 2)));
}

#[test]
fn files_that_a_kubeconfig_names_lie_beside_it_and_count_as_part_of_it() {
    let kubeconfig = r#"
        apiVersion: v1
        kind: Config
        current-context: c
        clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443", certificate-authority: ca.pem}}]
        contexts: [{name: c, context: {cluster: c, user: u}}]
        users: [{name: u, user: {client-certificate: keys/u.pem, client-key: /etc/u.key, token: t0ken}}]
    "#;
    let desk = Desk::new(SITE).with("kubeconfig.yaml", kubeconfig, 0o600).with("ca.pem", "one", 0o644);
    let first = desk.load().unwrap();
    let beside = |name: &str| desk.directory.path().join(name);
    for path in [beside("ca.pem"), beside("keys/u.pem"), PathBuf::from("/etc/u.key")] {
        assert!(first.sources.contains(&path), "{} is watched: {:?}", path.display(), first.sources);
    }
    assert!(first.kubeconfig.text.contains(beside("ca.pem").to_str().unwrap()), "it is found from anywhere");
    assert!(first.kubeconfig.text.contains("t0ken"), "the rest stays as it is");
    assert!(crate::equip::is_same_undercloud(&first, &desk.load().unwrap()));
    let desk = desk.with("ca.pem", "two", 0o644);
    assert!(!crate::equip::is_same_undercloud(&first, &desk.load().unwrap()), "a new certificate is another way");
}

#[test]
fn what_a_simulator_puts_on_the_machines_is_read_and_judged() {
    let with = |text: &str| format!("{SITE}\n{text}");
    let sound = "[[simulated.virtual-machine]]\nname = \"web\"\nmachine = \"rack1compute01\"\nrunning = false\n";
    let desk = Desk::new(&with(sound));
    let described = Described::read(&desk.directory.path().join("site.toml")).unwrap();
    assert_eq!(described.tenancy().vms.len(), 1);
    assert_eq!(described.tenancy().vms[0].power, sim::VmPower::Stopped);
    let wrong = "[[simulated.virtual-machine]]\nname = \"Web\"\nmachine = \"rack1compute01\"\ncores = 97\ndisk = \"round\"\nsize = 4\n\n\
                 [[simulated.virtual-machine]]\nname = \"web\"\nmachine = \"rack1compute09\"\n\n\
                 [[simulated.kubernetes-cluster]]\nname = \"naks-01\"\nversion = \"v1.32.4\"\n\n\
                 [[simulated.kubernetes-cluster.workload]]\nkind = \"cronjob\"\nname = \"w\"\n";
    refused(
        "[cluster]",
        &format!("{wrong}\n[cluster]"),
        &expect![[r#"
        site.toml cannot be used: 7 problems
          site.toml:2: `name`: `Web` is no name; one has 1 to 63 small letters, digits and hyphens, and begins and ends without a hyphen
            2 | name = "Web"
          site.toml:4: `cores` must be a whole number from 1 to 96
            4 | cores = 97
          site.toml:5: `disk`: `round` is no kind of disk; there are `persistent` and `ephemeral`
            5 | disk = "round"
          site.toml:6: [[simulated.virtual-machine]] has no `size`
            6 | size = 4
          site.toml:10: `web` is on `rack1compute09`, which is not described
            10 | machine = "rack1compute09"
          site.toml:12: a Kubernetes cluster has at least one node of the control plane: a `node` without `pool`
            12 | [[simulated.kubernetes-cluster]]
          site.toml:17: `kind`: `cronjob` is no kind of workload; there are `deployment`, `statefulset`, `daemonset` and `bare`
            17 | kind = "cronjob"
    "#]],
    );
}
