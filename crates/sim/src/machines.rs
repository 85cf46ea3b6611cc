//! The machines' side of a site: what they are plugged into, what is on their disks, and which parts they are made of.

use std::sync::{Arc, PoisonError};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use world::{Call, HardwarePart, Identity, Setup, Swap, SwapRefusal};

use crate::errands::Way;
use crate::net::Net;
use crate::site::Site;

/// How many machines of a site talk to somebody at the same time. Each holds a socket, and more would not be faster.
const TALKING_MAX: usize = 64;

/// What the machines are plugged into.
#[derive(Debug, Default)]
pub(crate) struct Plug {
    net: Option<Arc<dyn Net>>,
    pxe: Option<String>,
}

/// The errands of machines that are under way.
pub(crate) struct Errands {
    tasks: JoinSet<()>,
    places: Arc<Semaphore>,
}

impl Errands {
    pub fn new() -> Errands {
        Errands { tasks: JoinSet::new(), places: Arc::new(Semaphore::new(TALKING_MAX)) }
    }

    /// Sends the machines that want to ask something, once what they know is saved.
    pub fn start(&mut self, site: &Site) {
        for Call { machine, number, errand } in site.change(|world, _| world.take_errands()) {
            let (site, places) = (site.clone(), self.places.clone());
            self.tasks.spawn(async move {
                // The semaphore is never closed.
                let _place = places.acquire_owned().await;
                let outcome = site.way(machine).run(errand).await;
                let name = &site.layout().machines()[machine].name;
                tracing::debug!(machine = name, ?outcome, "a simulated machine got an answer");
                site.change(|world, now| world.finish_errand(machine, number, outcome, now));
            });
        }
    }

    /// Waits until one has ended; for ever if none is under way.
    pub async fn ended(&mut self) {
        if self.tasks.join_next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until all have ended.
    pub async fn all_ended(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Why parts were not exchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SwapRefused {
    #[error("there is no machine `{asked}` in the site")]
    UnknownMachine { asked: String },
    #[error("{0}")]
    Swap(#[from] SwapRefusal),
    #[error("{0}")]
    Malformed(String),
    /// It was done, and may be lost when the simulator stops.
    #[error("the simulated site's state cannot be stored")]
    NotSaved,
}

/// An account of a BMC, but for its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAccount {
    pub user: String,
    pub role: &'static str,
    pub keys: Vec<String>,
}

impl Site {
    /// Plugs the machines into a network. Without one they reach nobody, and start from their disks.
    pub fn plug(&self, net: Arc<dyn Net>) {
        self.inner.plug.lock().unwrap_or_else(PoisonError::into_inner).net = Some(net);
    }

    /// Plugs the machines into a network unless they are plugged into one.
    pub(crate) fn plug_if_loose(&self, net: impl FnOnce() -> Arc<dyn Net>) {
        self.inner.plug.lock().unwrap_or_else(PoisonError::into_inner).net.get_or_insert_with(net);
    }

    /// Who answers machines that start over PXE: the base of the URL, without a path.
    pub fn set_pxe_server(&self, url: impl Into<String>) {
        self.inner.plug.lock().unwrap_or_else(PoisonError::into_inner).pxe = Some(url.into());
    }

    fn way(&self, machine: usize) -> Way {
        let boot_mac = self.look(|world| world.identity(machine).boot_mac);
        let plug = self.inner.plug.lock().unwrap_or_else(PoisonError::into_inner);
        Way { net: plug.net.clone(), pxe: plug.pxe.clone(), boot_mac }
    }

    /// What is on a machine's volumes: their names, and what tells their contents apart. The witness of what a wipe spared.
    pub fn volumes(&self, machine: &str) -> Option<Vec<(String, String)>> {
        let index = self.layout().index_of(machine)?;
        Some(self.look(|world| world.volume_digests(index)))
    }

    /// Who may log in to a machine's BMC, in the order of their slots.
    pub fn accounts(&self, machine: &str) -> Option<Vec<KnownAccount>> {
        let index = self.layout().index_of(machine)?;
        let known = |account: &world::Account| KnownAccount {
            user: account.user.clone(),
            role: account.role.as_str(),
            keys: account.keys.iter().map(|key| key.text.clone()).collect(),
        };
        Some(self.look(|world| world.hardware(index).accounts.iter().map(known).collect()))
    }

    /// Why a machine's operating system has not joined the cluster, if it tried and was turned away.
    pub fn turned_away(&self, machine: &str) -> Option<String> {
        let index = self.layout().index_of(machine)?;
        self.look(|world| match &world.hardware(index).volumes.system()?.setup {
            Setup::Outside { why } => Some(why.clone()),
            _ => None,
        })
    }

    /// Who a machine is now: its parts may have been exchanged.
    pub fn identity(&self, machine: &str) -> Option<Identity> {
        let index = self.layout().index_of(machine)?;
        Some(self.look(|world| world.identity(index)))
    }

    /// Exchanges parts of a machine, whose power is cut for it.
    pub async fn swap(&self, machine: &str, swap: &Swap) -> Result<Identity, SwapRefused> {
        let unknown = || SwapRefused::UnknownMachine { asked: machine.to_owned() };
        let index = self.layout().index_of(machine).ok_or_else(unknown)?;
        let identity = self.change(|world, now| world.swap(index, swap, now))?;
        self.settle().await.map_err(|_| SwapRefused::NotSaved)?;
        Ok(identity)
    }
}

/// Reads `MACHINE [part=NAME,…] [serial=…] [bmc-mac=…] [boot-mac=…] [bmc-password=…]`.
pub fn parse_swap(phrase: &str) -> Result<(String, Swap), SwapRefused> {
    let malformed = |why: String| SwapRefused::Malformed(why);
    let mut words = phrase.split_whitespace();
    let form = "`MACHINE [part=NAME,…] [serial=…] [bmc-mac=…] [boot-mac=…] [bmc-password=…]`";
    let machine = words.next().ok_or_else(|| malformed(format!("an exchange is {form}")))?;
    let mut swap = Swap::default();
    for word in words {
        let (name, value) =
            word.split_once('=').ok_or_else(|| malformed(format!("`{word}` is not `NAME=VALUE`; an exchange is {form}")))?;
        let text = Some(value.to_owned());
        match name {
            "part" => swap.parts = value.split(',').map(parse_part).collect::<Result<_, _>>()?,
            "serial" => swap.serial_number = text,
            "bmc-mac" => swap.bmc_mac = text,
            "boot-mac" => swap.boot_mac = text,
            "bmc-password" => swap.bmc_password = text,
            _ => return Err(malformed(format!("`{name}` cannot be exchanged; an exchange is {form}"))),
        }
    }
    Ok((machine.to_owned(), swap))
}

fn parse_part(name: &str) -> Result<HardwarePart, SwapRefused> {
    let known = HardwarePart::ALL.map(HardwarePart::as_str).join(", ");
    name.parse().map_err(|()| SwapRefused::Malformed(format!("there is no part `{name}`; there are {known}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_is_a_machine_and_what_is_new_about_it() {
        let (machine, swap) = parse_swap("rack1compute01 part=system-board,drives serial=ABC123 bmc-mac=02:00:00:00:00:01").unwrap();
        assert_eq!((machine.as_str(), swap.parts.len(), swap.serial_number.as_deref()), ("rack1compute01", 2, Some("ABC123")));
        assert_eq!(swap.bmc_mac.as_deref(), Some("02:00:00:00:00:01"));
        let refused = |phrase: &str| parse_swap(phrase).unwrap_err().to_string();
        assert!(refused("").starts_with("an exchange is"));
        assert_eq!(refused("m part=fan"), "there is no part `fan`; there are system-board, nic, drives, memory, machine");
        assert!(refused("m colour=red").starts_with("`colour` cannot be exchanged"));
        assert!(refused("m red").starts_with("`red` is not `NAME=VALUE`"));
    }
}
