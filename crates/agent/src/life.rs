//! An agent's life, from the exchange to the last report: one thing after another, and whatever goes wrong ends it.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::choice::{Choice, choose_disks};
use crate::disk::Disk;
use crate::home::{Home, Refusal};
use crate::inventory::{DiskFacts, Inventory};
use crate::seed;
use crate::trouble::{Failure, Stop, Trouble};
use crate::wipe::wipe;
use crate::wire::{Grant, Report};
use crate::write::{Progress, disk_failed, install_image};

/// How an agent's life ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The system is on its disk, and the control plane knows.
    Written,
    /// It is not, and the control plane knows why.
    Failed(Failure),
    /// The control plane has ended the attempt.
    Over { status: u16 },
    /// The control plane does not want to hear of it.
    Refused { status: u16, words: String },
}

/// How long disks are waited for: controllers show theirs one after the other, long after the kernel has started.
#[derive(Clone, Copy, Debug)]
pub struct Settling {
    /// So long no disk has come or gone. A second disk of the same identity must not come too late to be seen.
    pub quiet: Duration,
    /// So long a disk that was named is waited for.
    pub timeout: Duration,
    pub looked_every: Duration,
}

impl Default for Settling {
    fn default() -> Settling {
        Settling { quiet: Duration::from_secs(2), timeout: Duration::from_secs(60), looked_every: Duration::from_millis(250) }
    }
}

/// The machine that is installed: its `/sys`, `/proc` and `/dev` are under `root`.
#[derive(Debug)]
pub struct Machine<'a> {
    root: &'a Path,
    settling: Settling,
    /// What it had when it was last looked at.
    inventory: Inventory,
    /// Since when its disks are the same.
    disks_since: Instant,
}

/// What an agent draws when it starts, so that an answer that was lost can be asked for again, and only by the same agent.
pub fn draw_nonce() -> std::io::Result<String> {
    let mut drawn = [0; 32];
    let mut filled = 0;
    while filled < drawn.len() {
        filled += rustix::rand::getrandom(&mut drawn[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(crate::download::hex(&drawn))
}

/// Installs the machine as the control plane says.
pub fn install(machine: &mut Machine<'_>, home: &mut Home, nonce: &str) -> Ending {
    let grant = match home.exchange(nonce) {
        Ok(grant) => grant,
        Err(refusal) => return refused(refusal),
    };
    home.log.say(format_args!("this machine is to be `{}`", grant.hostname));
    let ending = match act(machine, home, &grant) {
        Ok(read_back) => tell(home, &Report::Written { sha256: &read_back }, Ending::Written),
        Err(Stop::Over { status }) => Ending::Over { status },
        Err(Stop::Failed(failure)) => {
            home.log.say(&failure);
            let report = Report::Failed { trouble: failure.trouble, detail: &failure.detail };
            tell(home, &report, Ending::Failed(failure.clone()))
        }
    };
    home.log.say(format_args!("the end: {ending:?}"));
    ending
}

/// Tells the end, and the log before it, since nothing is heard after it.
fn tell(home: &Home, report: &Report<'_>, ending: Ending) -> Ending {
    if let Err(Stop::Over { status }) = send_log(home) {
        return Ending::Over { status };
    }
    match home.report(report) {
        Ok(()) => ending,
        Err(refusal) => refused(refusal),
    }
}

/// Everything between the exchange and the last report. Gives back the digest of what the disk gives back.
fn act(machine: &mut Machine<'_>, home: &Home, grant: &Grant) -> Result<String, Stop> {
    send_log(home)?;
    machine.settle(grant);
    let Machine { root, inventory, .. } = machine;
    for disk in &inventory.disks {
        home.log.say(format_args!("disk {disk}"));
    }
    heed(home, "inventory", home.send_inventory(&inventory.for_sending()))?;
    let choice = choose_disks(&inventory.disks, &grant.os_disk, grant.image.bytes, &grant.wipe)?;
    // Every disk is open before the first of them is touched.
    let open = |facts: &DiskFacts| Disk::open(root, facts).map_err(|error| disk_failed("opening", facts, &error));
    let os = open(choice.os)?;
    let wiped = choice.wipe.iter().map(|facts| open(facts)).collect::<Result<Vec<Disk>, Stop>>()?;
    check_again(root, &choice, grant)?;
    let mut progress = Progress::new(home);
    progress.tell_log();
    for (disk, facts) in wiped.iter().zip(&choice.wipe) {
        home.log.say(format_args!("wiping {facts}"));
        wipe(disk, &mut progress)?;
    }
    home.log.say(format_args!("writing {} bytes to {}", grant.image.bytes, choice.os));
    let read_back = install_image(home, &os, &grant.image, &mut progress)?;
    let seed = home.fetch_seed().map_err(without_seed)?;
    seed::write_seed(&os, &seed)?;
    home.log.say("the first-boot configuration is written");
    Ok(read_back)
}

/// Sees to it that the disks that are open are the ones that were chosen: they may have come and gone while the control plane was called, and
/// another one of the same size may have got the name. While they are open no name is given away.
fn check_again(root: &Path, choice: &Choice<'_>, grant: &Grant) -> Result<(), Stop> {
    let now = Inventory::observe(root);
    let again = choose_disks(&now.disks, &grant.os_disk, grant.image.bytes, &grant.wipe)?;
    if again != *choice {
        let detail = format!("the disks have changed since they were chosen: {} was meant, and now it would be {}", choice.os, again.os);
        return Err(Failure::new(Trouble::DiskFailed, detail).into());
    }
    Ok(())
}

impl<'a> Machine<'a> {
    /// Looks at the machine for the first time.
    pub fn observe(root: &'a Path, settling: Settling) -> Machine<'a> {
        Machine { root, settling, inventory: Inventory::observe(root), disks_since: Instant::now() }
    }

    /// Looks until no disk comes any more and what was named is there, or was waited for long enough.
    fn settle(&mut self, grant: &Grant) {
        let began_at = Instant::now();
        loop {
            let now = Inventory::observe(self.root);
            if now.disks != self.inventory.disks {
                self.disks_since = Instant::now();
            }
            self.inventory = now;
            let choice = choose_disks(&self.inventory.disks, &grant.os_disk, grant.image.bytes, &grant.wipe);
            let is_missing = choice.is_err_and(|failure| failure.trouble == Trouble::MissingDisk);
            let is_quiet = self.disks_since.elapsed() >= self.settling.quiet;
            if is_quiet && (!is_missing || began_at.elapsed() >= self.settling.timeout) {
                return;
            }
            std::thread::sleep(self.settling.looked_every);
        }
    }
}

fn send_log(home: &Home) -> Result<(), Stop> {
    heed(home, "log", home.send_log())
}

/// What is only told for people may be refused; that the attempt is over may not be overheard.
fn heed(home: &Home, what: &str, answer: Result<(), Refusal>) -> Result<(), Stop> {
    match answer {
        Ok(()) => Ok(()),
        Err(Refusal::Over { status }) => Err(Stop::Over { status }),
        Err(Refusal::Refused { status, words }) => {
            home.log.say(format_args!("{what}: refused with {status}: {words}"));
            Ok(())
        }
    }
}

fn without_seed(refusal: Refusal) -> Stop {
    match refusal {
        Refusal::Over { status } => Stop::Over { status },
        Refusal::Refused { status, words } => {
            Failure::new(Trouble::SeedFailed, format!("the first-boot configuration was refused with {status}: {words}")).into()
        }
    }
}

fn refused(refusal: Refusal) -> Ending {
    match refusal {
        Refusal::Over { status } => Ending::Over { status },
        Refusal::Refused { status, words } => Ending::Refused { status, words },
    }
}
