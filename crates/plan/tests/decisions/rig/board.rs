//! What of a machine an installation touches: the virtual drive, what it starts from, its disk, and who runs on it then.

use std::collections::{BTreeMap, BTreeSet};

use model::{Attempt, BootSeen, DeviceAsk, Digest, Fault, InstallTrouble, JobSeen, LookAt, MachineReport, SourceSeen, Span, Survey};
use plan::{Step, With};

use super::accounts::Accounts;
use super::parts::Parts;

/// How the agent behaves once it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Agent {
    Works,
    Silent,
    WrongDigest,
    GivesUp(InstallTrouble),
    /// It does not start at all: the machine starts its old disk.
    Absent,
    /// It shows its token twice.
    Greedy,
    /// It falls silent after this much.
    Stalls(u8),
    /// It tells everything twice, and some of it out of its order.
    Stutters,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Disk {
    Old,
    New,
}

#[derive(Clone, Debug)]
pub struct Board {
    pub media: Option<String>,
    pub source: SourceSeen,
    pub disk: Disk,
    pub survey: Survey,
    pub agent: Agent,
    pub phones_home: bool,
    /// What is answered with success, and not done.
    pub ignored: BTreeSet<DeviceAsk>,
    /// What is answered as unknown.
    pub unknown: BTreeSet<DeviceAsk>,
    /// It does not tell what is in its drive.
    pub is_discreet: bool,
    /// A boot source is forgotten when the machine starts.
    pub is_forgetful: bool,
    /// What its BMC answers to who looks.
    pub look_faults: BTreeMap<LookAt, Fault>,
    pub attempt: Option<Attempt>,
    pub parts: Parts,
    /// The key sets that the new system is configured with.
    pub key_sets: BTreeMap<model::KeySetName, u64>,
    /// Who may log in to the BMC.
    pub accounts: Accounts,
    pub inserted: u32,
    pub ejected: u32,
    /// The agent does not find the disk that it was told.
    pub lacks_disk: bool,
}

pub fn image() -> Digest {
    Digest::parse(&"ab".repeat(32)).unwrap()
}

/// The exchange of the n-th agent.
pub fn exchange(agent: u8) -> MachineReport {
    MachineReport::Exchange { nonce: Digest::parse(&format!("{agent:064x}")).unwrap() }
}

impl Default for Board {
    fn default() -> Self {
        Board {
            media: None,
            source: SourceSeen::Disk,
            disk: Disk::Old,
            survey: Survey { ways: model::BootWay::ALL.to_vec(), jobs: Some(Vec::new()) },
            agent: Agent::Works,
            phones_home: true,
            ignored: BTreeSet::new(),
            unknown: BTreeSet::new(),
            is_discreet: false,
            is_forgetful: false,
            look_faults: BTreeMap::new(),
            attempt: None,
            parts: Parts::default(),
            key_sets: BTreeMap::new(),
            accounts: Accounts::default(),
            inserted: 0,
            ejected: 0,
            lacks_disk: false,
        }
    }
}

impl Board {
    pub fn take(&mut self, step: &Step) {
        if let With::Install { attempt, .. } = &step.with {
            self.attempt = Some(attempt.clone());
        }
        if self.ignored.contains(&step.ask) {
            return;
        }
        self.parts.take(step);
        self.accounts.take(step);
        match step.ask {
            DeviceAsk::InsertMedia => {
                assert_eq!(self.media, None, "the drive is not empty");
                self.inserted += 1;
                let With::Install { attempt, .. } = &step.with else { panic!("an insertion of nothing") };
                self.media = Some(format!(
                    "http://here/install/v1/media/{}/{}/{}/secret/agent.iso",
                    attempt.cluster, attempt.operation, attempt.round
                ));
            }
            DeviceAsk::EjectMedia => {
                self.ejected += 1;
                self.media = None;
            }
            DeviceAsk::BootFromMedia => self.source = SourceSeen::Media,
            DeviceAsk::BootFromHttp => self.source = SourceSeen::Http,
            DeviceAsk::BootFromPxe => self.source = SourceSeen::Pxe,
            DeviceAsk::BootFromDisk => self.source = SourceSeen::Disk,
            _ => {}
        }
    }

    pub fn seen(&self) -> BootSeen {
        let media = if self.is_discreet { self.media.as_ref().map(|_| String::new()) } else { self.media.clone() };
        BootSeen { media, source: self.source }
    }

    pub fn busy_with_firmware(&mut self) {
        self.survey.jobs = Some(vec![JobSeen { name: "Firmware Update: iDRAC".into(), percent: Some(50), concerns_firmware: true }]);
    }

    /// Whether a power-on starts the agent.
    pub fn starts_agent(&mut self) -> bool {
        let from = match self.source {
            _ if self.agent == Agent::Absent => false,
            SourceSeen::Media => self.media.is_some(),
            SourceSeen::Http | SourceSeen::Pxe => true,
            SourceSeen::Disk | SourceSeen::Other => false,
        };
        if self.is_forgetful {
            self.source = SourceSeen::Disk;
        }
        from
    }

    /// What the agent tells, and how long after its start.
    pub fn story(&self) -> Vec<(Span, MachineReport)> {
        let at = Span::seconds;
        let progress = |percent| (at(60 + u64::from(percent)), MachineReport::Progress { percent });
        let call = (at(60), exchange(1));
        let written = (at(170), MachineReport::Written { digest: image() });
        match &self.agent {
            Agent::Works => (1..=10).map(|tenth| progress(tenth * 10)).chain([call, written]).collect(),
            Agent::Silent | Agent::Absent => Vec::new(),
            Agent::WrongDigest => vec![call, (at(170), MachineReport::Written { digest: Digest::parse(&"cd".repeat(32)).unwrap() })],
            Agent::GivesUp(trouble) => vec![call, (at(65), MachineReport::Failed { trouble: *trouble, detail: "as it says".into() })],
            Agent::Greedy => vec![call, (at(70), exchange(2))],
            Agent::Stalls(percent) => (1..=*percent).map(progress).chain([call]).collect(),
            Agent::Stutters => {
                let mut told = vec![
                    call.clone(),
                    (at(61), call.1),
                    progress(50),
                    progress(20),
                    progress(55),
                    progress(70),
                    written.clone(),
                    written.clone(),
                ];
                told.push((at(171), MachineReport::Progress { percent: 90 }));
                told.push((at(172), written.1));
                told
            }
        }
    }
}
