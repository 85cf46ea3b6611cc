//! A site file that is edited while its site is kept, or while nobody keeps it.

use serde_json::Value;
use toml::Table;

use super::{Site, start};
use crate::server::{run, text, until};

#[test]
fn a_changed_file_is_taken_over_while_its_site_is_kept() {
    let site = Site::start();
    let right = site.password("rack1compute01");
    site.set_password("rack1compute01", "Hunter2");
    let (machine, login) = site.take_out("rack4compute01");
    let serve = start(site.home(), &["serve", "--config", &site.config(), "--listen", "127.0.0.1:0"]);
    serve.until_said("Rackwright keeps site1 (11 machines)");
    assert_eq!(run(site.home(), &["bmm", "show", "rack4compute01"]).status.code(), Some(3), "it is not described");

    let is_denied = |machine: &Value| machine["rackwright"]["bmcFault"].is_string() || machine["rackwright"]["bmcFault"].is_object();
    until("the refused login", || site.machine("rack1compute01").filter(is_denied));
    site.set_password("rack1compute01", &right);
    serve.until_said("~ machine rack1compute01: BMC password");
    site.until_power_is_seen("rack1compute01");

    site.change("site1-bmc-credentials.toml", |logins| drop(logins.insert("rack4compute01".to_owned(), login)));
    serve.until_said("[rack4compute01] is no machine of the site");
    site.change("site1.toml", |file| file["machine"].as_array_mut().expect("machines").push(machine));
    serve.until_said("+ machine rack4compute01: compute in rack4 slot 3");
    site.until_power_is_seen("rack4compute01");
    let restart = run(site.home(), &["bmm", "restart", "rack4compute01"]);
    assert_eq!(restart.status.code(), Some(0), "its node is known too: {restart:?}");
    assert!(!serve.said().contains("Hunter2") && !serve.said().contains(&right));
}

#[test]
fn a_file_that_cannot_be_used_changes_nothing() {
    let site = Site::start();
    let serve = start(site.home(), &["serve", "--config", &site.config(), "--listen", "127.0.0.1:0"]);
    serve.until_said("Rackwright keeps site1 (12 machines)");
    let before = std::fs::read_to_string(site.path("site1.toml")).expect("the file is there");

    std::fs::write(site.path("site1.toml"), before.replacen("role = \"compute\"", "role = \"worker\"", 1))
        .expect("the file can be written");
    serve.until_said("`worker` is no role");
    serve.until_said("hint: `site1` is kept as it was described before");
    let refused = || text(&run(site.home(), &["status", "-o", "json", "--query", "clusters[0].siteFileRefused.problem"]).stdout);
    assert!(refused().contains("`worker` is no role"), "{}", refused());
    std::fs::write(site.path("site1.toml"), before.replacen("name = \"site1\"", "name = \"site2\"", 1)).expect("the file can be written");
    serve.signal("-HUP");
    serve.until_said("site1.toml:4: cluster `site1` cannot be renamed to `site2` while it is kept");
    std::fs::write(site.path("site1.toml"), &before).expect("the file can be written");
    let (_, login) = site.take_out("rack1control01");
    serve.until_said("site1.toml: `rack1control01` cannot be taken out: it is in the control plane");
    let machines = text(&run(site.home(), &["bmm", "list"]).stdout);
    assert_eq!(machines.lines().count(), 1 + 12, "{machines}");
    std::fs::write(site.path("site1.toml"), &before).expect("the file can be written");
    site.change("site1-bmc-credentials.toml", |logins| drop(logins.insert("rack1control01".to_owned(), login)));
    serve.until_said("site1.toml was written anew and says the same");
    assert_eq!(refused().trim(), "null", "what was wrong is mended");
    serve.signal("-HUP");
    serve.until_said("site1.toml says what it said before");
}

#[test]
fn a_machine_is_not_taken_out_while_it_is_cordoned_and_goes_by_itself_when_it_is_not() {
    let site = Site::start();
    let serve = start(site.home(), &["serve", "--config", &site.config(), "--listen", "127.0.0.1:0"]);
    serve.until_said("Rackwright keeps site1 (12 machines)");
    assert_eq!(run(site.home(), &["bmm", "cordon", "rack2compute01"]).status.code(), Some(0));
    site.take_out("rack2compute01");
    serve.until_said("`rack2compute01` cannot be taken out: it is cordoned; `rackwright bmm uncordon rack2compute01` first");
    serve.until_said("hint: `site1` is kept as it was described before");
    assert!(site.machine("rack2compute01").is_some());
    assert!(!serve.said().contains("taken over"), "{}", serve.said());
    assert_eq!(run(site.home(), &["bmm", "uncordon", "rack2compute01"]).status.code(), Some(0));
    serve.until_said("1 difference was taken over:\n  - machine rack2compute01");
    assert_eq!(run(site.home(), &["bmm", "show", "rack2compute01"]).status.code(), Some(3), "it is gone when that is said");
}

#[test]
fn what_is_edited_while_nobody_keeps_the_site_is_refused_or_said_at_the_start() {
    let site = Site::start();
    let config = site.config();
    let serve = ["serve", "--config", &config, "--listen", "127.0.0.1:0"];
    let first = start(site.home(), &serve);
    first.until_said("Rackwright keeps site1 (12 machines)");
    assert_eq!(run(site.home(), &["bmm", "cordon", "rack2compute01"]).status.code(), Some(0));
    drop(first);
    let before = std::fs::read_to_string(site.path("site1.toml")).expect("the file is there");
    let line = before.lines().position(|line| line.starts_with("resource-group")).expect("a group is described") + 1;
    let edited = before.replacen("resource-group = \"", "resource-group = \"other-", 1);
    std::fs::write(site.path("site1.toml"), edited).expect("the file can be written");
    let refused = run(site.home(), &serve);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(text(&refused.stderr).contains(&format!("site1.toml:{line}: the resource group cannot change")), "{refused:?}");
    std::fs::write(site.path("site1.toml"), &before).expect("the file can be written");

    site.take_out("rack2compute01");
    let second = start(site.home(), &serve);
    second.until_said("site1: machine rack2compute01 is not described any more, but it is cordoned: it stays");
    second.until_said("Rackwright keeps site1 (11 machines)");
    // Until the keeper has planned for the first time, the machine is shown as it was left.
    let said = |machine: &Value| machine.to_string().contains("no longer described in the site file");
    until("it to be said", || site.machine("rack2compute01").filter(&said));
    let refused = run(site.home(), &["bmm", "uncordon", "rack2compute01"]);
    assert!(text(&refused.stderr).contains("put it back into the site file"), "{refused:?}");
}

#[test]
fn a_bmc_of_another_site_is_refused_by_a_check_and_while_both_are_kept() {
    let site = Site::start();
    let config = site.config();
    let serve = ["serve", "--config", &config, "--listen", "127.0.0.1:0"];
    // A second site with one machine, at an address that nobody has.
    let mut second = site.read("site1.toml");
    second["cluster"]["name"] = "site2".into();
    second["cluster"]["resource-group"] = "site2".into();
    let address = second["machine"][0]["bmc"].as_str().expect("an address").replace("127.0.0.1", "localhost");
    let machine = second["machine"].as_array_mut().expect("machines");
    machine.truncate(1);
    machine[0]["bmc"] = "http://127.0.0.1:1".into();
    let name = machine[0]["name"].as_str().expect("a name").to_owned();
    let mut logins = site.read("site1-bmc-credentials.toml");
    logins.retain(|key, _| *key == name);
    second["cluster"]["bmc-credentials"] = "site2-bmc-credentials.toml".into();
    std::fs::copy(site.path("site1-bmc-credentials.toml"), site.path("site2-bmc-credentials.toml")).expect("the file can be copied");
    site.change("site2-bmc-credentials.toml", |table| *table = logins);
    let write = |table: &Table| std::fs::write(site.path("site2.toml"), table.to_string()).expect("the file can be written");
    write(&second);
    let other = site.path("site2.toml").to_str().expect("the path is text").to_owned();
    let process = start(site.home(), &[&serve[..], &["--config", &other]].concat());
    process.until_said("Rackwright keeps site1 (12 machines), site2 (1 machines)");

    second["machine"][0]["bmc"] = address.clone().into();
    write(&second);
    process.until_said(&format!("BMC {address} is in two sites"));
    process.until_said("hint: `site2` is kept as it was described before");
    let checked = site.check(&["--config", &other]);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    assert!(text(&checked.stderr).contains(&format!("BMC {address} is in two sites")), "{checked:?}");
}
