//! `serve --check`: what it names, and what it leaves alone.

use serde_json::Value;

use super::Site;
use crate::server::text;

#[test]
fn a_check_names_every_deviation_and_leaves_no_session_behind() {
    let site = Site::start();
    let well = site.check(&[]);
    assert_eq!(well.status.code(), Some(0), "{well:?}");
    assert!(text(&well.stdout).ends_with(&format!("site1: all 12 machines are as {} describes them\n", site.config())), "{well:?}");

    site.set_password("rack1compute01", "Hunter2");
    site.change_machine("rack2compute01", "bmc", "http://127.0.0.1:1");
    site.change_machine("rack3compute01", "serial-number", "OTHER");
    let bad = site.check(&[]);
    assert_eq!(bad.status.code(), Some(1), "{bad:?}");
    let (out, err) = (text(&bad.stdout), text(&bad.stderr));
    let row = |machine: &str| out.lines().find(|line| line.starts_with(machine)).unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    assert_eq!(row("rack1compute01")[2..4], ["answers", "refused"], "{out}");
    assert_eq!(row("rack2compute01")[2..4], ["unreachable", "-"], "{out}");
    assert!(row("rack3compute01").contains(&"is") && row("rack4compute01").contains(&"matches"), "{out}");
    assert!(out.contains("its serial number is ") && out.contains(", not OTHER"), "{out}");
    assert!(out.ends_with("site1: 3 problems\n") && err == "error: the site is not as its file describes it\n", "{out}{err}");
    assert!(!out.contains("Hunter2") && !err.contains("Hunter2"));

    let report: Value = serde_json::from_slice(&site.check(&["-o", "json"]).stdout).expect("it is JSON");
    assert_eq!((&report["sites"][0]["ok"], report["sites"][0]["problems"].as_array().map(Vec::len)), (&Value::Bool(false), Some(3)));

    site.change("site1.toml", |file| {
        file["cluster"].as_table_mut().expect("a table").insert("kubeconfig-context".to_owned(), "nowhere".into());
    });
    let out = text(&site.check(&[]).stdout);
    assert!(out.contains("problem: the undercloud does not answer: ") && out.contains("nowhere"), "{out}");
    site.change("site1.toml", |file| file["cluster"]["kubeconfig"] = "nowhere.yaml".into());
    let refused = site.check(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("nowhere.yaml cannot be read"), "{refused:?}");
    assert_eq!(open_sessions(&site), 0, "the looks have logged out");
}

/// Sessions that the BMC of a machine with a right login has open.
fn open_sessions(site: &Site) -> u64 {
    let (file, logins) = (site.read("site1.toml"), site.read("site1-bmc-credentials.toml"));
    let machine =
        file["machine"].as_array().and_then(|machines| machines.iter().find(|entry| entry["name"].as_str() == Some("rack4compute01")));
    let address = machine.and_then(|machine| machine["bmc"].as_str()).expect("an address");
    let login = &logins["rack4compute01"];
    let _ = rustls::crypto::ring::default_provider().install_default();
    let request = reqwest::Client::new()
        .get(format!("{address}/redfish/v1/SessionService/Sessions"))
        .basic_auth(login["user"].as_str().expect("a user"), login["password"].as_str());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let sessions: Value = runtime.block_on(async { request.send().await.expect("the BMC answers").json().await.expect("JSON") });
    sessions["Members@odata.count"].as_u64().expect("a count")
}
