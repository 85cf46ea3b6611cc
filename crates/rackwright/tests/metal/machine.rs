//! An emulated machine: a tenant's disk and one for the operating system, a network port, a console that is written to a file, a screen that
//! nobody looks at, without which no BIOS starts anything, and a BMC that speaks Redfish.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::hall::{give_away, hall};
use crate::server::{text, until};

const MIB: u64 = 1024 * 1024;

/// Larger than the image, and full of what was there before as far as the image goes.
const OS_DISK_BYTES: u64 = 256 * MIB;
const OLD_BYTES: u64 = 48 * MIB;
const TENANT_DISK_BYTES: u64 = 24 * MIB;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firmware {
    Uefi,
    Bios,
}

impl Firmware {
    /// As an agent tells it.
    pub fn in_words(self) -> &'static str {
        match self {
            Firmware::Uefi => "uefi",
            Firmware::Bios => "bios",
        }
    }
}

/// What a test wants of its machine.
pub struct Wanted {
    pub name: &'static str,
    pub firmware: Firmware,
    /// The serial numbers of the tenant's disk and of the system's.
    pub serials: [&'static str; 2],
    /// What its clock says when it is switched on, in seconds since 1970; nothing for the right time.
    pub clock: Option<i64>,
}

pub struct Machine {
    pub name: &'static str,
    pub firmware: Firmware,
    pub bmc_port: u16,
    pub mac: String,
    folder: PathBuf,
    tenant_digest: String,
    sushy: Child,
}

impl Machine {
    pub fn make(wanted: &Wanted) -> Machine {
        let folder = hall().folder.join("machines").join(wanted.name);
        fs::create_dir_all(folder.join("bmc")).expect("the hall is ours");
        for writable in [&folder, &folder.join("bmc")] {
            open_to_all(writable);
        }
        fill(&folder.join("tenant.img"), TENANT_DISK_BYTES, TENANT_DISK_BYTES);
        fill(&folder.join("os.img"), OS_DISK_BYTES, OLD_BYTES);
        let uuid = Uuid::new_v4();
        let mac = format!("52:54:00:{:02x}:{:02x}:{:02x}", uuid.as_bytes()[0], uuid.as_bytes()[1], uuid.as_bytes()[2]);
        let description = folder.join("machine.xml");
        fs::write(&description, describe(wanted, &uuid, &mac, &folder)).expect("the hall is ours");
        hall().virsh_must(&["define", path_text(&description)]);
        let bmc_port = free_port();
        let sushy = start_bmc(&folder, &uuid, bmc_port);
        let tenant_digest = digest(&folder.join("tenant.img"));
        let machine = Machine { name: wanted.name, firmware: wanted.firmware, bmc_port, mac, folder, tenant_digest, sushy };
        until("the BMC", || TcpStream::connect(("127.0.0.1", bmc_port)).ok());
        machine
    }

    pub fn tenant_is_untouched(&self) -> bool {
        digest(&self.folder.join("tenant.img")) == self.tenant_digest
    }

    pub fn os_disk(&self) -> PathBuf {
        self.folder.join("os.img")
    }

    pub fn console(&self) -> String {
        text(&fs::read(self.folder.join("console.log")).unwrap_or_default())
    }

    /// Pulls the plug.
    pub fn cut_power(&self) {
        hall().virsh_must(&["destroy", self.name]);
    }

    /// Presses the reset button.
    pub fn reset(&self) {
        hall().virsh_must(&["reset", self.name]);
    }

    pub fn is_on(&self) -> bool {
        hall().virsh_must(&["domstate", self.name]).trim() == "running"
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.sushy.kill();
        let _ = self.sushy.wait();
        let _ = hall().virsh(&["destroy", self.name]);
        let _ = hall().virsh(&["undefine", self.name, "--nvram"]);
        if std::thread::panicking() {
            eprintln!("── console of {}\n{}\n── BMC of {}\n{}", self.name, tail(&self.console()), self.name, tail(&self.bmc_log()));
        }
    }
}

impl Machine {
    /// What its BMC was asked to do, and what went wrong there.
    fn bmc_log(&self) -> String {
        let log = text(&fs::read(self.folder.join("bmc.log")).unwrap_or_default());
        log.lines().filter(|line| !line.contains("\"GET ") && !line.contains("Storage volume not found")).collect::<Vec<_>>().join("\n")
    }
}

/// The last lines of a long text.
pub fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}

/// A port that nobody has just now. Whoever takes it before it is used makes the test fail, and say so.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("loopback has free ports").port()
}

fn path_text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

fn open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).expect("the hall is ours");
}

/// A disk whose first bytes are noise, as on a disk that was used before.
fn fill(file: &Path, bytes: u64, noisy: u64) {
    let mut noise = fs::File::open("/dev/urandom").expect("the system has noise").take(noisy);
    let mut disk = fs::File::create(file).expect("the hall is ours");
    std::io::copy(&mut noise, &mut disk).expect("the disk has room");
    disk.set_len(bytes).expect("the disk has room");
    // No firmware starts from noise that ends like a boot sector.
    disk.seek(SeekFrom::Start(510)).and_then(|_| disk.write_all(&[0, 0])).expect("the disk can be written");
    give_away(file);
}

pub fn digest(file: &Path) -> String {
    let mut hasher = Sha256::new();
    let mut disk = fs::File::open(file).expect("the file is there");
    let mut buffer = vec![0; 1 << 20];
    while let count @ 1.. = disk.read(&mut buffer).expect("the file can be read") {
        hasher.update(&buffer[..count]);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn describe(wanted: &Wanted, uuid: &Uuid, mac: &str, folder: &Path) -> String {
    let firmware = match wanted.firmware {
        Firmware::Bios => "<loader type='rom'>/usr/share/seabios/bios-256k.bin</loader>".to_owned(),
        Firmware::Uefi => format!(
            "<loader readonly='yes' secure='no' type='pflash'>/usr/share/OVMF/OVMF_CODE_4M.fd</loader>\
             <nvram template='/usr/share/OVMF/OVMF_VARS_4M.fd'>{}</nvram>",
            folder.join("nvram.fd").display()
        ),
    };
    let clock = wanted.clock.map_or("offset='utc'".to_owned(), |seconds| format!("offset='absolute' start='{seconds}'"));
    let disk = |file: &str, target: &str, serial: &str| {
        format!(
            "<disk type='file' device='disk'><driver name='qemu' type='raw' cache='unsafe' discard='unmap'/>\
             <source file='{}'/><target dev='{target}' bus='virtio'/><serial>{serial}</serial></disk>",
            folder.join(file).display()
        )
    };
    let (tenant, os) = wanted.serials.into();
    // An emulated BIOS starts from the first disk or from none. Elsewhere the first is the tenant's, so that no agent can be right by chance.
    let disks = match wanted.firmware {
        Firmware::Uefi => disk("tenant.img", "vda", tenant) + &disk("os.img", "vdb", os),
        Firmware::Bios => disk("os.img", "vda", os) + &disk("tenant.img", "vdb", tenant),
    };
    format!(
        "<domain type='qemu'><name>{name}</name><uuid>{uuid}</uuid><memory unit='MiB'>512</memory><vcpu>1</vcpu>\
         <os><type arch='x86_64' machine='pc'>hvm</type>{firmware}<boot dev='hd'/></os><features><acpi/></features><clock {clock}/>\
         <devices>{disks}\
         <interface type='user'><mac address='{mac}'/><model type='virtio'/></interface>\
         <serial type='file'><source path='{console}' append='on'/></serial>\
         <video><model type='vga'/></video><rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>\
         </devices></domain>",
        name = wanted.name,
        console = folder.join("console.log").display(),
    )
}

fn start_bmc(folder: &Path, uuid: &Uuid, port: u16) -> Child {
    let settings = format!(
        "SUSHY_EMULATOR_LIBVIRT_URI = '{uri}'\n\
         SUSHY_EMULATOR_ALLOWED_INSTANCES = ['{uuid}']\n\
         SUSHY_EMULATOR_STATE_DIR = '{state}'\n\
         SUSHY_EMULATOR_BOOT_LOADER_MAP = {{'UEFI': {{'x86_64': '/usr/share/OVMF/OVMF_CODE_4M.fd'}}, 'Legacy': {{'x86_64': None}}}}\n\
         SUSHY_EMULATOR_SECURE_BOOT_DISABLED_NVRAM = '/usr/share/OVMF/OVMF_VARS_4M.fd'\n",
        uri = hall().libvirt_uri(),
        state = folder.join("bmc").display(),
    );
    let config = folder.join("bmc.conf");
    fs::write(&config, settings).expect("the hall is ours");
    let log = fs::File::create(folder.join("bmc.log")).expect("the hall is ours");
    Command::new(hall().venv.join("bin/sushy-emulator"))
        .args(["-i", "127.0.0.1", "-p", &port.to_string(), "--config", path_text(&config)])
        .env("TMPDIR", hall().folder.join("tmp"))
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a file"))
        .stderr(log)
        .spawn()
        .expect("sushy-emulator starts")
}
