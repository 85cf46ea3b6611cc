//! Errands: sent once their intent is committed, many at once, and each answered by one event.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubernetes::{TenantCluster, Undercloud, VmSecrets};
use model::{Delivery, Errand, ErrandOutcome, Fault, FaultClass, HintScope, HintTarget, SecretRef, TenantClusterName, VmName, VmSpec};
use plan::{ErrandStep, Snapshot};
use tokio::sync::Semaphore;
use tracing::debug;
use zeroize::Zeroizing;

use super::Loop;
use super::acting::TURN_TIMEOUT;
use crate::Secrets;
use crate::eyes::Event;
use crate::telling::{self, Called};

/// Errands that may be under way at once to one API server: those of a large drain, and not so many that others wait for them.
pub const MAX_ERRANDS: usize = 16;

/// Whose turn it is at each tenant cluster's API, and at the undercloud's.
#[derive(Debug, Default)]
pub(super) struct Turns(BTreeMap<Option<TenantClusterName>, Arc<Semaphore>>);

impl Turns {
    fn at(&mut self, api: Option<&TenantClusterName>) -> Arc<Semaphore> {
        self.0.entry(api.cloned()).or_insert_with(|| Arc::new(Semaphore::new(MAX_ERRANDS))).clone()
    }
}

/// Makes a call when it has its turn. One that does not get it in time was not sent.
async fn in_turn<T>(turns: &Semaphore, call: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    match tokio::time::timeout(TURN_TIMEOUT.to_std(), turns.acquire()).await {
        Ok(_turn) => call.await,
        Err(_) => Err(Fault::new(FaultClass::Busy, Delivery::No, "it waited too long for its turn at the API server")),
    }
}

impl Loop {
    pub(super) fn send(&mut self, step: ErrandStep) {
        debug!(cluster = %self.keeper.cluster, errand = %step.errand, attempt = step.attempt, "sending an errand");
        let called = Called::for_errand(&self.books.snapshot, &step);
        self.books.note_errand(&step, self.now());
        self.asks_under_way += 1;
        let turns = self.turns.at(step.errand.asked_of());
        let addressee = self.addressee_of(&step.errand);
        let events = self.events.clone();
        self.tasks.spawn(async move {
            let result = in_turn(&turns, called.during(request(&step, addressee))).await;
            // The loop is gone only when the keeper is.
            let _ = events.send(Event::ErrandAnswered { step, result }).await;
        });
    }

    pub(super) fn take_errand_answer(&mut self, step: &ErrandStep, result: Result<ErrandOutcome, Fault>) {
        self.asks_under_way = self.asks_under_way.saturating_sub(1);
        if let Err(fault) = &result {
            telling::note_errand_fault(&self.books.snapshot, step, fault);
        }
        let now = self.now();
        self.books.note_errand_answer(step, result, now);
    }

    fn addressee_of(&self, errand: &Errand) -> Result<Addressee, Fault> {
        if let Some(cluster) = errand.asked_of() {
            let api = self.lines.api(cluster).cloned();
            return api.map(Addressee::Tenant).ok_or_else(|| unopened(&self.books.snapshot, cluster));
        }
        let undercloud = self.keeper.undercloud.clone();
        let Errand::CreateVm { vm } = errand else { return Ok(Addressee::Undercloud(undercloud)) };
        let spec = spec_of(&self.books.snapshot, vm)?;
        Ok(Addressee::Maker { undercloud, spec: Box::new(spec), secrets: self.keeper.secrets.clone() })
    }
}

/// Who is asked, and with what.
enum Addressee {
    Undercloud(Undercloud),
    Maker { undercloud: Undercloud, spec: Box<VmSpec>, secrets: Arc<dyn Secrets> },
    Tenant(TenantCluster),
}

/// A tenant cluster whose kubeconfig has not been read cannot be asked. Nothing was sent.
fn unopened(snapshot: &Snapshot, cluster: &TenantClusterName) -> Fault {
    let known = snapshot.tenants.insides.get(cluster).and_then(|inside| inside.contact.fault.as_ref());
    match known {
        Some(fault) => Fault::new(fault.class, Delivery::No, &fault.detail),
        None => Fault::new(FaultClass::Unreachable, Delivery::No, format!("the kubeconfig of `{cluster}` has not been read yet")),
    }
}

/// What a virtual machine is to be like. Near a machine's rack means that rack: nodes carry no label for the other's neighbours.
fn spec_of(snapshot: &Snapshot, vm: &VmName) -> Result<VmSpec, Fault> {
    let missing = |what: String| Fault::new(FaultClass::Missing, Delivery::No, what);
    let document = snapshot.vms.get(vm).ok_or_else(|| missing(format!("virtual machine `{vm}` is not described")))?;
    let mut spec = document.spec.clone();
    for hint in &mut spec.placement_hints {
        if let (HintScope::Rack, HintTarget::Machine(name)) = (hint.scope, &hint.target) {
            let machine = snapshot.machines.get(name).ok_or_else(|| missing(format!("there is no machine `{name}`")))?;
            hint.target = HintTarget::Rack(machine.hardware.rack.clone());
        }
    }
    Ok(spec)
}

/// Carries out one errand. What to do about the answer is not decided here.
async fn request(step: &ErrandStep, addressee: Result<Addressee, Fault>) -> Result<ErrandOutcome, Fault> {
    match addressee? {
        Addressee::Tenant(api) => request_of_tenant(step, &api).await,
        Addressee::Undercloud(undercloud) => request_of_undercloud(step, &undercloud).await.map(|()| ErrandOutcome::Accepted),
        Addressee::Maker { undercloud, spec, secrets } => {
            let Errand::CreateVm { vm } = &step.errand else { return Err(misdirected(&step.errand)) };
            let resolved = resolve(&spec, secrets.as_ref()).await?;
            undercloud.request_vm(vm, &spec, &resolved).await.map(|()| ErrandOutcome::Accepted)
        }
    }
}

async fn request_of_tenant(step: &ErrandStep, api: &TenantCluster) -> Result<ErrandOutcome, Fault> {
    let accepted = |()| ErrandOutcome::Accepted;
    match &step.errand {
        Errand::CordonNode { node, .. } => api.request_cordon(node, &step.reason).await.map(accepted),
        Errand::UncordonNode { node, .. } => api.request_uncordon(node).await.map(accepted),
        Errand::Evict { pod, grace, .. } => api.request_eviction(pod, *grace).await.map(ErrandOutcome::Eviction),
        Errand::DeletePod { pod, grace, .. } => api.request_pod_end(pod, *grace).await.map(accepted),
        Errand::MarkOutOfService { node, .. } => api.request_out_of_service(node).await.map(accepted),
        Errand::ClearOutOfService { node, .. } => api.request_in_service(node).await.map(accepted),
        other => Err(misdirected(other)),
    }
}

async fn request_of_undercloud(step: &ErrandStep, undercloud: &Undercloud) -> Result<(), Fault> {
    match &step.errand {
        Errand::SkipRemediation { node, .. } => undercloud.request_remediation_skip(node).await,
        Errand::ResumeRemediation { node, .. } => undercloud.request_remediation_resume(node).await,
        Errand::StopVm { vm, shutdown } => undercloud.request_vm_stop(vm, *shutdown, step.node.as_deref()).await,
        Errand::StartVm { vm } => undercloud.request_vm_start(vm).await,
        Errand::DeleteVm { vm } => undercloud.request_vm_delete(vm).await,
        Errand::DiscardOsDisk { disk, .. } => undercloud.request_disk_discard(disk).await,
        other => Err(misdirected(other)),
    }
}

/// [`Errand::asked_of`] and the tables above disagree.
fn misdirected(errand: &Errand) -> Fault {
    Fault::new(FaultClass::Unsupported, Delivery::No, format!("{errand} was sent to the wrong API"))
}

async fn resolve(spec: &VmSpec, secrets: &dyn Secrets) -> Result<VmSecrets, Fault> {
    async fn load(secrets: &dyn Secrets, secret: Option<&SecretRef>) -> Result<Option<Zeroizing<Vec<u8>>>, Fault> {
        match secret {
            Some(secret) => secrets.load(secret).await.map(Some),
            None => Ok(None),
        }
    }
    Ok(VmSecrets {
        user_data: load(secrets, spec.user_data.as_ref()).await?,
        network_data: load(secrets, spec.network_data.as_ref()).await?,
        registry_password: load(secrets, spec.registry.as_ref().map(|registry| &registry.password)).await?,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use kubernetes::{MOST_BUDGETS, MOST_DISKS, MOST_NODES, MOST_PODS, MOST_VMS};
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_more_than_so_many_are_under_way_to_one_api_server_and_the_rest_are_told_in_time() {
        let mut turns = Turns::default();
        let under_way = Arc::new(AtomicUsize::new(0));
        let naks = TenantClusterName::new("naks-01").unwrap();
        let began = Instant::now();
        let mut sent = tokio::task::JoinSet::new();
        for _ in 0..=MAX_ERRANDS {
            let (at, under_way) = (turns.at(Some(&naks)), under_way.clone());
            sent.spawn(async move {
                in_turn(&at, async {
                    under_way.fetch_add(1, Ordering::Relaxed);
                    std::future::pending::<Result<(), Fault>>().await
                })
                .await
            });
        }
        let fault = sent.join_next().await.unwrap().unwrap().unwrap_err();
        assert_eq!((fault.class, fault.delivery), (FaultClass::Busy, Delivery::No));
        assert_eq!(began.elapsed(), TURN_TIMEOUT.to_std());
        assert_eq!((under_way.load(Ordering::Relaxed), sent.len()), (MAX_ERRANDS, MAX_ERRANDS));
        assert_eq!(in_turn(&turns.at(None), async { Ok(()) }).await, Ok(()), "another API server has turns of its own");
        sent.abort_all();
        while sent.join_next().await.is_some() {}
        assert_eq!(in_turn(&turns.at(Some(&naks)), async { Ok(()) }).await, Ok(()), "whoever ends gives the turn back");
    }

    #[test]
    fn what_a_site_may_have_is_documented_as_it_is() {
        let page = include_str!("../../../../docs/limits.md");
        let (_, of_sites) = page.split_once("\n## What a site may have\n").unwrap();
        let limits: Vec<usize> = of_sites.lines().filter_map(|line| line.split('|').nth(2)?.trim().replace(',', "").parse().ok()).collect();
        assert_eq!(limits, [MOST_VMS, MOST_DISKS, MOST_NODES, MOST_PODS, MOST_BUDGETS, MAX_ERRANDS]);
    }
}
