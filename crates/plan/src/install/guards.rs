//! Whether an installation may begin: what speaks against a reimage or a replace beside what speaks against any action.
//!
//! Two of the guards need a look: whether the BMC has a firmware job, and who is a member of etcd. The verdict waits for them, but not
//! for ever: whoever asked is given one while the request is good.

use std::net::IpAddr;

use model::{
    Action, EtcdMember, EtcdSeen, Found, LookAt, Looked, Machine, Power, Provisioning, Refusal, Request, Rule, RuntimeVersion, Safeguard,
    Site, Span, Survey, Timestamp,
};

use super::prepare::installs;
use super::runtimes::known;
use super::survey;
use crate::contact;
use crate::control_plane;
use crate::draft::{Draft, LookStep};
use crate::guard::Guarded;
use crate::snapshot::Snapshot;

/// How long a verdict is held back for a look that it needs.
///
/// Three seconds are longer than a BMC takes that is well, and leave a keeper two of a request's five to say so.
pub(crate) const VERDICT_PATIENCE: Span = Span::seconds(3);

/// How old what was looked at may be for a verdict. The step that comes before anything is touched looks again.
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

impl Guarded<'_> {
    /// What can be said without a look.
    pub(crate) fn may_install(&self) -> Result<(), Refusal> {
        if !installs(self.action) {
            return Ok(());
        }
        self.runtime_known()?;
        self.install_ready()?;
        match self.action {
            Action::Reimage { safeguard } => {
                self.machine_not_given_up()?;
                self.no_workloads(safeguard)
            }
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
        if survey::bundle(self.snapshot).is_some() {
            return Ok(());
        }
        let cluster = &self.snapshot.cluster;
        let evidence = match RuntimeVersion::parse(&cluster.version) {
            Ok(version) => format!("cluster `{}` runs {version}; it knows {}", cluster.name, known(self.snapshot)),
            Err(invalid) => format!("cluster `{}`: {invalid}", cluster.name),
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

    fn machine_not_given_up(&self) -> Result<(), Refusal> {
        let Some(unhealthy) = &self.machine.unhealthy else { return Ok(()) };
        let name = &self.machine.name;
        let evidence = format!("it was given up at {}: {}", unhealthy.since.clock(), unhealthy.because);
        self.refuse(
            Rule::MachineUnhealthy,
            vec![evidence],
            format!("repair it, then `rackwright bmm replace {name}`: nothing else brings it back"),
        )
    }

    /// Nothing runs on a machine that is off; and what cannot be seen is not taken for nothing.
    fn no_workloads(&self, safeguard: Safeguard) -> Result<(), Refusal> {
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

    /// By the last word there is: that nobody can see a machine now does not make it a sick one.
    fn not_healthy(&self) -> Result<(), Refusal> {
        let machine = self.machine;
        let is_healthy = machine.is_ready() && machine.provisioning == Provisioning::Provisioned && machine.unhealthy.is_none();
        if !is_healthy {
            return Ok(());
        }
        let mut evidence = vec![
            "cannot replace healthy machine (powered on, ready, provisioned, joined to cluster). Use --safeguard-mode None to override"
                .to_owned(),
        ];
        if let Some(fault) = contact::undercloud_fault(self.snapshot) {
            evidence.push(format!("it was so when it was last seen: the undercloud does not answer ({fault})"));
        }
        self.refuse(
            Rule::MachineHealthy,
            evidence,
            format!("nothing to repair; to replace it all the same: `rackwright bmm replace {} --safeguard-mode None`", machine.name),
        )
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

    /// A machine without a member may have one under another name. It would be wiped with its vote, and nobody would have counted it.
    fn members_known(&self, seen: &EtcdSeen) -> Result<(), Refusal> {
        let is_of = |member: &EtcdMember, machine: &Machine| EtcdSeen::is_of(member, machine.name.as_str(), None);
        if seen.members.iter().any(|member| is_of(member, self.machine)) {
            return Ok(());
        }
        let named = seen.members.iter().filter(|member| !member.name.is_empty());
        let mut strangers = named.filter(|member| !self.snapshot.control_plane().any(|machine| is_of(member, machine)));
        let Some(stranger) = strangers.next() else { return Ok(()) };
        let evidence = format!("etcd has no member `{}`, and its member `{}` is no machine's", self.machine.name, stranger.name);
        self.refuse(Rule::EtcdKnown, vec![evidence], "let each member of etcd be called as its machine is (`etcd --name`); then ask again")
    }

    /// A member is taken out of etcd and added again: whoever cannot be asked now could not be asked then.
    fn etcd_known(&self) -> Result<(), Refusal> {
        if !self.machine.is_active_kcp() {
            return Ok(());
        }
        if let Some(seen) = control_plane::etcd_seen(self.snapshot) {
            return self.members_known(seen);
        }
        let evidence = match self.snapshot.etcd.as_ref().and_then(|looked| looked.found.as_ref().err()) {
            Some(fault) => format!("etcd does not tell its members: {fault}"),
            None => "etcd has not told its members yet".to_owned(),
        };
        self.refuse(Rule::EtcdKnown, vec![evidence], "make sure that etcd can be reached, and that the site file says how; then ask again")
    }
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
