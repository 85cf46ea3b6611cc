//! The lines to tenant clusters: one for each, opened when the cluster appears and closed when it goes.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt;
use kubernetes::{Door, InsideEvent, SecretSeen, TENANT_NAMESPACE, TenantCluster, Undercloud};
use model::{Delivery, Fault, FaultClass, Limits, Span, TenantClusterName};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::Loop;
use crate::eyes::Event;
use crate::tenants::{self, Fit, Inside, Listings};

/// How often the kubeconfig of a tenant cluster that does not answer is read again: its API server may have moved.
const READ_AGAIN_EVERY: Span = Span::minutes(1);

/// The entry of the secret that holds the kubeconfig, as Cluster API names it.
const KUBECONFIG_KEY: &str = "value";

/// The lines that are open or being opened.
#[derive(Debug, Default)]
pub(super) struct Lines {
    by_cluster: BTreeMap<TenantClusterName, Line>,
    /// Numbers tell a line from the one before it, whose last words may still be on their way.
    next_number: u64,
}

#[derive(Debug)]
struct Line {
    number: u64,
    task: AbortHandle,
    api: Option<TenantCluster>,
    listings: Listings,
}

impl Lines {
    /// The API of a tenant cluster, once its kubeconfig was read.
    pub fn api(&self, cluster: &TenantClusterName) -> Option<&TenantCluster> {
        self.by_cluster.get(cluster)?.api.as_ref()
    }
}

impl Loop {
    /// Watches tenants' virtual machines and clusters, from a fresh listing on; a watch that was there before ends.
    pub(super) fn watch_tenants(&mut self) {
        let mut tenants = Box::pin(self.keeper.undercloud.watch_tenants());
        let events = self.events.clone();
        let watch = self.tasks.spawn(async move {
            while let Some(event) = tenants.next().await {
                if events.send(Event::Tenants(event)).await.is_err() {
                    return;
                }
            }
        });
        if let Some(before) = self.tenant_watch.replace(watch) {
            before.abort();
        }
        // Kubeconfigs lie in the undercloud, which may be another one from now on.
        for (_, line) in std::mem::take(&mut self.lines.by_cluster) {
            line.task.abort();
        }
        self.open_lines();
    }

    /// Opens the lines to clusters that are new, and closes those to clusters that are gone.
    pub(super) fn open_lines(&mut self) {
        let known = &self.books.snapshot.tenants.clusters;
        self.lines.by_cluster.retain(|name, line| {
            let stays = known.contains_key(name);
            if !stays {
                line.task.abort();
            }
            stays
        });
        let new: Vec<TenantClusterName> = known.keys().filter(|name| !self.lines.by_cluster.contains_key(*name)).cloned().collect();
        for cluster in new {
            self.open_line(cluster);
        }
    }

    fn open_line(&mut self, cluster: TenantClusterName) {
        self.lines.next_number += 1;
        let number = self.lines.next_number;
        let way = Way {
            cluster: cluster.clone(),
            number,
            undercloud: self.keeper.undercloud.clone(),
            door: self.keeper.door.clone(),
            limits: self.books.snapshot.cluster.limits.clone(),
            events: self.events.clone(),
        };
        let task = self.tasks.spawn(way.keep_open());
        let line = Line { number, task, api: None, listings: Listings::default() };
        if let Some(before) = self.lines.by_cluster.insert(cluster, line) {
            before.task.abort();
        }
    }

    pub(super) fn take_inside(&mut self, cluster: &TenantClusterName, number: u64, told: Inside) {
        let now = self.now();
        let Some(line) = self.lines.by_cluster.get_mut(cluster).filter(|line| line.number == number) else { return };
        match told {
            Inside::Opened(api) => line.api = Some(api),
            Inside::Shut(fault) => tenants::note_shut(&mut self.books, cluster, fault, now),
            Inside::Told(event) => {
                if tenants::note_inside(&mut self.books, cluster, &mut line.listings, event, now) == Fit::TooManyPods {
                    // The new listing says so, for as long as there are too many.
                    tenants::note_too_large(&mut self.books, cluster);
                    self.open_line(cluster.clone());
                }
            }
        }
    }
}

/// What leads to one tenant cluster.
struct Way {
    cluster: TenantClusterName,
    number: u64,
    undercloud: Undercloud,
    door: Arc<dyn Door>,
    limits: Limits,
    events: mpsc::Sender<Event>,
}

/// The keeper is gone.
struct Gone;

impl Way {
    /// Opens the line again and again, with ever longer pauses while its kubeconfig cannot be read, until it is closed.
    async fn keep_open(self) {
        let mut failures = 0;
        loop {
            let outcome = match self.enter().await {
                Ok((kubeconfig, api)) => {
                    failures = 0;
                    self.listen(&kubeconfig, api).await
                }
                Err(fault) => self.tell(Inside::Shut(fault)).await,
            };
            if outcome.is_err() {
                return;
            }
            failures += 1;
            tokio::time::sleep(plan::backoff(failures, &self.limits).to_std()).await;
        }
    }

    async fn enter(&self) -> Result<(SecretSeen, TenantCluster), Fault> {
        let secret = self.read_kubeconfig().await?;
        let lacking = |what: &str| {
            let detail = format!("secret {TENANT_NAMESPACE}/{} {what}", self.secret_name());
            Fault::new(FaultClass::NoLogin, Delivery::No, detail)
        };
        let bytes = secret.data.get(KUBECONFIG_KEY).ok_or_else(|| lacking("has no entry `value`"))?;
        let text = std::str::from_utf8(bytes).map_err(|_| lacking("is not text"))?;
        let api = self.door.open(text).await?;
        Ok((secret, api))
    }

    async fn read_kubeconfig(&self) -> Result<SecretSeen, Fault> {
        let found = self.undercloud.observe_tenant_secret(&self.secret_name()).await?;
        let missing =
            || Fault::new(FaultClass::NoLogin, Delivery::No, format!("there is no secret {TENANT_NAMESPACE}/{}", self.secret_name()));
        found.ok_or_else(missing)
    }

    fn secret_name(&self) -> String {
        format!("{}-kubeconfig", self.cluster.key())
    }

    /// Passes on what the cluster tells, until its kubeconfig is another one.
    async fn listen(&self, kubeconfig: &SecretSeen, api: TenantCluster) -> Result<(), Gone> {
        let mut told = pin!(api.watch());
        let mut read_at = Instant::now();
        self.tell(Inside::Opened(api.clone())).await?;
        while let Some(event) = told.next().await {
            let lost = if let InsideEvent::Lost(fault) = &event { Some(fault.class) } else { None };
            self.tell(Inside::Told(event)).await?;
            let is_shut_out = matches!(lost, Some(FaultClass::Denied | FaultClass::Untrusted | FaultClass::NoLogin));
            let is_late = lost.is_some() && read_at.elapsed() >= READ_AGAIN_EVERY.to_std();
            if is_shut_out || is_late {
                read_at = Instant::now();
                // One that cannot be read now is no reason to let go of the one that we have.
                if self.read_kubeconfig().await.is_ok_and(|now| now.data != kubeconfig.data) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn tell(&self, told: Inside) -> Result<(), Gone> {
        let event = Event::Inside { cluster: self.cluster.clone(), line: self.number, told };
        self.events.send(event).await.map_err(|_| Gone)
    }
}

#[cfg(test)]
mod tests;
