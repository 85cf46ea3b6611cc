//! Who keeps a machine and the tenant nodes on it cordoned, one line each.

use serde_json::{Value, json};

use super::clock::Clock;
use super::layout::Table;
use crate::cli::answer::{field, field_or_dash, is_true, items, short_id};
use crate::cli::screen::Tone;

/// Every hold on a machine and on the tenant nodes that run on it. `tenant_clusters` are those beside the machine.
pub fn holds_of(machine: &Value, tenant_clusters: &[Value]) -> Vec<Value> {
    let name = field_or_dash(machine, "/name");
    let own = items(machine, "/rackwright/holds")
        .iter()
        .map(|hold| json!({ "on": name, "kind": hold["kind"], "owner": hold["owner"], "reason": hold["reason"], "since": hold["since"] }));
    let by_hand = is_true(machine, "/rackwright/cordonedByOthers").then(|| {
        json!({ "on": name, "kind": "others", "owner": "somebody else", "reason": "its node was cordoned, not through Rackwright", "since": null })
    });
    let evacuated = items(machine, "/rackwright/evacuated/nodes");
    let operation = field_or_dash(machine, "/rackwright/evacuated/by");
    let ours = evacuated.iter().map(|node| {
        json!({
            "on": field_or_dash(node, "/node"),
            "tenantCluster": node["cluster"],
            "kind": "evacuation",
            "owner": format!("operation {}", short_id(&operation)),
            "reason": format!("cordoned with `{name}`; uncordoned with it"),
            "since": machine["rackwright"]["evacuated"]["since"],
        })
    });
    let is_ours =
        |cluster: &Value, node: &Value| evacuated.iter().any(|own| own["cluster"] == cluster["name"] && own["node"] == node["name"]);
    let others = tenant_clusters.iter().flat_map(|cluster| {
        let nodes = items(cluster, "/rackwright/nodes").iter().map(move |node| (cluster, node));
        nodes.filter(|(_, node)| is_true(node, "/cordoned") && field(node, "/machine").as_deref() == Some(&name))
    });
    let others = others.filter(|(cluster, node)| !is_ours(cluster, node)).map(|(cluster, node)| {
        json!({
            "on": node["name"],
            "tenantCluster": cluster["name"],
            "kind": "others",
            "owner": "somebody else",
            "reason": "cordoned, not through Rackwright; it stays so",
            "since": null,
        })
    });
    own.chain(by_hand).chain(ours).chain(others).collect()
}

pub fn holds_table(holds: &[Value], clock: Clock) -> Table {
    let mut table = Table::new(&["ON", "KIND", "HELD BY", "REASON", "SINCE"]);
    for hold in holds {
        let of = field(hold, "/tenantCluster").map(|cluster| format!(" ({cluster})")).unwrap_or_default();
        let cells = [
            format!("{}{of}", field_or_dash(hold, "/on")),
            field_or_dash(hold, "/kind"),
            field_or_dash(hold, "/owner"),
            field_or_dash(hold, "/reason"),
            clock.time(hold, "/since"),
        ];
        table.row(Tone::Plain, cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::cli::render::fixtures;

    #[test]
    fn each_hold_tells_its_owner_its_reason_and_since_when() {
        let mut machine = fixtures::machine_under_restart();
        machine["rackwright"]["holds"][0]["kind"] = json!("operation");
        machine["rackwright"]["holds"][1]["kind"] = json!("user");
        machine["rackwright"]["evacuated"] = json!({
            "by": "8f3c1a2b-0000", "since": "2026-11-15T14:02:11.000Z", "virtualMachines": ["n1"],
            "nodes": [{ "cluster": "naks-01", "node": "n1" }],
        });
        let node = |name: &str, machine: &str, cordoned: bool| json!({ "name": name, "machine": machine, "cordoned": cordoned });
        let on = "rack1compute01";
        let tenants =
            [json!({ "name": "naks-01", "rackwright": { "nodes": [node("n1", on, true), node("n2", on, true), node("n3", on, false),
            node("n4", "rack1compute02", true)] } })];
        let holds = holds_of(&machine, &tenants);
        expect![[r#"
            ON              KIND        HELD BY             REASON                                              SINCE
            rack1compute01  operation   operation 8f3c1a2b  being restarted                                     14:02:10Z
            rack1compute01  user        alice               cordoned by a person                                12:00:00Z
            n1 (naks-01)    evacuation  operation 8f3c1a2b  cordoned with `rack1compute01`; uncordoned with it  14:02:11Z
            n2 (naks-01)    others      somebody else       cordoned, not through Rackwright; it stays so       -
        "#]]
        .assert_eq(&holds_table(&holds, Clock::at(fixtures::NOW)).plain());
    }

    #[test]
    fn a_cordon_by_hand_is_told_though_nobody_knows_whose() {
        let mut machine = fixtures::machine("site1", "rack1compute01", "compute-plane");
        machine["rackwright"]["cordonedByOthers"] = json!(true);
        machine["rackwright"]["holds"] = json!([]);
        expect![[r#"
            ON              KIND    HELD BY        REASON                                         SINCE
            rack1compute01  others  somebody else  its node was cordoned, not through Rackwright  -
        "#]]
        .assert_eq(&holds_table(&holds_of(&machine, &[]), Clock::at(fixtures::NOW)).plain());
    }
}
