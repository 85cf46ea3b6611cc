use model::{InstallNetwork, InstallSettings};

use super::*;

const INSTALL: &str = r#"os-disk = "S4EVNX0R512345"
data-disks = ["0x5002538F01C2A1B0", "5002538f01c2a1b1"]
install-address = "10.0.2.50/24"
install-gateway = "10.0.2.2"
install-dns = ["10.0.2.3", "2001:db8::3"]
"#;

#[test]
fn a_machine_may_say_where_its_system_goes_what_is_wiped_and_its_address_meanwhile() {
    let loaded = Desk::new(&format!("{SITE}{INSTALL}")).load().unwrap();
    let expected = InstallSettings {
        os_disk: Some("S4EVNX0R512345".to_owned()),
        data_disks: vec!["0x5002538F01C2A1B0".to_owned(), "5002538f01c2a1b1".to_owned()],
        network: Some(InstallNetwork {
            address: "10.0.2.50/24".to_owned(),
            gateway: Some("10.0.2.2".to_owned()),
            dns: vec!["10.0.2.3".to_owned(), "2001:db8::3".to_owned()],
        }),
    };
    assert_eq!(loaded.site().machines[0].install, expected);
    assert_eq!(Desk::new(SITE).load().unwrap().site().machines[0].install, InstallSettings::default());
}

#[test]
fn what_is_wrong_with_disks_and_addresses_is_named_with_its_line() {
    let check = |install: &str, expected: Expect| expected.assert_eq(&Desk::new(&format!("{SITE}{install}")).complaint());
    check("os-disk = \" S1\"\ndata-disks = [\"\", \"S2\", \"s2\"]\n", expect![[r#""#]]);
    check("os-disk = \"5002538f01c2a1b0\"\ndata-disks = [\"naa.5002538F01C2A1B0\"]\n", expect![[r#""#]]);
    check("install-gateway = \"10.0.2.2\"\ninstall-dns = [\"10.0.2.3\"]\n", expect![[r#""#]]);
    check(
        "install-address = \"10.0.2.50\"\ninstall-gateway = \"router\"\ninstall-dns = [\"a\", \"10.0.2.3\", \"10.0.2.3\"]\n",
        expect![[r#""#]],
    );
    check("install-address = \"10.0.2.50/24\"\ninstall-gateway = \"10.0.3.2\"\n", expect![[r#""#]]);
    check("install-address = \"10.0.2.50/24\"\ninstall-gateway = \"10.0.2.50\"\n", expect![[r#""#]]);
    let many = |count: usize| (0..count).map(|n| format!("\"S{n}\"")).collect::<Vec<_>>().join(", ");
    check(&format!("data-disks = [{}]\n", many(65)), expect![[r#""#]]);
    check("install-address = \"10.0.2.50/24\"\ninstall-dns = [\"1.1.1.1\", \"1.1.1.2\", \"1.1.1.3\", \"1.1.1.4\"]\n", expect![[r#""#]]);
}

#[test]
fn an_install_address_belongs_to_one_machine() {
    let machine = SITE.split("[[machine]]").nth(1).unwrap();
    let second = machine
        .replace("rack1compute01", "rack1compute02")
        .replace("slot = 1", "slot = 2")
        .replace("S1", "S2")
        .replace("10.0.1.17", "10.0.1.18")
        .replace("00:01", "00:11")
        .replace("00:02", "00:12");
    let address = "install-address = \"10.0.2.50/24\"\n";
    let logins = LOGINS.replace("rack1compute01", "default");
    let desk = Desk::new(&format!("{SITE}{address}[[machine]]{second}{address}")).with("logins.toml", &logins, 0o600);
    expect![[r#""#]].assert_eq(&desk.complaint());
}
