//! An installed system that is up for the first time: it phones home, and joins the cluster with its bootstrap token.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::{Errand, Outcome};
use crate::hardware::{FirstBoot, Setup};
use crate::machine::{Host, Membership};
use crate::objects::{ObjectKey, SECRETS};
use crate::site::World;
use crate::time::Instant;

/// Where Kubernetes keeps its bootstrap tokens, and of which type their secrets are.
const TOKEN_NAMESPACE: &str = "kube-system";
const TOKEN_TYPE: &str = "bootstrap.kubernetes.io/token";

impl World {
    /// A system that has not joined is up: its first-boot configuration begins, or goes on.
    pub(crate) fn first_boot_begins(&mut self, index: usize, at: Instant) {
        if let Some(Setup::PhoningHome(_) | Setup::Joining(_)) = self.setup(index) {
            self.states[index].machine.calls_at = Some(at + self.pace.first_boot);
        }
    }

    fn setup(&self, index: usize) -> Option<&Setup> {
        self.states[index].hardware.volumes.system().map(|system| &system.setup)
    }

    fn set_setup(&mut self, index: usize, setup: Setup) {
        if let Some(system) = self.hardware_mut(index).volumes.system_mut() {
            system.setup = setup;
        }
    }

    pub(super) fn first_boot_errand(&self, index: usize) -> Option<Errand> {
        let Some(Setup::PhoningHome(first_boot)) = self.setup(index) else { return None };
        Some(Errand::PhoneHome { home: first_boot.phone_home.clone()?, ca: first_boot.ca.clone() })
    }

    pub(super) fn first_boot_goes_on(&mut self, index: usize, at: Instant) {
        match self.setup(index).cloned() {
            Some(Setup::PhoningHome(_)) => {
                self.calling.insert(index);
            }
            Some(Setup::Joining(first_boot)) => self.host_joins(index, &first_boot, at),
            Some(Setup::Joined | Setup::Outside { .. }) | None => {}
        }
    }

    pub(super) fn first_boot_hears(&mut self, index: usize, outcome: &Outcome, at: Instant) {
        let Some(Setup::PhoningHome(first_boot)) = self.setup(index).cloned() else { return };
        let next = match outcome {
            Outcome::Silence { .. } => at + self.pace.call_again,
            // Who is sent away at home still has a cluster to join.
            _ => {
                self.set_setup(index, Setup::Joining(first_boot));
                at
            }
        };
        self.states[index].machine.calls_at = Some(next);
    }

    fn host_joins(&mut self, index: usize, first_boot: &FirstBoot, at: Instant) {
        if !self.undercloud.is_available() {
            self.states[index].machine.calls_at = Some(at + self.pace.call_again);
            return;
        }
        let joined = match &first_boot.join {
            None => Err("nobody said which cluster to join".to_owned()),
            Some(join) => self.check_bootstrap_token(&join.token, at),
        };
        if let Err(why) = joined {
            return self.set_setup(index, Setup::Outside { why });
        }
        self.set_setup(index, Setup::Joined);
        if let Host::Up { membership, .. } = &mut self.states[index].machine.host {
            *membership = Membership::Member;
        }
        self.unsaved.machines.insert(index);
        if self.reaches_api(index) {
            self.virt.disturb(&self.layout.machines()[index].name);
            self.kubelet_speaks(index, at);
        }
    }

    /// What an API server asks of a bootstrap token before it lets its holder in.
    fn check_bootstrap_token(&self, token: &str, now: Instant) -> Result<(), String> {
        let (id, secret) = token.split_once('.').ok_or("the bootstrap token has no point in it")?;
        let name = format!("bootstrap-token-{id}");
        let found = self.objects().get(&SECRETS, &ObjectKey::namespaced(TOKEN_NAMESPACE, &name));
        let found = found.ok_or_else(|| format!("there is no secret {TOKEN_NAMESPACE}/{name}"))?;
        if found["type"] != TOKEN_TYPE {
            return Err(format!("{TOKEN_NAMESPACE}/{name} is not of type {TOKEN_TYPE}"));
        }
        let is = |field: &str, wanted: &str| decoded(found, field).is_some_and(|value| value == wanted);
        if !is("token-id", id) || !is("token-secret", secret) {
            return Err(format!("the bootstrap token is not that of {TOKEN_NAMESPACE}/{name}"));
        }
        if !is("usage-bootstrap-authentication", "true") {
            return Err(format!("{TOKEN_NAMESPACE}/{name} is not for authentication"));
        }
        match decoded(found, "expiration") {
            None => Ok(()),
            Some(text) if Instant::parse(&text).is_some_and(|expires_at| expires_at > now) => Ok(()),
            Some(text) => Err(format!("{TOKEN_NAMESPACE}/{name} expired at {text}")),
        }
    }
}

fn decoded(secret: &Value, field: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(secret["data"][field].as_str()?).ok()?).ok()
}
