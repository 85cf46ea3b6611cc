//! Tenants' Kubernetes clusters and their pools, as tables and one by one.

use serde_json::Value;

use super::clock::Clock;
use super::layout::{Fact, Table, facts};
use super::racks::{cluster_of, group_of};
use super::vms::{operation_in, tags_of};
use crate::cli::answer::{field, field_or_dash, is_true, items, segment_after};
use crate::cli::screen::{Sheet, Tone};

pub fn tenant_cluster_table(clusters: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "GROUP", "VERSION", "STATUS", "NODES", "READY", "CORDONED", "DRAIN"]);
    for cluster in clusters {
        let nodes = items(cluster, "/rackwright/nodes");
        table.row(
            tone(cluster),
            [
                field_or_dash(cluster, "/name"),
                group_of(cluster),
                field_or_dash(cluster, "/properties/kubernetesVersion"),
                field_or_dash(cluster, "/properties/detailedStatus"),
                nodes.len().to_string(),
                nodes.iter().filter(|node| node["ready"] == "True").count().to_string(),
                nodes.iter().filter(|node| is_true(node, "/cordoned")).count().to_string(),
                field_or_dash(cluster, "/properties/drainPolicy"),
            ],
        );
    }
    table
}

pub fn tenant_cluster_sheet(cluster: &Value, clock: Clock) -> Sheet {
    let text = |pointer| field_or_dash(cluster, pointer);
    let status = format!("{}: {}", text("/properties/detailedStatus"), text("/properties/detailedStatusMessage"));
    let mut lines = vec![
        (Tone::Strong, "Kubernetes cluster", text("/name")),
        (Tone::Plain, "cluster", format!("{}, resource group {}", cluster_of(cluster), group_of(cluster))),
        (Tone::Plain, "version", text("/properties/kubernetesVersion")),
        (tone(cluster), "status", status),
        drain_policy(cluster),
    ];
    if let Some(fault) = field(cluster, "/rackwright/apiFault/fault") {
        lines.push((Tone::Alarm, "API fault", format!("{fault}, since {}", clock.time(cluster, "/rackwright/apiFault/since"))));
    }
    lines.extend(tags_of(cluster));
    let mut sheet = facts(&lines);
    sheet.gap();
    sheet.append(nodes(cluster, clock).into_sheet(), "");
    sheet
}

/// Its nodes with the machines that they are on.
fn nodes(cluster: &Value, clock: Clock) -> Table {
    let mut table = Table::new(&["NODE", "POOL", "MACHINE", "POWER", "READY", "CORDON", "SINCE", "OPERATION"]);
    for (node, beyond) in items(cluster, "/properties/nodes").iter().zip(items(cluster, "/rackwright/nodes")) {
        let ready = match beyond["ready"].as_str() {
            Some("True") => "yes",
            Some("False") => "no",
            _ => "silent",
        };
        let cordoned = is_true(beyond, "/cordoned");
        let tone = if ready != "yes" {
            Tone::Alarm
        } else if cordoned {
            Tone::Notice
        } else {
            Tone::Plain
        };
        let control_plane = || if node["role"] == "ControlPlane" { "(control plane)".to_owned() } else { "-".to_owned() };
        table.row(
            tone,
            [
                field_or_dash(node, "/name"),
                field(beyond, "/pool").unwrap_or_else(control_plane),
                field_or_dash(beyond, "/machine"),
                field_or_dash(node, "/powerState"),
                ready.to_owned(),
                if cordoned { "cordoned" } else { "-" }.to_owned(),
                clock.time(beyond, "/since"),
                operation_in(beyond, "/operation").unwrap_or_else(|| "-".to_owned()),
            ],
        );
    }
    table
}

pub fn pool_table(pools: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "KUBERNETES CLUSTER", "VERSION", "STATUS", "NODES", "READY", "DRAIN"]);
    for pool in pools {
        table.row(
            tone(pool),
            [
                field_or_dash(pool, "/name"),
                tenant_of(pool),
                field_or_dash(pool, "/properties/kubernetesVersion"),
                field_or_dash(pool, "/properties/detailedStatus"),
                field_or_dash(pool, "/properties/count"),
                field_or_dash(pool, "/rackwright/readyNodes"),
                field_or_dash(pool, "/properties/drainPolicy"),
            ],
        );
    }
    table
}

pub fn pool_sheet(pool: &Value) -> Sheet {
    let text = |pointer| field_or_dash(pool, pointer);
    let status = format!("{}: {}", text("/properties/detailedStatus"), text("/properties/detailedStatusMessage"));
    let mut lines = vec![
        (Tone::Strong, "pool", text("/name")),
        (Tone::Plain, "Kubernetes cluster", tenant_of(pool)),
        (Tone::Plain, "version", text("/properties/kubernetesVersion")),
        (Tone::Plain, "nodes", text("/properties/count")),
        (tone(pool), "status", status),
        drain_policy(pool),
    ];
    lines.extend(tags_of(pool));
    facts(&lines)
}

/// What it is, and who says so.
fn drain_policy(resource: &Value) -> Fact<'static> {
    let from = match resource["rackwright"]["drainPolicyFrom"].as_str() {
        Some("pool") => "set for the pool",
        Some("cluster") => "set for the cluster",
        _ => "the default",
    };
    (Tone::Plain, "drain policy", format!("{}, {from}", field_or_dash(resource, "/properties/drainPolicy")))
}

fn tenant_of(pool: &Value) -> String {
    let id = field_or_dash(pool, "/id");
    segment_after(&id, "kubernetesClusters").unwrap_or("-").to_owned()
}

fn tone(resource: &Value) -> Tone {
    match resource["properties"]["detailedStatus"].as_str() {
        Some("Error") => Tone::Alarm,
        Some("Provisioning") => Tone::Notice,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixtures;
    use expect_test::expect;

    #[test]
    fn clusters_and_pools_are_counted() {
        let clusters = tenant_cluster_table(&[fixtures::tenant_cluster()]).plain();
        let pools = pool_table(&[fixtures::pool()]).plain();
        expect![[r#"
            NAME     GROUP  VERSION  STATUS     NODES  READY  CORDONED  DRAIN
            naks-01  site1  v1.31.4  Available  2      2      1         wait
            NAME        KUBERNETES CLUSTER  VERSION  STATUS     NODES  READY  DRAIN
            agentpool1  naks-01             v1.31.4  Available  2      2      hold
        "#]]
        .assert_eq(&format!("{clusters}{pools}"));
    }

    #[test]
    fn a_cluster_tells_which_node_is_on_which_machine() {
        expect![[r#"
            Kubernetes cluster  naks-01
            cluster             cluster1, resource group site1
            version             v1.31.4
            status              Available: provisioned
            drain policy        wait, the default
            tags                owner=net

            NODE                               POOL             MACHINE         POWER  READY  CORDON    SINCE                 OPERATION
            naks-01-control-plane-x7k2p        (control plane)  rack1compute01  On     yes    -         2026-11-14 14:00:00Z  -
            naks-01-agentpool1-md-tjr8k-4qqx4  agentpool1       rack1compute02  On     yes    cordoned  2026-11-14 14:00:00Z  -
        "#]]
        .assert_eq(&tenant_cluster_sheet(&fixtures::tenant_cluster(), Clock::at(fixtures::NOW)).plain());
    }

    #[test]
    fn a_pool_tells_where_its_drain_policy_comes_from() {
        expect![[r#"
            pool                agentpool1
            Kubernetes cluster  naks-01
            version             v1.31.4
            nodes               2
            status              Available: 2 of 2 nodes ready
            drain policy        hold, set for the cluster
            tags                owner=net
        "#]]
        .assert_eq(&pool_sheet(&fixtures::pool()).plain());
    }
}
