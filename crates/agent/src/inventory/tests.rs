use super::*;

/// Makes files under `root`: a path and what is in it.
fn lay(root: &Path, files: &[(&str, &[u8])]) {
    for (path, content) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    lay(
        root.path(),
        &[
            ("sys/block/sda/size", b"2097152\n"),
            ("sys/block/sda/ro", b"0\n"),
            ("sys/block/sda/removable", b"0\n"),
            ("sys/block/sda/dev", b"8:0\n"),
            ("sys/block/sda/queue/rotational", b"1\n"),
            ("sys/block/sda/queue/logical_block_size", b"4096\n"),
            ("sys/block/sda/device/model", b"ST8000NM000A    \n"),
            ("sys/block/sda/device/vpd_pg80", b"\x00\x80\x00\x0c    ZA1B2C3D"),
            ("sys/block/sda/device/wwid", b"naa.5000c500a1b2c3d4\n"),
            ("sys/block/sdb/size", b"2048\n"),
            ("sys/block/sdb/device/vendor", b"QEMU    \n"),
            ("sys/block/sdb/device/wwid", b"t10.ATA     QEMU HARDDISK                           QM00001\n"),
            ("sys/block/sdb/ro", b"1\n"),
            ("sys/block/nvme0n1/size", b"4194304\n"),
            ("sys/block/nvme0n1/wwid", b"eui.0025388b710116a1\n"),
            ("sys/block/nvme0n1/device/serial", b"S4CLNE0M       \n"),
            ("sys/block/nvme0n1/device/model", b"SAMSUNG  MZVLB256\n"),
            ("sys/block/nvme0c0n1/hidden", b"1\n"),
            ("sys/block/nvme0c0n1/device/x", b""),
            ("sys/block/vda/serial", b"OS-1\n"),
            ("sys/block/vda/size", b"8\n"),
            ("sys/block/vda/device/x", b""),
            ("sys/block/sr0/device/x", b""),
            ("sys/block/loop0/size", b"8\n"),
            ("sys/class/net/lo/address", b"00:00:00:00:00:00\n"),
            ("sys/class/net/eth0/address", b"52:54:00:12:34:56\n"),
            ("sys/class/net/eth0/carrier", b"1\n"),
            ("sys/class/net/eth0/speed", b"25000\n"),
            ("sys/class/net/eth0/device/x", b""),
            ("sys/class/net/eth1/address", b"52:54:00:12:34:57\n"),
            ("sys/class/net/eth1/speed", b"-1\n"),
            ("sys/class/net/eth1/device/x", b""),
            ("sys/firmware/efi/x", b""),
            ("proc/meminfo", b"MemTotal:        2014568 kB\nMemFree: 1 kB\n"),
            (
                "proc/cpuinfo",
                b"processor\t: 0\nmodel name\t: Xeon\nphysical id\t: 0\ncore id\t: 0\n\nprocessor\t: 1\nmodel name\t: Xeon\nphysical id\t: 0\ncore id\t: 0\n\n\
                  processor\t: 2\nmodel name\t: Xeon\nphysical id\t: 1\ncore id\t: 0\n\n",
            ),
        ],
    );
    root
}

#[test]
fn a_machine_is_told_as_the_kernel_knows_it() {
    let root = machine();
    let told = serde_json::to_value(Inventory::observe(root.path())).unwrap();
    let expected = serde_json::json!({
        "disks": [
            {"name": "nvme0n1", "serial": "S4CLNE0M", "wwn": "0025388b710116a1", "model": "SAMSUNG MZVLB256", "bytes": 2_147_483_648_u64,
             "kind": "nvme", "readOnly": false, "removable": false},
            {"name": "sda", "serial": "ZA1B2C3D", "wwn": "5000c500a1b2c3d4", "model": "ST8000NM000A", "bytes": 1_073_741_824, "kind": "hdd",
             "readOnly": false, "removable": false},
            {"name": "sdb", "bytes": 1_048_576, "kind": "virtual", "readOnly": true, "removable": false},
            {"name": "vda", "serial": "OS-1", "bytes": 4_096, "kind": "virtual", "readOnly": false, "removable": false},
        ],
        "nics": [
            {"name": "eth0", "mac": "52:54:00:12:34:56", "link": true, "mbps": 25_000},
            {"name": "eth1", "mac": "52:54:00:12:34:57", "link": false},
        ],
        "memoryBytes": 2_062_917_632_u64,
        "cpus": {"model": "Xeon", "sockets": 2, "cores": 2, "threads": 3},
        "firmware": "uefi",
    });
    assert_eq!(told, expected);
}

#[test]
fn blocks_and_numbers_of_disks_are_known() {
    let root = machine();
    let disks = Inventory::observe(root.path()).disks;
    let known: Vec<(&str, u64, Option<&str>)> = disks.iter().map(|it| (it.name.as_str(), it.block_bytes, it.device.as_deref())).collect();
    assert_eq!(known, [("nvme0n1", 512, None), ("sda", 4_096, Some("8:0")), ("sdb", 512, None), ("vda", 512, None)]);
}

#[test]
fn a_machine_that_tells_nothing_is_told_as_nothing() {
    let root = tempfile::tempdir().unwrap();
    let told = serde_json::to_string(&Inventory::observe(root.path())).unwrap();
    assert_eq!(told, r#"{"disks":[],"nics":[],"cpus":{"sockets":0,"cores":0,"threads":0},"firmware":"bios"}"#);
}

#[test]
fn no_more_is_sent_than_is_taken() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..100 {
        lay(root.path(), &[(&format!("sys/block/sd{number}/device/model"), b"x")]);
    }
    let inventory = Inventory::observe(root.path());
    assert_eq!((inventory.disks.len(), inventory.for_sending().disks.len()), (100, 64));
}
