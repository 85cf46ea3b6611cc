//! Writing what clients can write of a tenant cluster, or of one of its pools: tags, and how it is drained.

use std::collections::BTreeMap;

use model::{Conditions, DrainPolicy, Modified, PoolName, Refusal, Request, Rule, Settings, TenantCluster, TenantClusterName, Timestamp};

use crate::draft::Draft;
use crate::update::{Edited, check_editions};

/// What is `None` stays as it is.
pub(crate) struct Written<'a> {
    pub tags: Option<&'a BTreeMap<String, String>>,
    pub drain_policy: Option<DrainPolicy>,
    pub conditions: &'a Conditions,
}

pub(crate) fn find(draft: &Draft, name: &TenantClusterName) -> Result<TenantCluster, Refusal> {
    let clusters = &draft.after.tenant_clusters;
    clusters.get(name).map(|cluster| (**cluster).clone()).ok_or_else(|| Refusal {
        rule: Rule::TenantClusterExists,
        message: format!("there is no tenant cluster `{name}`"),
        evidence: vec![format!("none of the {} tenant clusters of cluster `{}` has that name", clusters.len(), draft.after.cluster.name)],
        remedy: "`rackwright kubernetescluster list` names them".into(),
    })
}

pub(crate) fn update(
    draft: &mut Draft,
    request: &Request,
    (name, pool): (&TenantClusterName, Option<&PoolName>),
    written: &Written<'_>,
    now: Timestamp,
) -> Result<(), Refusal> {
    let mut cluster = find(draft, name)?;
    let before = match pool {
        None => cluster.settings.clone(),
        Some(pool) => {
            let pool = find_pool(&cluster, pool)?;
            cluster.pools.get(&pool).cloned().unwrap_or_default()
        }
    };
    let Some(settings) = settings_after(request, &before, (name, pool), written, now)? else { return Ok(()) };
    match pool {
        None => cluster.settings = settings,
        Some(pool) => drop(cluster.pools.insert(pool.clone(), settings)),
    }
    draft.save_tenant_cluster(cluster);
    Ok(())
}

/// The settings as the request leaves them; nothing if it changes none. The same request sent again finds itself.
fn settings_after(
    request: &Request,
    before: &Settings,
    (name, pool): (&TenantClusterName, Option<&PoolName>),
    written: &Written<'_>,
    now: Timestamp,
) -> Result<Option<Settings>, Refusal> {
    let edited = match pool {
        None => edited("tenant cluster", name.to_string(), format!("rackwright kubernetescluster show {name}"), before),
        Some(pool) => edited("agent pool", format!("{name}/{pool}"), format!("rackwright agentpool show {name} {pool}"), before),
    };
    if edited.was_written_by(request) {
        return Ok(None);
    }
    check_editions(&edited, written.conditions)?;
    let tags = written.tags.unwrap_or(&before.tags);
    let drain_policy = written.drain_policy.or(before.drain_policy);
    if (tags, drain_policy) == (&before.tags, before.drain_policy) {
        return Ok(None);
    }
    let modified = Some(Modified { by: request.caller.clone(), at: now, request_key: request.key.clone() });
    Ok(Some(Settings { tags: tags.clone(), drain_policy, edition: before.edition + 1, modified }))
}

fn edited<'a>(noun: &'static str, name: String, show: String, settings: &'a Settings) -> Edited<'a> {
    Edited { noun, name, edition: settings.edition, modified: settings.modified.as_ref(), show }
}

fn find_pool(cluster: &TenantCluster, pool: &PoolName) -> Result<PoolName, Refusal> {
    let known = cluster.last_seen.pools.iter().find(|known| known.name == *pool);
    known.map(|known| known.name.clone()).ok_or_else(|| {
        let pools: Vec<String> = cluster.last_seen.pools.iter().map(|known| format!("`{}`", known.name)).collect();
        Refusal {
            rule: Rule::TenantClusterExists,
            message: format!("`{}` has no agent pool `{pool}`", cluster.name),
            evidence: vec![format!("its pools are: {}", if pools.is_empty() { "none".to_owned() } else { pools.join(", ") })],
            remedy: format!("`rackwright agentpool list {}` names them", cluster.name),
        }
    })
}
