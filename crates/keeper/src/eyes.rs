//! What the keeper's eyes report, and how it enters the books. Facts only.

use std::collections::BTreeSet;
use std::sync::Arc;

use kubernetes::{NodeEvent, TenantsEvent};
use model::{Answer, ErrandOutcome, Fault, Found, LookAt, Looked, MachineName, NodeSeen, Power, Seen, TenantClusterName, Timestamp};
use plan::{Ear, ErrandStep, Step};
use redfish::Bmc;

use crate::books::Books;
use crate::run::EtcdLook;
use crate::run::Inquiry;
use crate::tenants::Inside;

/// Something seen or heard.
#[derive(Debug)]
pub(crate) enum Event {
    /// `looked_at` is when the look began: what was seen may be that old.
    Power {
        machine: MachineName,
        /// Which driver looked: the machine's BMC may have been replaced meanwhile.
        bmc: Bmc,
        looked_at: Timestamp,
        result: Result<Power, Fault>,
    },
    /// A look that a plan asked for.
    Looked(Inquiry),
    /// A look at the members of etcd.
    Etcd(EtcdLook),
    /// A BMC told of an event. What it tells of is seen by looking.
    Told {
        machine: MachineName,
    },
    /// A BMC's stream of events was not opened, or has ended.
    Ear {
        machine: MachineName,
        bmc: Bmc,
        ear: Ear,
    },
    Node(NodeEvent),
    Tenants(TenantsEvent),
    /// Something of a tenant cluster's own API, over the line of that number.
    Inside {
        cluster: TenantClusterName,
        line: u64,
        told: Inside,
    },
    ErrandAnswered {
        step: ErrandStep,
        result: Result<ErrandOutcome, Fault>,
    },
    Contact(Result<(), Fault>),
    Answered {
        step: Step,
        bmc: Option<Bmc>,
        result: Result<(), Fault>,
    },
}

/// What a look at a machine's BMC came to. The machine is visited for it if it is news, or something waits for a look.
pub fn note_power(books: &mut Books, machine: &MachineName, looked_at: Timestamp, result: Result<Power, Fault>, now: Timestamp) {
    let busy = books.snapshot.awaiting_look_at(machine).is_some();
    books.observe(machine, |observation| match result {
        Ok(power) => {
            let news = observation.bmc.fault.is_some() || observation.power.as_ref().is_none_or(|before| before.what != power);
            observation.bmc.answered(now);
            observation.power = Some(Seen { what: power, at: looked_at });
            news || busy
        }
        Err(fault) => {
            observation.bmc.failed(now, fault);
            true
        }
    });
}

/// What a look that was asked for came to. Whoever asked for it is visited in any case. Its failure also tells of the line.
pub(crate) fn note_look(
    books: &mut Books,
    machine: &MachineName,
    at: LookAt,
    began_at: Timestamp,
    found: Result<Found, Fault>,
    now: Timestamp,
) {
    books.observe(machine, |observation| {
        observation.looking.remove(&at);
        if let Some(fault) = found.as_ref().err().filter(|fault| plan::speaks_of_the_bmc(fault)) {
            observation.bmc.failed(now, fault.clone());
        }
        observation.looked.insert(at, Arc::new(Looked { began_at, ended_at: now, found }));
        true
    });
}

pub(crate) fn note_contact(books: &mut Books, result: Result<(), Fault>, now: Timestamp) {
    let was_silent = books.snapshot.undercloud.fault.is_some() || books.snapshot.undercloud.answered_at.is_none();
    match result {
        Ok(()) => books.snapshot.undercloud.answered(now),
        Err(fault) => books.snapshot.undercloud.failed(now, fault),
    }
    let is_silent = books.snapshot.undercloud.fault.is_some();
    if was_silent != is_silent {
        // What is known of every node has just become old, or new again.
        books.mark_all();
    } else if is_silent {
        books.stir();
        books.mark_running();
    }
}

pub(crate) fn note_node(books: &mut Books, event: NodeEvent, now: Timestamp) {
    match event {
        NodeEvent::Listed(nodes) => {
            note_contact(books, Ok(()), now);
            note_listing(books, nodes, now);
        }
        NodeEvent::Changed(node) => {
            note_contact(books, Ok(()), now);
            set_node(books, node, now);
        }
        NodeEvent::Gone { name } => {
            note_contact(books, Ok(()), now);
            if let Some(machine) = books.snapshot.nodes.remove(&name) {
                books.observe(&machine, |observation| {
                    observation.node = Some(Seen { what: None, at: now });
                    true
                });
            }
        }
        NodeEvent::Heard => note_contact(books, Ok(()), now),
        NodeEvent::Lost(fault) => note_contact(books, Err(fault), now),
    }
}

/// A listing speaks of every machine: those without a node in it have none.
fn note_listing(books: &mut Books, nodes: Vec<NodeSeen>, now: Timestamp) {
    books.snapshot.nodes.clear();
    let machines: Vec<MachineName> = books.snapshot.machines.keys().cloned().collect();
    let listed: BTreeSet<MachineName> = nodes.iter().filter_map(|node| MachineName::new(&node.machine).ok()).collect();
    for node in nodes {
        set_node(books, node, now);
    }
    for machine in machines {
        if !listed.contains(&machine) {
            books.observe(&machine, |observation| {
                let news = observation.node.as_ref().is_none_or(|seen| seen.what.is_some());
                observation.node = Some(Seen { what: None, at: now });
                news
            });
        }
    }
}

fn set_node(books: &mut Books, node: NodeSeen, now: Timestamp) {
    let Ok(machine) = MachineName::new(&node.machine) else { return };
    if !books.snapshot.machines.contains_key(&machine) {
        return;
    }
    if books.snapshot.nodes.get(&node.name) != Some(&machine) {
        books.snapshot.nodes.insert(node.name.clone(), machine.clone());
    }
    let busy = books.snapshot.running_on(&machine).is_some();
    books.observe(&machine, |observation| {
        let news = observation.node.as_ref().is_none_or(|seen| seen.what.as_ref() != Some(&node));
        observation.node = Some(Seen { what: Some(node), at: now });
        news || busy
    });
}

/// Whether an answer came over the line that the machine's BMC is reached by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Present,
    Replaced,
}

/// The device's answer to a step. Silence also tells of the line to it.
pub(crate) fn note_answer(books: &mut Books, step: &Step, result: Result<(), Fault>, line: Line, now: Timestamp) {
    let through_bmc = step.ask.party() == model::Party::Bmc;
    let fault = result.err();
    books.observe(&step.machine, |observation| {
        observation.asking = None;
        observation.ask_ended_at = Some(now);
        if fault.is_none() {
            let (operation, ask, attempt) = (step.operation.clone(), step.ask, step.attempt);
            observation.obeyed = Some(model::Obeyed { operation, ask, attempt, at: now });
        }
        observation.answer =
            fault.clone().map(|fault| Answer { operation: step.operation.clone(), ask: step.ask, attempt: step.attempt, fault, at: now });
        if let (true, Some(fault)) =
            (through_bmc && line == Line::Present, fault.clone().filter(|fault| plan::speaks_of_the_line(step.ask, fault)))
        {
            observation.bmc.failed(now, fault);
        }
        true
    });
    let through_api = step.ask.party() == model::Party::Undercloud;
    if let (true, Some(fault)) = (through_api, fault.filter(|fault| plan::speaks_of_the_line(step.ask, fault))) {
        note_contact(books, Err(fault), now);
    }
}
