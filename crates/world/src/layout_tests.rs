//! Where machines stand and what they are called, generated and described.

use std::collections::BTreeSet;

use expect_test::expect;

use super::*;

/// One line a rack: the machines' short role names, control servers first.
fn roles(racks: u32, machines_per_rack: u32) -> String {
    let layout = Layout::new("east", racks, machines_per_rack, 1).unwrap();
    let mut text = String::new();
    for machine in layout.machines() {
        let role = match machine.role {
            Role::ControlPlane => "KCP",
            Role::SpareControlPlane => "KCP-spare",
            Role::Management => "MGMT",
            Role::Compute => "-",
        };
        let end = if machine.slot == machines_per_rack { "\n" } else { " " };
        text += &format!("{}={role}{end}", machine.name);
    }
    text
}

#[test]
fn the_control_plane_is_spread_as_the_tables_of_rack_resiliency_say() {
    expect![[r#"
        rack1control01=KCP rack1control02=KCP rack1control03=KCP rack1compute01=-
    "#]]
    .assert_eq(&roles(1, 4));
    expect![[r#"
        rack1control01=KCP rack1control02=MGMT rack1compute01=-
        rack2control01=KCP-spare rack2control02=MGMT rack2compute01=-
    "#]]
    .assert_eq(&roles(2, 3));
    expect![[r#"
        rack1control01=KCP rack1control02=KCP-spare rack1compute01=-
        rack2control01=KCP rack2control02=MGMT rack2compute01=-
        rack3control01=KCP rack3control02=MGMT rack3compute01=-
    "#]]
    .assert_eq(&roles(3, 3));
    expect![[r#"
        rack1control01=KCP rack1control02=MGMT rack1compute01=-
        rack2control01=KCP rack2control02=MGMT rack2compute01=-
        rack3control01=KCP rack3control02=MGMT rack3compute01=-
        rack4control01=KCP-spare rack4control02=MGMT rack4compute01=-
        rack5control01=MGMT rack5control02=MGMT rack5compute01=-
    "#]]
    .assert_eq(&roles(5, 3));
}

#[test]
fn a_rack_needs_its_control_servers_and_one_for_work() {
    assert_eq!(Layout::new("east", 0, 4, 1), Err(LayoutError::Racks { asked: 0 }));
    assert_eq!(Layout::new("east", 1, 3, 1), Err(LayoutError::MachinesPerRack { asked: 3, least: 4 }));
    assert_eq!(Layout::new("east", 4, 2, 1), Err(LayoutError::MachinesPerRack { asked: 2, least: 3 }));
}

#[test]
fn no_two_machines_share_an_identifier() {
    let layout = Layout::new("east", 40, 50, 1).unwrap();
    let unique = |of: fn(&MachineSpec) -> String| layout.machines().iter().map(of).collect::<BTreeSet<_>>().len();
    assert_eq!(unique(|m| m.name.clone()), 2_000);
    assert_eq!(unique(|m| m.serial_number.clone()), 2_000);
    assert_eq!(unique(|m| m.bmc_mac.clone()), 2_000);
    assert_eq!(unique(|m| m.boot_mac.clone()), 2_000);
    assert_eq!(unique(|m| m.uuid.clone()), 2_000);
    assert_eq!(unique(|m| m.bmc_password.clone()), 2_000);
    assert_eq!(unique(|m| m.bmc_address.to_string()), 2_000);
}

fn described(name: &str, rack: &str, slot: u32) -> DescribedMachine {
    let text = |what: &str| format!("{what} of {name}");
    DescribedMachine {
        name: name.to_owned(),
        rack: rack.to_owned(),
        slot,
        role: Role::Compute,
        vendor: None,
        serial_number: text("serial"),
        bmc_mac: text("bmc"),
        boot_mac: text("boot"),
    }
}

#[test]
fn a_described_site_has_what_was_described_and_the_rest_is_made_up() {
    let hpe = DescribedMachine { vendor: Some(Vendor::Hpe), ..described("row2-b", "row2", 7) };
    let layout = Layout::described("east", 1, &[described("row1-a", "row1", 7), hpe, described("row1-c", "row1", 8)]).unwrap();
    let places: Vec<_> = layout.machines().iter().map(|m| (m.name.as_str(), m.rack, m.rack_name(), m.slot)).collect();
    assert_eq!(places, [("row1-a", 1, "row1", 7), ("row2-b", 2, "row2", 7), ("row1-c", 1, "row1", 8)]);
    assert_eq!(layout.racks, 2);
    let second = &layout.machines()[1];
    assert_eq!(
        (second.vendor, second.serial_number.as_str(), second.bmc_user.as_str()),
        (Vendor::Hpe, "serial of row2-b", "Administrator")
    );
    assert_ne!(layout.machines()[0].bmc_address, second.bmc_address);
}

#[test]
fn a_description_that_cannot_be_simulated_is_refused_by_name() {
    let refused = |machines: &[DescribedMachine]| Layout::described("east", 1, machines).unwrap_err().to_string();
    assert_eq!(refused(&[]), "a site has at least one machine");
    assert_eq!(refused(&[described("a", "r", 1), described("a", "r", 2)]), "`a` is described twice");
    assert_eq!(refused(&[described("a", "r", 0)]), "`a` stands in slot 0, but a simulated rack has slots 1 to 250");
    assert_eq!(refused(&[described("Aa", "r", 1)]), "`Aa` has capital letters, which the name of a simulated node cannot have");
}

#[test]
fn four_racks_have_four_vendors() {
    let layout = Layout::new("east", 4, 3, 1).unwrap();
    assert_eq!(layout.machines().iter().map(|m| m.vendor).collect::<BTreeSet<_>>().len(), 4);
}

#[test]
fn the_same_seed_gives_the_same_site_and_another_name_another_one() {
    let build = |site| Layout::new(site, 2, 4, 9).unwrap();
    assert_eq!(build("east"), build("east"));
    assert_ne!(build("east").machines()[0].bmc_password, build("west").machines()[0].bmc_password);
    assert_ne!(build("east").kubernetes_token(), build("west").kubernetes_token());
}
