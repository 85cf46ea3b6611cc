//! Whether an installation may begin: what speaks against a reimage or a replace beside what speaks against any action.
//!
//! Two of the guards need a look: whether the BMC has a firmware job, and who is a member of etcd. The verdict waits for them, but not
//! for ever: whoever asked is given one while the request is good.

use std::net::IpAddr;

use model::{
    Action, Found, LookAt, Looked, Machine, Power, Provisioning, Refusal, Request, Rule, Safeguard, Site, Span, Survey, Timestamp,
};

use super::prepare::installs;
use super::runtimes::known;
use super::survey;
use crate::contact;
use crate::control_plane;
use crate::draft::{Draft, LookStep};
use crate::guard::Guarded;
use crate::membership;
use crate::snapshot::Snapshot;

/// How long a verdict is held back for a look that it needs.
///
/// Three seconds are longer than a BMC takes that is well, and leave a keeper two of a request's five to say so.
pub(crate) const VERDICT_PATIENCE: Span = Span::seconds(3);

/// How old what was looked at may be for a verdict. The step that comes before anything is touched looks again, and so does whatever
/// switches the machine off.
pub(crate) const SURVEY_LIFE: Span = Span::seconds(30);

/// Most workloads that a refusal names.
const NAMED_MAX: usize = 5;

/// Whether the verdict has to wait for a look; if so it is asked for.
pub(crate) fn awaits_looks(draft: &mut Draft, machine: &Machine, action: Action, request: &Request, now: Timestamp) -> bool {
    let until = request.received_at + VERDICT_PATIENCE;
    if !installs(action) || now >= until {
        return false;
    }
    let observation = draft.after.observation(&machine.name);
    let mut awaited = false;
    if fresh(observation.looked.get(&LookAt::Survey).map(AsRef::as_ref), now).is_none() {
        draft.plan.looks.insert(LookStep { machine: Some(machine.name.clone()), at: LookAt::Survey });
        awaited = true;
    }
    if machine.is_active_kcp() && fresh(draft.after.etcd.as_deref(), now).is_none() {
        draft.plan.looks.insert(LookStep { machine: None, at: LookAt::Etcd });
        awaited = true;
    }
    if awaited {
        draft.wake_at(until);
    }
    awaited
}

fn fresh(looked: Option<&Looked>, now: Timestamp) -> Option<&Looked> {
    looked.filter(|looked| now < looked.ended_at + SURVEY_LIFE)
}

/// Whether etcd has told its members just now.
pub(crate) fn is_etcd_known(snapshot: &Snapshot, now: Timestamp) -> bool {
    fresh(snapshot.etcd.as_deref(), now).is_some() && control_plane::etcd_seen(snapshot).is_some()
}

/// Whether a refusal may not stand once etcd has told who votes.
pub(crate) fn hinges_on_etcd(guarded: &Guarded<'_>, refusal: &Refusal) -> bool {
    let is_of_votes = matches!(refusal.rule, Rule::KcpOthersHealthy | Rule::KcpQuorum | Rule::KcpSoleVoter);
    is_of_votes && installs(guarded.action) && !is_etcd_known(guarded.snapshot, guarded.now)
}

impl Guarded<'_> {
    /// What can be said without a look.
    pub(crate) fn may_install(&self) -> Result<(), Refusal> {
        if !installs(self.action) {
            return Ok(());
        }
        self.runtime_known()?;
        self.install_ready()?;
        match self.action {
            Action::Reimage { safeguard } => self.no_workloads(safeguard),
            Action::Replace { safeguard: Safeguard::All, .. } => self.not_healthy(),
            _ => Ok(()),
        }
    }

    /// What needs a look. It is said with what is known.
    pub(crate) fn may_install_by_looks(&self) -> Result<(), Refusal> {
        if !installs(self.action) {
            return Ok(());
        }
        self.no_firmware_job()?;
        self.etcd_known()
    }

    fn runtime_known(&self) -> Result<(), Refusal> {
        if survey::bundle(self.snapshot, self.machine).is_some() {
            return Ok(());
        }
        let cluster = &self.snapshot.cluster;
        let evidence = match (&self.machine.installed, survey::version(self.snapshot, self.machine)) {
            (Some(installed), _) => {
                format!("`{}` has {}; cluster `{}` knows {}", self.machine.name, installed.version, cluster.name, known(self.snapshot))
            }
            (None, Ok(version)) => format!("cluster `{}` runs {version}; it knows {}", cluster.name, known(self.snapshot)),
            (None, Err(invalid)) => format!("cluster `{}`: {invalid}", cluster.name),
        };
        self.refuse(Rule::RuntimeExists, vec![evidence], "make it known: `rackwright runtime import FILE`")
    }

    /// What the machine will need of us while it is installed, and could not have.
    fn install_ready(&self) -> Result<(), Refusal> {
        let cluster = &self.snapshot.cluster;
        if cluster.join.is_none() {
            let evidence = format!("how nodes join the undercloud of `{}` is not known", cluster.name);
            return self.refuse(Rule::InstallReady, vec![evidence], "name the undercloud's kubeconfig in the site file");
        }
        let bmc = &self.machine.hardware.bmc_address;
        match &self.snapshot.install_url {
            Some(url) if is_loopback(url) && !is_loopback(bmc) => {
                let evidence = format!("machines would be told to call {url}, which neither the machine nor its BMC ({bmc}) can reach");
                let remedy = "start the server with an address that they reach: `rackwright serve --install-listen ADDRESS`";
                self.refuse(Rule::InstallReady, vec![evidence], remedy)
            }
            _ => Ok(()),
        }
    }

    /// Nothing runs on a machine that is off; and what cannot be seen is not taken for nothing.
    pub(crate) fn no_workloads(&self, safeguard: Safeguard) -> Result<(), Refusal> {
        let name = &self.machine.name;
        let observation = self.snapshot.observation(name);
        let is_off = observation.bmc.fault.is_none() && observation.power.is_some_and(|power| power.what == Power::Off);
        if safeguard == Safeguard::None || is_off {
            return Ok(());
        }
        let remedy = format!(
            "empty it first: `rackwright bmm cordon {name} --evacuate`; or let the platform do it: `rackwright bmm reimage {name} --safeguard-mode None`"
        );
        if !contact::are_tenants_heard(self.snapshot) {
            let evidence = "which virtual machines run on it is not known: nothing is heard of them".to_owned();
            return self.refuse(Rule::MachineHasWorkloads, vec![evidence], remedy);
        }
        let running = self.snapshot.vms_on(name).filter(|vm| vm.has_instance());
        let mut evidence: Vec<String> = running
            .map(|vm| match &vm.node_of {
                Some(of) => format!("node `{}` of tenant cluster `{}` runs on it", vm.name, of.cluster),
                None => format!("virtual machine `{}` runs on it", vm.name),
            })
            .collect();
        if evidence.is_empty() {
            return Ok(());
        }
        evidence.sort();
        if evidence.len() > NAMED_MAX {
            let more = evidence.len() - NAMED_MAX;
            evidence.truncate(NAMED_MAX);
            evidence.push(format!("and {more} more"));
        }
        self.refuse(Rule::MachineHasWorkloads, evidence, remedy)
    }

    /// A machine that nobody sees is not taken for one that is down: it may serve.
    fn not_healthy(&self) -> Result<(), Refusal> {
        let name = &self.machine.name;
        match self.health() {
            Health::Ill => Ok(()),
            Health::Well => self.refuse(
                Rule::MachineHealthy,
                vec![
                    "cannot replace healthy machine (powered on, ready, provisioned, joined to cluster). Use --safeguard-mode None to override"
                        .into(),
                ],
                format!("nothing to repair; to replace it all the same: `rackwright bmm replace {name} --safeguard-mode None`"),
            ),
            Health::Unseen(why) => self.refuse(
                Rule::MachineHealthy,
                vec![format!("whether `{name}` is healthy cannot be told: {why}, and nothing was wrong with it when it was last seen")],
                format!("ask again when it can be; to replace it all the same: `rackwright bmm replace {name} --safeguard-mode None`"),
            ),
        }
    }

    /// Whether a machine is seen to be well, so that a replace has nothing to repair.
    pub(crate) fn is_seen_well(&self) -> bool {
        matches!(self.health(), Health::Well)
    }

    /// What is seen now counts; where nothing is, what was seen last. A BMC that is silent has no word in it: the node's is enough.
    fn health(&self) -> Health {
        let (machine, observation) = (self.machine, self.snapshot.observation(&self.machine.name));
        let seen_power = observation.power.filter(|_| observation.bmc.fault.is_none()).map(|power| power.what);
        let is_off = seen_power.is_some_and(|power| power != Power::On);
        if machine.provisioning != Provisioning::Provisioned || machine.unhealthy.is_some() || is_off {
            return Health::Ill;
        }
        let fault = contact::undercloud_fault(self.snapshot);
        match (fault, observation.node) {
            (None, Some(seen)) if seen.what.as_ref().is_some_and(|node| machine.is_node_ready(node)) => Health::Well,
            (None, Some(_)) => Health::Ill,
            _ if was_down(machine, seen_power) => Health::Ill,
            (Some(fault), _) => Health::Unseen(format!("the undercloud does not answer ({fault})")),
            (None, None) => Health::Unseen("its node has not been seen yet: the keeper has just started".into()),
        }
    }

    fn survey_known(&self) -> Option<Survey> {
        let observation = self.snapshot.observation(&self.machine.name);
        let looked = fresh(observation.looked.get(&LookAt::Survey).map(AsRef::as_ref), self.now)?;
        match &looked.found {
            Ok(Found::Survey(survey)) => Some(survey.clone()),
            _ => None,
        }
    }

    /// In both safeguard modes: a machine that is switched off while its firmware is written may never start again.
    fn no_firmware_job(&self) -> Result<(), Refusal> {
        let survey = self.survey_known();
        let Some(job) = survey.as_ref().and_then(survey::firmware_job) else { return Ok(()) };
        let evidence = format!("the BMC of `{}` has a firmware job in its queue: {}", self.machine.name, survey::described(job));
        self.refuse(Rule::FirmwareJob, vec![evidence], "wait until it has ended, or take it out of the BMC's queue")
    }

    /// A member is taken out of etcd and added again: whoever cannot be asked now could not be asked then. And a member that may be this
    /// machine's, under whatever name, must not be left behind when the machine is wiped.
    fn etcd_known(&self) -> Result<(), Refusal> {
        if !self.machine.is_active_kcp() {
            return Ok(());
        }
        let seen = control_plane::etcd_seen(self.snapshot).filter(|_| is_etcd_known(self.snapshot, self.now));
        let evidence = match seen.map(|seen| membership::doubt(self.snapshot, seen, self.machine, None)) {
            Some(None) => return Ok(()),
            Some(Some(doubt)) => {
                let remedy = "give etcd's members the names of their machines or nodes; or remove the one that is left over: `etcdctl member remove ID`";
                return self.refuse(Rule::EtcdKnown, vec![doubt], remedy);
            }
            None => match self.snapshot.etcd.as_ref().and_then(|looked| looked.found.as_ref().err()) {
                Some(fault) => format!("etcd does not tell its members: {fault}"),
                None => "etcd has not told its members yet".to_owned(),
            },
        };
        self.refuse(Rule::EtcdKnown, vec![evidence], "make sure that etcd can be reached, and that the site file says how; then ask again")
    }
}

/// What can be said of a machine that is to be replaced.
enum Health {
    Well,
    /// Something is known to be wrong.
    Ill,
    /// Nothing is known to be wrong; and why that says little.
    Unseen(String),
}

/// Whether the last word of a machine whose node cannot be seen was that it is down.
fn was_down(machine: &Machine, seen_power: Option<Power>) -> bool {
    let was_off = seen_power.is_none() && machine.last_seen.power.as_ref().is_some_and(|power| power.what != Power::On);
    was_off || machine.last_seen.node.as_ref().is_some_and(|node| !machine.is_node_ready(&node.what))
}

/// Whether machines of a site could not reach us by the URL that they are told while they are installed.
pub fn is_install_url_useless(url: &str, site: &Site) -> bool {
    is_loopback(url) && site.machines.iter().any(|machine| !is_loopback(&machine.hardware.bmc_address))
}

/// Whether a URL, or an address with or without a port, leads nowhere but to the computer that calls it.
fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What a preview cannot know because nobody has looked.
pub(crate) fn unknowns(snapshot: &Snapshot, machine: &Machine, action: Action, now: Timestamp) -> Option<String> {
    let observation = snapshot.observation(&machine.name);
    let looked = fresh(observation.looked.get(&LookAt::Survey).map(AsRef::as_ref), now).map(|looked| &looked.found);
    let why = match looked {
        _ if !installs(action) => return None,
        Some(Ok(_)) => return None,
        Some(Err(fault)) => format!("{fault}"),
        None => "it has not answered yet".to_owned(),
    };
    Some(format!("whether the BMC has a firmware job, and how the machine can be started: {why}"))
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn addresses_of_this_computer_are_known() {
        for here in ["http://127.0.0.1:7226", "https://localhost/x", "127.1.2.3", "http://[::1]:80/", "LOCALHOST:1"] {
            assert!(is_loopback(here), "{here}");
        }
        for elsewhere in ["http://10.0.0.1:7226", "https://install.invalid", "10.20.2.21", "http://[fd00::1]:80", "", "http://127.example"]
        {
            assert!(!is_loopback(elsewhere), "{elsewhere}");
        }
    }
}
