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
    check(
        "os-disk = \" S1\"\ndata-disks = [\"\", \"S2\", \"s2\"]\n",
        expect![[r#"
        site.toml cannot be used: 3 problems
          site.toml:28: `os-disk`: a serial number or WWN has no control characters, and no blanks around it
            28 | os-disk = " S1"
          site.toml:29: `data-disks`: a serial number or WWN has no control characters, and no blanks around it
            29 | data-disks = ["", "S2", "s2"]
          site.toml:29: `data-disks` has `s2` twice
            29 | data-disks = ["", "S2", "s2"]
    "#]],
    );
    check(
        "os-disk = \"5002538f01c2a1b0\"\ndata-disks = [\"naa.5002538F01C2A1B0\"]\n",
        expect![[r#"
        site.toml cannot be used
          site.toml:29: `data-disks` has `naa.5002538F01C2A1B0`, which `os-disk` names: the system cannot go to a disk that is wiped
            29 | data-disks = ["naa.5002538F01C2A1B0"]
    "#]],
    );
    check(
        "install-gateway = \"10.0.2.2\"\ninstall-dns = [\"10.0.2.3\"]\n",
        expect![[r#"
        site.toml cannot be used: 2 problems
          site.toml:28: `install-gateway` is of use only with `install-address`: without it all of this comes by DHCP
            28 | install-gateway = "10.0.2.2"
          site.toml:29: `install-dns` is of use only with `install-address`: without it all of this comes by DHCP
            29 | install-dns = ["10.0.2.3"]
    "#]],
    );
    check(
        "install-address = \"10.0.2.50\"\ninstall-gateway = \"router\"\ninstall-dns = [\"a\", \"10.0.2.3\", \"10.0.2.3\"]\n",
        expect![[r#"
            site.toml cannot be used: 4 problems
              site.toml:28: `install-address`: `10.0.2.50` is no address with its network; one is written like 10.0.2.50/24
                28 | install-address = "10.0.2.50"
              site.toml:29: `install-gateway`: invalid IP address syntax
                29 | install-gateway = "router"
              site.toml:30: `install-dns`: `a` is no IP address
                30 | install-dns = ["a", "10.0.2.3", "10.0.2.3"]
              site.toml:30: `install-dns` has 10.0.2.3 twice
                30 | install-dns = ["a", "10.0.2.3", "10.0.2.3"]
        "#]],
    );
    check(
        "install-address = \"10.0.2.50/24\"\ninstall-gateway = \"10.0.3.2\"\n",
        expect![[r#"
        site.toml cannot be used
          site.toml:29: `install-gateway` 10.0.3.2 is not in the network of 10.0.2.50/24
            29 | install-gateway = "10.0.3.2"
    "#]],
    );
    check(
        "install-address = \"10.0.2.50/24\"\ninstall-gateway = \"10.0.2.50\"\n",
        expect![[r#"
        site.toml cannot be used
          site.toml:29: `install-gateway` 10.0.2.50 is the machine's own address
            29 | install-gateway = "10.0.2.50"
    "#]],
    );
    let many = |count: usize| (0..count).map(|n| format!("\"S{n}\"")).collect::<Vec<_>>().join(", ");
    check(
        &format!("data-disks = [{}]\n", many(65)),
        expect![[r#"
        site.toml cannot be used
          site.toml:28: `data-disks` has 65 disks; at most 64 are meant
            28 | data-disks = ["S0", "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "S12", "S13", "S14", "S15", "S16", "S17", "S18", "S19", "S20", "S21", "S22", "S23", "S24", "S25", "S26", "S27", "S28", "S29", "S30", "S31", "S32", "S33", "S34", "S35", "S36", "S37", "S38", "S39", "S40", "S41", "S42", "S43", "S44", "S45", "S46", "S47", "S48", "S49", "S50", "S51", "S52", "S53", "S54", "S55", "S56", "S57", "S58", "S59", "S60", "S61", "S62", "S63", "S64"]
    "#]],
    );
    check(
        "install-address = \"10.0.2.50/24\"\ninstall-dns = [\"1.1.1.1\", \"1.1.1.2\", \"1.1.1.3\", \"1.1.1.4\"]\n",
        expect![[r#"
        site.toml cannot be used
          site.toml:29: `install-dns` has 4 servers; at most 3 are asked
            29 | install-dns = ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"]
    "#]],
    );
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
    expect![[r#"
        site.toml cannot be used
          site.toml:39: install address `10.0.2.50` is on line 28 already
            39 | install-address = "10.0.2.50/24"
    "#]]
    .assert_eq(&desk.complaint());
}
