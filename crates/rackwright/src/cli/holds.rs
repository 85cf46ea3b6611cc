//! `rackwright bmm holds NAME`: who keeps a machine, and the tenant nodes on it, cordoned.

use serde_json::Value;

use super::answer::{field, segment_after};
use super::client::Target;
use super::render::{Clock, holds_of, holds_table};
use super::screen::Screen;
use super::session::{Kind, Session};
use super::trouble::{Exit, Trouble};

pub async fn run(session: &Session, screen: &mut Screen, name: &str) -> Result<(), Trouble> {
    let machine = session.get(Kind::Machine, name).await?;
    let holds = holds_of(&machine, &tenant_clusters_beside(session, &machine).await?);
    if holds.is_empty() && session.showing.is_for_people() {
        return screen.data(&format!("nobody holds `{name}`, nor a tenant node on it"));
    }
    session.showing.list(screen, &Value::from(holds.as_slice()), || holds_table(&holds, Clock::of_process()))
}

/// Tenants' clusters in the machine's resource group. A server without any kind of them has none.
async fn tenant_clusters_beside(session: &Session, machine: &Value) -> Result<Vec<Value>, Trouble> {
    let id = field(machine, "/id").unwrap_or_default();
    let (Some(subscription), Some(group)) = (segment_after(&id, "subscriptions"), segment_after(&id, "resourceGroups")) else {
        return Ok(Vec::new());
    };
    let segments = ["subscriptions", subscription, "resourceGroups", group, "providers", "Microsoft.NetworkCloud", "kubernetesClusters"];
    match session.client.list(&Target::arm(segments)).await {
        Err(trouble) if trouble.exit == Exit::NotFound => Ok(Vec::new()),
        listed => listed,
    }
}
