//! What somebody changed about a machine's parts since it was delivered: new boards, cards and drives.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::accounts::{Accounts, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN};
use super::inventory::Inventory;
use crate::layout::MachineSpec;
use crate::machine::ResetType;
use crate::random::Random;
use crate::site::World;
use crate::time::Instant;

/// The longest serial number that a maker prints.
pub const SERIAL_NUMBER_LENGTH_MAX: usize = 64;

/// A part that a technician exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// With the BMC on it: new serial number, UUID and MAC address of the BMC.
    SystemBoard,
    /// New MAC addresses of the machine's ports.
    Nic,
    /// All drives. Whatever was on them is gone, and so are the volumes.
    Drives,
    Memory,
    /// Everything: another machine in the same slot.
    Machine,
}

impl Part {
    pub const ALL: [Part; 5] = [Part::SystemBoard, Part::Nic, Part::Drives, Part::Memory, Part::Machine];

    pub fn as_str(self) -> &'static str {
        match self {
            Part::SystemBoard => "system-board",
            Part::Nic => "nic",
            Part::Drives => "drives",
            Part::Memory => "memory",
            Part::Machine => "machine",
        }
    }

    fn is_or_has(self, part: Part) -> bool {
        self == part || self == Part::Machine
    }
}

impl FromStr for Part {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        Part::ALL.into_iter().find(|part| part.as_str() == text).ok_or(())
    }
}

/// An exchange of parts. What a new part is called is drawn if nobody says.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Swap {
    pub parts: Vec<Part>,
    pub serial_number: Option<String>,
    pub bmc_mac: Option<String>,
    pub boot_mac: Option<String>,
    /// Of the account that the BMC comes with; the old one stays if nobody says.
    pub bmc_password: Option<String>,
}

/// Debug output ends up in logs; a password does not belong there.
impl fmt::Debug for Swap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Swap { parts, serial_number, bmc_mac, boot_mac, .. } = self;
        write!(f, "Swap({parts:?} {serial_number:?} {bmc_mac:?} {boot_mac:?})")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwapRefusal {
    Nothing,
    SerialNumber,
    Mac { field: &'static str },
    Password,
}

impl fmt::Display for SwapRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwapRefusal::Nothing => f.write_str("nothing is exchanged: name a part, a serial number, a MAC address or a password"),
            SwapRefusal::SerialNumber => write!(f, "a serial number has 1 to {SERIAL_NUMBER_LENGTH_MAX} letters, digits and hyphens"),
            SwapRefusal::Mac { field } => {
                write!(f, "`{field}` is six pairs of hexadecimal digits with colons between, as in 02:00:00:00:00:01")
            }
            SwapRefusal::Password => write!(f, "a password has {PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX} characters"),
        }
    }
}

impl std::error::Error for SwapRefusal {}

impl Swap {
    fn check(&self) -> Result<(), SwapRefusal> {
        if *self == Swap::default() {
            return Err(SwapRefusal::Nothing);
        }
        let is_serial = |text: &String| {
            let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            (1..=SERIAL_NUMBER_LENGTH_MAX).contains(&text.len()) && is_plain
        };
        if self.serial_number.as_ref().is_some_and(|serial| !is_serial(serial)) {
            return Err(SwapRefusal::SerialNumber);
        }
        for (field, mac) in [("bmc-mac", &self.bmc_mac), ("boot-mac", &self.boot_mac)] {
            if mac.as_ref().is_some_and(|mac| !is_mac(mac)) {
                return Err(SwapRefusal::Mac { field });
            }
        }
        let is_password = |text: &String| (PASSWORD_LENGTH_MIN..=PASSWORD_LENGTH_MAX).contains(&text.len());
        if self.bmc_password.as_ref().is_some_and(|password| !is_password(password)) { Err(SwapRefusal::Password) } else { Ok(()) }
    }

    fn has(&self, wanted: Part) -> bool {
        self.parts.iter().any(|part| part.is_or_has(wanted))
    }
}

fn is_mac(text: &str) -> bool {
    let pairs: Vec<&str> = text.split(':').collect();
    pairs.len() == 6 && pairs.iter().all(|pair| pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// What is different about a machine since it was delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    serial_number: Option<String>,
    uuid: Option<String>,
    bmc_mac: Option<String>,
    boot_mac: Option<String>,
    /// How often each part was exchanged: a new one has new numbers of its own.
    exchanged: BTreeMap<Part, u32>,
}

/// What a machine's BMC tells of who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub serial_number: String,
    pub uuid: String,
    pub bmc_mac: String,
    pub boot_mac: String,
}

impl Parts {
    pub(crate) fn identity(&self, spec: &MachineSpec) -> Identity {
        let now = |changed: &Option<String>, delivered: &String| changed.as_ref().unwrap_or(delivered).clone();
        Identity {
            serial_number: now(&self.serial_number, &spec.serial_number),
            uuid: now(&self.uuid, &spec.uuid),
            bmc_mac: now(&self.bmc_mac, &spec.bmc_mac),
            boot_mac: now(&self.boot_mac, &spec.boot_mac),
        }
    }

    /// The serial number and the UUID of another board than the one that was delivered.
    pub fn other_board(&self) -> (Option<&str>, Option<&str>) {
        (self.serial_number.as_deref(), self.uuid.as_deref())
    }

    fn times(&self, part: Part) -> u32 {
        self.exchanged.get(&part).copied().unwrap_or(0)
    }

    /// The inventory with new numbers on what is new.
    pub(crate) fn fit(&self, inventory: &mut Inventory, spec: &MachineSpec, site_seed: u64) {
        let fresh = |part| Inventory::of_exchange(spec, site_seed, part, self.times(part));
        if self.times(Part::Drives) > 0 {
            inventory.drives = fresh(Part::Drives).drives;
        }
        if self.times(Part::Memory) > 0 {
            inventory.dimms = fresh(Part::Memory).dimms;
        }
        inventory.set_boot_mac(&self.identity(spec).boot_mac);
    }

    fn note(&mut self, swap: &Swap, mut random: Random) {
        for part in Part::ALL {
            if swap.has(part) {
                *self.exchanged.entry(part).or_default() += 1;
            }
        }
        let serial = random.text(b"ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", 7);
        let mut mac = || {
            let [a, b, c, d, e, ..] = random.next_u64().to_be_bytes();
            format!("02:{a:02X}:{b:02X}:{c:02X}:{d:02X}:{e:02X}")
        };
        let (bmc_mac, boot_mac) = (mac(), mac());
        let uuid = random.uuid();
        let is_new_board = swap.has(Part::SystemBoard);
        let drawn = |is_new: bool, value: String| is_new.then_some(value);
        let set = |field: &mut Option<String>, said: &Option<String>, drawn: Option<String>| {
            if let Some(value) = said.clone().or(drawn) {
                *field = Some(value);
            }
        };
        set(&mut self.serial_number, &swap.serial_number, drawn(is_new_board, serial));
        set(&mut self.bmc_mac, &swap.bmc_mac, drawn(is_new_board, bmc_mac));
        set(&mut self.boot_mac, &swap.boot_mac, drawn(swap.has(Part::Nic), boot_mac));
        set(&mut self.uuid, &None, drawn(is_new_board, uuid));
    }
}

impl World {
    /// Who the machine's BMC says that it is.
    pub fn identity(&self, machine: usize) -> Identity {
        self.hardware(machine).parts.identity(self.spec(machine))
    }

    /// A technician exchanges parts: the power is cut at once and stays off, and a BMC with a new board has no sessions.
    pub fn swap(&mut self, machine: usize, swap: &Swap, now: Instant) -> Result<Identity, SwapRefusal> {
        self.advance(now);
        swap.check()?;
        self.pull_power(machine);
        let spec = self.spec(machine).clone();
        let count: u32 = self.hardware(machine).parts.exchanged.values().sum();
        let random = Random::new(self.layout.site_seed(), &format!("swap/{}/{count}", spec.name));
        let hardware = self.hardware_mut(machine);
        hardware.parts.note(swap, random);
        if swap.has(Part::Drives) {
            hardware.volumes.clear();
        }
        if let Some(password) = &swap.bmc_password {
            hardware.accounts = Accounts::factory(super::first_slot(spec.vendor), &spec.bmc_user, password);
        }
        if swap.has(Part::SystemBoard) {
            self.states[machine].bmc_restarts += 1;
        }
        self.unsaved.machines.insert(machine);
        Ok(self.identity(machine))
    }

    fn pull_power(&mut self, machine: usize) {
        let now = self.now;
        let before = self.states[machine].machine.clone();
        let (_, mut happenings) = self.with_machine(machine, |machine, around| machine.reset(ResetType::ForceOff, now, around));
        happenings.extend(self.with_machine(machine, |machine, around| machine.pull_plug(now, around)));
        self.note_transition(machine, &before, now);
        self.react(machine, &happenings, now);
        self.reschedule(machine);
    }
}
