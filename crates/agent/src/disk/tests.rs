use std::fs;

use super::*;
use crate::inventory::DiskKind;

fn facts(bytes: u64) -> DiskFacts {
    DiskFacts {
        name: "sda".to_owned(),
        serial: None,
        wwn: None,
        model: None,
        bytes,
        kind: DiskKind::Hdd,
        read_only: false,
        removable: false,
        block_bytes: 512,
        device: None,
    }
}

/// A disk full of old data.
fn disk(bytes: u64) -> (tempfile::TempDir, Disk) {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("dev")).unwrap();
    fs::write(root.path().join("dev/sda"), vec![0xAA; bytes as usize]).unwrap();
    let disk = Disk::open(root.path(), &facts(bytes)).unwrap();
    (root, disk)
}

fn all(disk: &Disk, from: u64, to: u64) -> Vec<u8> {
    let mut all = Vec::new();
    disk.read_back(from, to, |piece| {
        all.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    all
}

#[test]
fn zeros_replace_old_data_and_nothing_beside_it() {
    let (_root, disk) = disk(3 << 20);
    for (at, length) in [(0, 4_096), (10_000, 3), (65_536, 65_536), (200_001, 1_234_567), ((3 << 20) - 5, 5)] {
        disk.zero(at, length).unwrap();
        disk.sync().unwrap();
        let read = all(&disk, at, at + length);
        assert_eq!(read.len() as u64, length);
        assert!(read.iter().all(|byte| *byte == 0), "{at} {length}");
        assert!(at == 0 || disk.read(at - 1, 1).unwrap() == [0xAA], "before {at}");
        assert!(at + length == disk.bytes() || disk.read(at + length, 1).unwrap() == [0xAA], "after {at} + {length}");
    }
    assert_eq!(fs::metadata(&disk.path).unwrap().len(), 3 << 20);
}

#[test]
fn nothing_is_written_beyond_the_end() {
    let (_root, disk) = disk(1 << 20);
    assert!(disk.write((1 << 20) - 1, b"ab").is_err());
    assert!(disk.write(u64::MAX, b"ab").is_err());
    assert!(disk.zero((1 << 20) - 1, 2).is_err());
    assert_eq!(fs::metadata(&disk.path).unwrap().len(), 1 << 20);
}

#[test]
fn any_part_is_read_back() {
    let (_root, disk) = disk(5_000_001);
    let content: Vec<u8> = (0..5_000_001_u32).map(|at| (at % 251) as u8).collect();
    disk.write(0, &content).unwrap();
    disk.sync().unwrap();
    for (from, to) in [(0, 5_000_001), (1, 2), (4_095, 4_097), (1_048_576, 3_000_000), (4_999_999, 5_000_001)] {
        assert_eq!(all(&disk, from, to), &content[from as usize..to as usize], "{from} to {to}");
    }
    assert!(disk.read_back(0, 5_000_002, |_| Ok(())).is_err());
}

#[test]
fn a_disk_that_has_changed_its_size_is_not_opened() {
    let (root, _disk) = disk(4_096);
    assert!(Disk::open(root.path(), &facts(8_192)).unwrap_err().to_string().contains("has 4096 bytes, and had 8192"));
}
