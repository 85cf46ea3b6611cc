//! Where logins come from, and whom they are told to.

use expect_test::expect;

use super::*;

#[test]
fn a_password_in_the_site_file_is_refused_by_name_and_not_shown() {
    for (from, to) in [
        ("bmc = ", "bmc-password = \"Hunter2\"\nbmc = "),
        ("bmc = ", "password = \"Hunter2\"\nbmc = "),
        ("bmc = ", "bmc-password = Hunter2\nbmc = "),
        ("bmc = ", "login = { user = \"root\", password = \"Hunter2\" }\nbmc = "),
        ("http://10.0.1.17", "http://root:Hunter2@10.0.1.17"),
    ] {
        let complaint = Desk::new(&SITE.replacen(from, to, 1)).complaint();
        assert!(complaint.contains("site.toml:25: ") && !complaint.contains("Hunter2"), "{complaint}");
    }
    refused(
        "bmc = ",
        "bmc-password = \"Hunter2\"\nbmc = ",
        &expect![[r#"
            site.toml cannot be used
              site.toml:25: `bmc-password`: a password does not belong into the site file
                keep it in a file (`bmc-password-file`, `bmc-credentials`) or in the environment (`bmc-password-env`)
        "#]],
    );
}

#[test]
fn the_line_to_a_bmc_is_encrypted_to_somebody_known() {
    refused(
        "http://10.0.1.17",
        "https://10.0.1.17",
        &expect![[r#"
            site.toml cannot be used
              site.toml:25: nothing says which certificate the BMC of `rack1compute01` must have
                25 | bmc = "https://10.0.1.17"
                give `bmc-ca`, or `bmc-fingerprint` as this shows it: openssl s_client -connect 10.0.1.17:443 </dev/null 2>/dev/null | openssl x509 -noout -fingerprint -sha256
        "#]],
    );
    refused(
        "bmc = \"http://10.0.1.17\"",
        "bmc = \"https://10.0.1.17\"\nbmc-fingerprint = \"AB:CD\"",
        &expect![[r#"
            site.toml cannot be used
              site.toml:26: `bmc-fingerprint`: a SHA-256 fingerprint has 64 hexadecimal digits, not 4
                26 | bmc-fingerprint = "AB:CD"
        "#]],
    );
    refused(
        "bmc = ",
        &format!("bmc-fingerprint = \"{}\"\nbmc = ", "00".repeat(32)),
        &expect![[r#"
            site.toml cannot be used
              site.toml:25: the BMC of `rack1compute01` is on plain http and shows no certificate
                25 | bmc-fingerprint = "0000000000000000000000000000000000000000000000000000000000000000"
        "#]],
    );
    refused(
        "bmc-credentials",
        "bmc-ca = \"ca.pem\"\nbmc-credentials",
        &expect![[r#"
            site.toml cannot be used
              site.toml:8: ca.pem cannot be read: No such file or directory (os error 2)
                8 | bmc-ca = "ca.pem"
        "#]],
    );
    let loopback = SITE.replace("allow-plain-http = true", "").replace("10.0.1.17", "127.0.0.1:8000");
    assert!(Desk::new(&loopback).load().is_ok(), "what never leaves this computer needs no encryption");
    let pinned = SITE.replace("bmc = \"http:", &format!("bmc-fingerprint = \"{}\"\nbmc = \"https:", "AB".repeat(32)));
    let trusts = Desk::new(&pinned).load().unwrap().trusts;
    assert!(trusts.values().next().unwrap().to_string().starts_with("fingerprint AB:AB:"), "{trusts:?}");
}

#[test]
fn a_login_comes_from_where_the_file_says_and_a_machine_may_say_otherwise() {
    let pair = |user: &str, password: &str| (user.to_owned(), password.to_owned());
    assert_eq!(Desk::new(SITE).login(), pair("root", "secret"));
    let default = "[default]\nuser = \"admin\"\npassword = \"all\"\n";
    assert_eq!(Desk::new(SITE).with("logins.toml", default, 0o600).login(), pair("admin", "all"));
    let of_environment = SITE.replace("bmc-credentials = \"logins.toml\"", "bmc-user = \"root\"\nbmc-password-env = \"BMC\"");
    assert_eq!(Desk::new(&of_environment).with_env("BMC", "calvin").login(), pair("root", "calvin"));
    let of_file = of_environment.replace("bmc-password-env = \"BMC\"", "bmc-password-file = \"pw\"");
    assert_eq!(Desk::new(&of_file).with("pw", "calvin\n", 0o600).login(), pair("root", "calvin"));
    let own = SITE.replace("slot = 1", "slot = 1\nbmc-password-env = \"OWN\"");
    assert_eq!(Desk::new(&own).with_env("OWN", "mine").login(), pair("root", "mine"), "the user is still the file's");
}

#[test]
fn a_login_that_cannot_be_had_is_told_with_the_line_that_promised_it() {
    let complaint = |logins: &str, mode| Desk::new(SITE).with("logins.toml", logins, mode).complaint();
    expect![[r#"
        site.toml cannot be used
          site.toml:8: logins.toml holds secrets and can be read by others
            8 | bmc-credentials = "logins.toml"
            chmod 600 logins.toml
    "#]]
    .assert_eq(&complaint(LOGINS, 0o640));
    expect![[r#"
        site.toml cannot be used
          logins.toml:3: this is not TOML
    "#]]
    .assert_eq(&complaint(&LOGINS.replace("\"secret\"", "Hunter2"), 0o600));
    expect![[r#"
        site.toml cannot be used: 3 problems
          logins.toml:1: [rack1compute1] is no machine of the site
          logins.toml:4: [rack1compute1] has `user` and `password`, and no `pasword`
          site.toml:19: there is no login for the BMC of `rack1compute01`
            19 | name = "rack1compute01"
            write [rack1compute01] or [default] with `user` and `password` into logins.toml
    "#]]
    .assert_eq(&complaint(&format!("{}pasword = \"x\"\n", LOGINS.replace("compute01", "compute1")), 0o600));
    let of_environment = SITE.replace("bmc-credentials = \"logins.toml\"", "bmc-password-env = \"BMC\"");
    expect![[r#"
        site.toml cannot be used
          site.toml:8: the environment variable `BMC` is not set
            8 | bmc-password-env = "BMC"
    "#]]
    .assert_eq(&Desk::new(&of_environment).complaint());
    expect![[r#"
        site.toml cannot be used
          site.toml:19: the BMC of `rack1compute01` has a password, but no `bmc-user`
            19 | name = "rack1compute01"
    "#]]
    .assert_eq(&Desk::new(&of_environment).with_env("BMC", "calvin").complaint());
}

#[test]
fn two_ways_to_say_one_thing_are_refused() {
    refused(
        "bmc-credentials",
        "bmc-password-env = \"BMC\"\nbmc-credentials",
        &expect![[r#"
            site.toml cannot be used
              site.toml:8: choose one of `bmc-credentials`, `bmc-password-env` and `bmc-password-file`
                8 | bmc-password-env = "BMC"
        "#]],
    );
    refused(
        "role = \"compute\"",
        "role = \"compute\"\nspare = true",
        &expect![[r#"
            site.toml cannot be used
              site.toml:23: only a control-plane machine can be a spare
                23 | spare = true
        "#]],
    );
}
