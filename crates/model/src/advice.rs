//! What to do about a machine that is not well, and how it is afterwards.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::name::{MachineName, OperationId};
use crate::operation::OperationResult;
use crate::refusal::Refusal;
use crate::replacement::StoragePolicy;
use crate::time::Timestamp;

/// What is wrong with a machine, as a person says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symptom {
    /// It, or what runs on it, does not answer.
    Unresponsive,
    OsCorruption,
    Hardware,
    Security,
    StuckProvisioning,
}

impl Symptom {
    pub const ALL: [Symptom; 5] =
        [Symptom::Unresponsive, Symptom::OsCorruption, Symptom::Hardware, Symptom::Security, Symptom::StuckProvisioning];

    pub fn as_str(self) -> &'static str {
        match self {
            Symptom::Unresponsive => "unresponsive",
            Symptom::OsCorruption => "os-corruption",
            Symptom::Hardware => "hardware",
            Symptom::Security => "security",
            Symptom::StuckProvisioning => "stuck-provisioning",
        }
    }

    pub fn parse(text: &str) -> Option<Symptom> {
        Symptom::ALL.into_iter().find(|symptom| symptom.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Symptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A part of a machine that was, or is to be, repaired or exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepairedPart {
    Psu,
    Cpu,
    Dimm,
    Fan,
    Riser,
    Transceiver,
    Cable,
    Nic,
    Ssd,
    Raid,
    SystemBoard,
    Backplane,
}

impl RepairedPart {
    pub const ALL: [RepairedPart; 12] = [
        RepairedPart::Psu,
        RepairedPart::Cpu,
        RepairedPart::Dimm,
        RepairedPart::Fan,
        RepairedPart::Riser,
        RepairedPart::Transceiver,
        RepairedPart::Cable,
        RepairedPart::Nic,
        RepairedPart::Ssd,
        RepairedPart::Raid,
        RepairedPart::SystemBoard,
        RepairedPart::Backplane,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            RepairedPart::Psu => "psu",
            RepairedPart::Cpu => "cpu",
            RepairedPart::Dimm => "dimm",
            RepairedPart::Fan => "fan",
            RepairedPart::Riser => "riser",
            RepairedPart::Transceiver => "transceiver",
            RepairedPart::Cable => "cable",
            RepairedPart::Nic => "nic",
            RepairedPart::Ssd => "ssd",
            RepairedPart::Raid => "raid",
            RepairedPart::SystemBoard => "system-board",
            RepairedPart::Backplane => "backplane",
        }
    }

    pub fn parse(text: &str) -> Option<RepairedPart> {
        RepairedPart::ALL.into_iter().find(|part| part.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for RepairedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a replace is needed after a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplaceNeed {
    Unnecessary,
    Recommended,
    Required,
}

/// What becomes of the data of virtual machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DataRisk {
    Safe,
    /// Only if more than one of them is exchanged before the controller has rebuilt.
    IfSeveral,
    MayBeLost,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Remedy {
    Nothing,
    /// Something is being done already.
    Wait,
    /// It was switched off by a person.
    Start,
    Restart,
    Reimage,
    Replace,
    Support,
}

impl Remedy {
    pub fn as_str(self) -> &'static str {
        match self {
            Remedy::Nothing => "nothing",
            Remedy::Wait => "wait",
            Remedy::Start => "start",
            Remedy::Restart => "restart",
            Remedy::Reimage => "reimage",
            Remedy::Replace => "replace",
            Remedy::Support => "contact support",
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Advice {
    pub machine: MachineName,
    /// Nothing if nothing is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symptom: Option<Symptom>,
    pub next: Remedy,
    pub because: Vec<String>,
    /// What was done to it already, the latest first.
    pub tried: Vec<Tried>,
    /// What comes after, should the next one not help.
    pub then: Vec<Remedy>,
    pub parts: Vec<PartAdvice>,
    /// Whether a replace is needed, as far as repaired parts tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<ReplaceNeed>,
    /// Of a replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageAdvice>,
    pub warnings: Vec<String>,
    /// In their order.
    pub commands: Vec<AdvisedCommand>,
    /// What speaks against the next action just now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Refusal>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    pub action: Remedy,
    pub operation: OperationId,
    pub at: Timestamp,
    pub result: OperationResult,
    /// Whether it counts as a rung of the ladder: one that never began its work does not.
    pub counts: bool,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartAdvice {
    pub part: RepairedPart,
    pub replace: ReplaceNeed,
    pub data: DataRisk,
    pub words: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StorageAdvice {
    pub policy: StoragePolicy,
    pub because: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdvisedCommand {
    pub why: String,
    /// Ours; nothing for what is done by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The same with Azure's command line, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub az: Option<String>,
}

/// One post-check: how something is after an action, against how it was before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PostCheck {
    pub name: String,
    pub state: PostState,
    pub expected: String,
    pub found: String,
    /// What to do about it, or what is waited for; empty if all is well.
    pub words: String,
    /// The command of a person that ends the wait, if nothing else does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaits: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PostState {
    Ok,
    /// Not yet, but it is on its way, or comes with what a person is to ask for next.
    Waits,
    /// Whoever would tell does not answer, so that it may differ.
    Unknown,
    Differs,
}
