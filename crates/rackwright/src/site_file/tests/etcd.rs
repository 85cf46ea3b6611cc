//! How the undercloud's etcd is reached.

use super::*;

/// The site file with this in the ninth line, and its BMC on loopback.
fn desk(etcd: &str) -> Desk {
    Desk::new(&SITE.replace("allow-plain-http = true\n", &format!("{etcd}\n")).replace("http://10.0.1.17", "http://127.0.0.1"))
}

fn complaint(etcd: &str) -> String {
    desk(etcd).complaint()
}

#[test]
fn an_etcd_on_loopback_needs_no_certificates_and_a_change_of_it_is_another_way() {
    let load = |port: u16| desk(&format!("etcd = {{ endpoints = [\"http://127.0.0.1:{port}\"] }}")).load().unwrap();
    let first = load(2379);
    assert_eq!(first.etcd.as_ref().unwrap().cluster().endpoints()[0].to_string(), "http://127.0.0.1:2379");
    assert!(first.etcd == load(2379).etcd && first.etcd != load(2381).etcd);
    assert!(Desk::new(SITE).load().unwrap().etcd.is_none());
}

#[test]
fn what_is_wrong_with_it_is_told_with_its_line() {
    for (etcd, words) in [
        ("etcd = 5", "`etcd` must be a table, not a number"),
        ("etcd = { }", "`etcd` in [cluster] lacks `endpoints`"),
        ("etcd = { endpoints = [] }", "`endpoints` must be a list of texts, with at least one in it"),
        ("etcd = { endpoints = [\"10.1.0.4:2379\"] }", "an endpoint of etcd begins with http:// or https://"),
        ("etcd = { endpoints = [\"http://127.0.0.1:2379\", \"http://127.0.0.1:2379\"] }", "http://127.0.0.1:2379 is listed twice"),
        ("etcd = { endpoints = [\"http://127.0.0.1:2379\"], cert = \"x\" }", "`etcd` is on plain http, where nobody shows a certificate"),
        ("etcd = { endpoints = [\"http://10.1.0.4:2379\"] }", "whoever reaches http://10.1.0.4:2379 over plain http could take"),
        ("etcd = { endpoints = [\"https://10.1.0.4:2379\"], ca = \"x\", cert = \"y\" }", "`etcd` lacks `key`"),
        ("etcd = { endpoints = [\"https://10.1.0.4:2379\", \"http://127.0.0.1:2379\"] }", "either all of them are https or none is"),
        ("etcd = { endpoints = [\"http://127.0.0.1:2379\"], keys = \"x\" }", "`etcd` in [cluster] has no `keys`; did you mean `key`?"),
    ] {
        let told = complaint(etcd);
        assert!(told.contains(words), "{etcd}\n{told}");
        assert!(told.contains("site.toml:9"), "{told}");
    }
    let secret = complaint("etcd = { endpoints = [\"https://root:s3cret@10.1.0.4:2379\"] }");
    assert!(secret.contains("a login does not belong into an address") && !secret.contains("s3cret"), "{secret}");
}

#[test]
fn a_key_that_others_can_read_is_not_used() {
    let etcd = "etcd = { endpoints = [\"https://10.1.0.4:2379\"], ca = \"ca.pem\", cert = \"cert.pem\", key = \"key.pem\" }";
    let told = desk(etcd).with("ca.pem", "", 0o644).with("key.pem", "", 0o644).complaint();
    assert!(told.contains("key.pem holds secrets and can be read by others"), "{told}");
    assert!(told.contains("cert.pem cannot be read"), "{told}");
    let told = desk(etcd).with("ca.pem", "", 0o644).with("cert.pem", "", 0o644).with("key.pem", "", 0o600).complaint();
    assert!(told.contains("`etcd` cannot be reached with its certificates: there is no certificate in the PEM text"), "{told}");
}
