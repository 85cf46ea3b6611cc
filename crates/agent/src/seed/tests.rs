//! What is written is judged by tools that others wrote: sgdisk, mtools and blkid.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use crate::inventory::{DiskFacts, DiskKind};

const MIB: u64 = 1 << 20;

struct Bench {
    root: tempfile::TempDir,
    block_bytes: u64,
}

impl Bench {
    fn new(bytes: u64) -> Bench {
        let bench = Bench { root: tempfile::tempdir().unwrap(), block_bytes: 512 };
        fs::create_dir(bench.root.path().join("dev")).unwrap();
        fs::File::create(bench.file()).unwrap().set_len(bytes).unwrap();
        bench
    }

    fn file(&self) -> PathBuf {
        self.root.path().join("dev/sda")
    }

    fn disk(&self) -> Disk {
        let facts = DiskFacts {
            name: "sda".to_owned(),
            serial: None,
            wwn: None,
            model: None,
            bytes: fs::metadata(self.file()).unwrap().len(),
            kind: DiskKind::Ssd,
            read_only: false,
            removable: false,
            block_bytes: self.block_bytes,
            device: None,
        };
        Disk::open(self.root.path(), &facts).unwrap()
    }

    fn sgdisk(&self, words: &[&str]) -> String {
        run("/sbin/sgdisk", words, &self.file())
    }

    /// An image that was made for a disk of this size and copied to a larger one.
    fn grow(&self, bytes: u64) {
        fs::OpenOptions::new().write(true).open(self.file()).unwrap().set_len(bytes).unwrap();
    }

    /// What a file in the filesystem at this place of the disk has in it.
    fn typed(&self, at: u64, name: &str) -> String {
        run("mtype", &["-i", &format!("{}@@{at}", self.file().display())], Path::new(&format!("::{name}")))
    }

    fn blkid(&self, at: u64) -> String {
        run("/sbin/blkid", &["-p", "-o", "export", "-O", &at.to_string()], &self.file())
    }
}

fn run(tool: &str, words: &[&str], on: &Path) -> String {
    let out = Command::new(tool).args(words).arg(on).output().unwrap_or_else(|error| panic!("{tool} cannot be run: {error}"));
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{tool} {words:?}: {said}{}", String::from_utf8_lossy(&out.stderr));
    said
}

fn seed() -> Seed {
    Seed { user_data: "#cloud-config\n".repeat(3_000), meta_data: "instance-id: one\n".to_owned() }
}

fn trouble(stop: Result<(), Stop>) -> Trouble {
    match stop {
        Err(Stop::Failed(failure)) => failure.trouble,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_partition_is_added_behind_all_others_and_the_table_fits_the_larger_disk() {
    let bench = Bench::new(8 * MIB);
    bench.sgdisk(&["--new=1:2048:+2M", "--change-name=1:root", "--new=14:6144:+1M", "--typecode=14:ef02", "--attributes=1:set:2"]);
    let before = bench.sgdisk(&["--info=1"]);
    bench.grow(64 * MIB);
    write_seed(&bench.disk(), &seed()).unwrap();
    let said = bench.sgdisk(&["--verify"]);
    assert!(said.contains("No problems found"), "{said}");
    assert_eq!(bench.sgdisk(&["--info=1"]), before);
    let said = bench.sgdisk(&["--info=2"]);
    assert!(said.contains("Partition name: 'cidata'") && said.contains("8192 sectors (4.0 MiB)"), "{said}");
    let at = 59 * MIB;
    assert!(said.contains(&format!("First sector: {}", at / 512)), "{said}");
    assert_eq!(bench.typed(at, "user-data"), seed().user_data);
    assert_eq!(bench.typed(at, "meta-data"), seed().meta_data);
    let said = bench.blkid(at);
    assert!(said.contains("\nLABEL=CIDATA\n") && said.contains("\nTYPE=vfat\n"), "{said}");
    run("minfo", &["-i", &format!("{}@@{at}", bench.file().display())], Path::new("::"));
}

#[test]
fn a_partition_of_the_image_is_used_and_the_table_left_as_it_is() {
    for (name, mib) in [("cidata", 1), ("CIDATA", 30), ("CiData", 200)] {
        let bench = Bench::new(256 * MIB);
        bench.sgdisk(&["--new=1:2048:+1M", &format!("--new=2:8192:+{mib}M"), &format!("--change-name=2:{name}")]);
        let table = fs::read(bench.file()).unwrap()[..34 * 512].to_vec();
        write_seed(&bench.disk(), &seed()).unwrap();
        assert!(fs::read(bench.file()).unwrap()[..34 * 512] == table, "{name}");
        assert_eq!(bench.typed(8192 * 512, "user-data"), seed().user_data);
        assert!(bench.blkid(8192 * 512).contains("\nLABEL=CIDATA\n"));
    }
}

type Prepare = fn(&Bench);

#[test]
fn an_image_without_a_place_is_not_changed() {
    let cases: [(&str, Prepare, Trouble); 5] = [
        ("nothing", |_| {}, Trouble::Unconfigurable),
        (
            "a damaged table",
            |bench| {
                bench.sgdisk(&["--new=1:2048:+1M"]);
                bench.disk().write(512 + 40, &[0xff]).unwrap();
            },
            Trouble::Unconfigurable,
        ),
        (
            "damaged entries",
            |bench| {
                bench.sgdisk(&["--new=1:2048:+1M"]);
                bench.disk().write(1024 + 33, &[0xff]).unwrap();
            },
            Trouble::Unconfigurable,
        ),
        ("a full disk", |bench| drop(bench.sgdisk(&["--new=1:2048:+5M"])), Trouble::DiskTooSmall),
        ("a partition too small", |bench| drop(bench.sgdisk(&["--new=1:2048:+20K", "--change-name=1:cidata"])), Trouble::Unconfigurable),
    ];
    for (what, prepare, expected) in cases {
        let bench = Bench::new(8 * MIB);
        prepare(&bench);
        let before = fs::read(bench.file()).unwrap();
        assert_eq!(trouble(write_seed(&bench.disk(), &seed())), expected, "{what}");
        assert!(fs::read(bench.file()).unwrap() == before, "{what}");
    }
}

#[test]
fn a_table_without_a_free_entry_is_not_changed() {
    let bench = Bench::new(64 * MIB);
    let mut words: Vec<String> = vec!["--set-alignment=1".to_owned()];
    words.extend((1..=128).map(|number| format!("--new={number}:{}:+1K", 2048 + 4 * number)));
    bench.sgdisk(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let before = fs::read(bench.file()).unwrap();
    assert_eq!(trouble(write_seed(&bench.disk(), &seed())), Trouble::Unconfigurable);
    assert!(fs::read(bench.file()).unwrap() == before);
}

#[test]
fn old_data_in_the_partition_is_not_mistaken_for_it() {
    let bench = Bench::new(8 * MIB);
    bench.sgdisk(&["--new=1:2048:+4M", "--change-name=1:cidata"]);
    bench.disk().write(MIB, &vec![0xee; 4 << 20]).unwrap();
    write_seed(&bench.disk(), &seed()).unwrap();
    let partition = bench.disk().read(MIB, 4 << 20).unwrap();
    assert!(!partition[512..].contains(&0xee));
    assert_eq!(bench.typed(MIB, "meta-data"), seed().meta_data);
}

#[test]
fn large_blocks_have_a_filesystem_too() {
    let files: [(&str, &[u8]); 2] = [("user-data", &[b'x'; 9_000]), ("meta-data", b"")];
    for block in [512, 4_096] {
        let bench = Bench::new(4 * MIB);
        bench.disk().write(0, &fat::format(4 * MIB, block, &files).unwrap()).unwrap();
        assert_eq!(bench.typed(0, "user-data").len(), 9_000, "{block}");
        assert_eq!(bench.typed(0, "meta-data"), "", "{block}");
        assert!(bench.blkid(0).contains("\nLABEL=CIDATA\n"), "{block}");
    }
}

#[test]
fn files_that_do_not_fit_make_no_filesystem() {
    assert!(fat::format(64 * 1024, 512, &[("user-data", &[1; 30_000])]).is_some());
    assert!(fat::format(64 * 1024, 512, &[("user-data", &[1; 65_000])]).is_none());
    assert!(fat::format(4_096, 512, &[]).is_none());
    assert!(fat::format(4 * MIB, 512, &[("user-data", &[1; 3 << 20])]).is_none());
}
