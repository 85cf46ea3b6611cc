//! Bootstrap tokens of the undercloud: by them a machine that has nothing else joins.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::objects::{ObjectKey, SECRETS};
use crate::site::World;
use crate::time::Instant;

/// Where Kubernetes keeps its bootstrap tokens, and of which type their secrets are.
const TOKEN_NAMESPACE: &str = "kube-system";
const TOKEN_TYPE: &str = "bootstrap.kubernetes.io/token";

impl World {
    /// What an API server asks of a bootstrap token before it lets its holder in.
    pub fn check_bootstrap_token(&self, token: &str, now: Instant) -> Result<(), String> {
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
