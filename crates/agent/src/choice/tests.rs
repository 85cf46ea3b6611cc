use super::*;
use crate::inventory::DiskKind;

/// Disks as a text, one a line: name, serial number, WWN, size and what else is so; `-` for nothing.
fn disks(text: &str) -> Vec<DiskFacts> {
    let disk = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let some = |word: &str| (word != "-").then(|| word.to_owned());
        DiskFacts {
            name: words[0].to_owned(),
            serial: some(words[1]),
            wwn: some(words[2]),
            model: None,
            bytes: words[3].parse().unwrap(),
            kind: DiskKind::Hdd,
            read_only: words.contains(&"read-only"),
            removable: words.contains(&"removable"),
            block_bytes: 512,
            device: None,
        }
    };
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(disk).collect()
}

const MACHINE: &str = "
    sda      S1   5000c500a1b2c3d4  1000
    sdb      S2   5000c500a1b2c3d5  9000
    nvme0n1  S3   -                 5000
    sdc      S4   -                 9000  removable
    sdd      S5   -                 9000  read-only
    sde      S6   6001405aaa        9000
    sdf      S6   6001405bbb        9000
    sdg      OS   -                 9000
    sdh      -    -                 9000
    sdi      S7   -                 9000
    sdj      S7   -                 9000  read-only
";

/// What is chosen on the machine, in few words.
fn check(os: &str, wipe: &[&str]) -> String {
    let disks = disks(MACHINE);
    let wanted: Identity = serde_json::from_str(os).unwrap();
    let wipe: Vec<String> = wipe.iter().map(|id| (*id).to_owned()).collect();
    match choose_disks(&disks, &wanted, 1_000, &wipe) {
        Ok(Choice { os, wipe }) => {
            let wipe: Vec<&str> = wipe.iter().map(|disk| disk.name.as_str()).collect();
            format!("{} {}", os.name, wipe.join(",")).trim_end().to_owned()
        }
        Err(failure) => format!("{:?}", failure.trouble),
    }
}

#[test]
fn a_disk_is_chosen_by_what_it_says_of_itself() {
    let cases = [
        (r#"{"serial":"S2"}"#, "sdb"),
        (r#"{"serial":" s2 "}"#, "sdb"),
        (r#"{"wwn":"5000c500a1b2c3d4"}"#, "sda"),
        (r#"{"wwn":"naa.5000C500A1B2C3D4"}"#, "sda"),
        (r#"{"wwn":"0x5000c500a1b2c3d4"}"#, "sda"),
        (r#"{"wwn":"50:00:C5:00:A1:B2:C3:D4"}"#, "sda"),
        (r#"{"wwn":"wwn-0x5000c500a1b2c3d4"}"#, "sda"),
        (r#"{"serial":"S2","wwn":"5000c500a1b2c3d5"}"#, "sdb"),
        (r#"{"id":"S3"}"#, "nvme0n1"),
        (r#"{"id":"5000c500a1b2c3d5"}"#, "sdb"),
        (r#"{"volume":"OS","wwn":"5000c500a1b2c3d5"}"#, "sdb"),
        (r#"{"volume":"OS"}"#, "sdg"),
        (r#"{"wwn":"6001405bbb"}"#, "sdf"),
    ];
    for (os, expected) in cases {
        assert_eq!(check(os, &[]), expected, "{os}");
    }
}

#[test]
fn whatever_is_not_plainly_the_one_is_left_alone() {
    let cases = [
        (r#"{"serial":"S9"}"#, "MissingDisk"),
        (r#"{"serial":"S"}"#, "MissingDisk"),
        (r#"{"serial":""}"#, "MissingDisk"),
        (r#"{"wwn":""}"#, "MissingDisk"),
        (r#"{"wwn":"0x"}"#, "MissingDisk"),
        (r#"{"serial":"sda"}"#, "MissingDisk"),
        (r#"{"serial":"S2","wwn":"5000c500a1b2c3d4"}"#, "MissingDisk"),
        (r#"{"serial":"S4"}"#, "MissingDisk"),
        (r#"{"serial":"S5"}"#, "MissingDisk"),
        (r#"{"volume":"DATA"}"#, "MissingDisk"),
        (r#"{"volume":"OS","wwn":"1"}"#, "MissingDisk"),
        ("{}", "MissingDisk"),
        (r#"{"serial":"S6"}"#, "AmbiguousDisk"),
        (r#"{"id":"s6"}"#, "AmbiguousDisk"),
        (r#"{"serial":"S7"}"#, "AmbiguousDisk"),
    ];
    for (os, expected) in cases {
        assert_eq!(check(os, &[]), expected, "{os}");
    }
}

#[test]
fn a_disk_must_hold_the_image() {
    let disks = disks(MACHINE);
    let wanted = Identity { serial: Some("S1".to_owned()), ..Identity::default() };
    assert!(choose_disks(&disks, &wanted, 1_000, &[]).is_ok());
    let failure = choose_disks(&disks, &wanted, 1_001, &[]).unwrap_err();
    assert_eq!(failure.trouble, Trouble::DiskTooSmall);
    assert_eq!(failure.detail, "the image has 1001 bytes, and sda (1000 bytes, serial number S1, WWN 5000c500a1b2c3d4) is smaller");
}

#[test]
fn data_disks_are_wiped_only_if_each_is_found_and_none_is_the_systems() {
    let os = r#"{"serial":"S1"}"#;
    assert_eq!(check(os, &["S2", "S3"]), "sda sdb,nvme0n1");
    assert_eq!(check(os, &["S2", "5000c500a1b2c3d5"]), "sda sdb");
    assert_eq!(check(os, &["S2", "S9"]), "MissingDisk");
    assert_eq!(check(os, &["S4"]), "MissingDisk");
    assert_eq!(check(os, &["S6"]), "AmbiguousDisk");
    assert_eq!(check(os, &["5000c500a1b2c3d4"]), "AmbiguousDisk");
    assert_eq!(check(os, &[""]), "MissingDisk");
}

#[test]
fn a_missing_disk_is_told_with_those_that_are_there() {
    let disks = disks("sda S1 - 1000\nsdb - 5000c5 2000 removable");
    let wanted = Identity { serial: Some("S9".to_owned()), ..Identity::default() };
    let told = choose_disks(&disks, &wanted, 1, &[]).unwrap_err().detail;
    assert_eq!(
        told,
        "no disk has serial number `S9`; there are: sda (1000 bytes, serial number S1, WWN none), \
         sdb (2000 bytes, serial number none, WWN 5000c5, removable)"
    );
}
