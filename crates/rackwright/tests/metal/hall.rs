//! Where the emulated machines stand: libvirt without privileges, in a folder of its own, and what is installed on them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::server::{text, until};

/// Who the emulators run as when the tests run as root: QEMU has no business with what root may do.
const NOBODY: &str = "nobody";

/// Seconds without a machine after which libvirt ends by itself. It is shared by all tests, and so ended by none.
const IDLE_SECONDS: u32 = 20;

/// What the names of the tests' folders begin with.
const FOLDERS: &str = "rackwright-metal-";

/// What the machines get, as files.
pub struct Images {
    pub os: PathBuf,
    pub packed_os: PathBuf,
    pub agent: PathBuf,
}

pub struct Hall {
    pub folder: PathBuf,
    /// The Python environment with sushy-emulator.
    pub venv: PathBuf,
    pub images: Images,
}

/// The hall of this run of the tests.
pub fn hall() -> &'static Hall {
    static HALL: OnceLock<Hall> = OnceLock::new();
    HALL.get_or_init(Hall::open)
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// Runs a script of the repository, and gives back what it printed.
fn tool(path: &str) -> String {
    let output = Command::new(repository(path)).stderr(Stdio::inherit()).output().expect("the script runs");
    assert!(output.status.success(), "{path} failed");
    text(&output.stdout)
}

impl Hall {
    fn open() -> Hall {
        let venv = PathBuf::from(tool("tools/metal").trim());
        tool("tools/tiny-os");
        tool("tools/agent-image");
        let images = Images {
            os: repository("target/tiny-os/os.img"),
            packed_os: repository("target/tiny-os/os.img.zst"),
            agent: repository("target/agent-image/agent.iso"),
        };
        let hall = Hall { folder: make_folder(), venv, images };
        hall.start_libvirt();
        hall
    }

    /// A command of libvirt, as a user without privileges whose home is the hall.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(if is_root() { "runuser" } else { program });
        if is_root() {
            command.args(["-u", NOBODY, "--", program]);
        }
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", &self.folder).current_dir(&self.folder);
        let places = ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "TMPDIR"];
        command.envs(places.into_iter().zip(["config", "cache", "data", "run", "tmp"].map(|below| self.folder.join(below))));
        command
    }

    #[expect(clippy::zombie_processes, reason = "it outlives the tests, and ends by itself")]
    fn start_libvirt(&self) {
        let settings = "security_driver = \"none\"\nstdio_handler = \"file\"\nremember_owner = 0\n";
        fs::write(self.folder.join("config/libvirt/qemu.conf"), settings).expect("the hall is ours");
        let log = fs::File::create(self.folder.join("libvirtd.log")).expect("the hall is ours");
        self.command("/usr/sbin/libvirtd")
            .args(["--timeout", &IDLE_SECONDS.to_string()])
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file"))
            .stderr(log)
            .spawn()
            .expect("libvirtd starts");
        until("libvirt", || self.virsh(&["version"]).status.success().then_some(()));
        let pool =
            format!("<pool type='dir'><name>default</name><target><path>{}</path></target></pool>", self.folder.join("pool").display());
        let file = self.folder.join("pool.xml");
        fs::write(&file, pool).expect("the hall is ours");
        self.virsh_must(&["pool-create", file.to_str().expect("the path is text")]);
    }

    /// Where libvirt is asked.
    pub fn libvirt_uri(&self) -> String {
        format!("qemu+unix:///session?socket={}", self.folder.join("run/libvirt/libvirt-sock").display())
    }

    pub fn virsh(&self, arguments: &[&str]) -> Output {
        self.command("/usr/bin/virsh").args(["-c", &self.libvirt_uri()]).args(arguments).output().expect("virsh runs")
    }

    #[track_caller]
    pub fn virsh_must(&self, arguments: &[&str]) -> String {
        let output = self.virsh(arguments);
        assert!(output.status.success(), "virsh {arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }
}

/// A folder that the emulators' user may use. It is left behind, with the consoles and logs of the machines, until the next run.
fn make_folder() -> PathBuf {
    // Sockets have short names, and the way to the repository may be long. Each run has its own: the libvirt of the run before may still be
    // there, and takes its socket with it when it ends.
    let temporary = std::env::temp_dir();
    let is_ours = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(FOLDERS);
    for old in fs::read_dir(&temporary).into_iter().flatten().flatten().filter(is_ours) {
        let _ = fs::remove_dir_all(old.path());
    }
    let folder = temporary.join(format!("{FOLDERS}{}", std::process::id()));
    for below in ["config/libvirt", "cache", "data", "run/libvirt", "tmp", "pool", "machines"] {
        fs::create_dir_all(folder.join(below)).expect("a folder can be made");
    }
    if is_root() {
        let owned = Command::new("chown").args(["-R", NOBODY]).arg(&folder).status().expect("chown is there");
        assert!(owned.success());
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("the folder is ours");
    folder
}

/// Lets the emulators' user write a file that a test has made.
pub fn give_away(file: &Path) {
    fs::set_permissions(file, fs::Permissions::from_mode(0o666)).expect("the file is ours");
}
