use serde_json::json;

use super::*;

/// Nodes `a1`, `a2` in rack `a`, `b1` in rack `b`: 8 processors and 16 GiB each.
fn nodes() -> Vec<Value> {
    ["a1", "a2", "b1"].map(node).to_vec()
}

fn node(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": &name[..1]}},
        "spec": {},
        "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "10"}},
    })
}

fn pod(name: &str, app: &str, cpu: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "default", "labels": {"app": app}},
        "spec": {"containers": [{"resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]},
        "status": {"phase": "Pending"},
    })
}

fn on(mut pod: Value, node: &str) -> Value {
    pod["spec"]["nodeName"] = json!(node);
    pod["status"]["phase"] = json!("Running");
    pod
}

fn surroundings(nodes: &[Value], pods: &[Value], claims: &[Value]) -> Surroundings {
    let shared = |list: &[Value]| list.iter().cloned().map(Arc::new).collect();
    let mut around = Surroundings { nodes: shared(nodes), claims: shared(claims), ..Surroundings::default() };
    pods.iter().filter(|pod| !pod::is_finished(pod)).for_each(|pod| around.add(&Arc::new(pod.clone())));
    around
}

fn place_among(pod: &Value, nodes: &[Value], pods: &[Value]) -> Result<String, String> {
    place(pod, &surroundings(nodes, pods, &[])).map_err(|unplaceable| unplaceable.to_string())
}

fn placed(pod: &Value, pods: &[Value]) -> String {
    place_among(pod, &nodes(), pods).unwrap_or_else(|message| message)
}

fn term(app: &str, topology: &str) -> Value {
    json!({"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": topology})
}

const MACHINE: &str = "kubernetes.io/hostname";
const RACK: &str = "topology.kubernetes.io/zone";

fn hard(mut pod: Value, kind: &str, term: &Value) -> Value {
    pod["spec"]["affinity"][kind] = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
    pod
}

fn soft(mut pod: Value, kind: &str, term: &Value) -> Value {
    pod["spec"]["affinity"][kind] = json!({"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]});
    pod
}

#[test]
fn a_pod_goes_to_the_least_used_node_and_of_equals_to_the_first() {
    let web = pod("web", "web", "1");
    assert_eq!(placed(&web, &[]), "a1");
    assert_eq!(placed(&web, &[on(pod("x", "x", "1"), "a1")]), "a2");
    let finished = json!({"phase": "Succeeded"});
    let mut over = on(pod("x", "x", "8"), "a1");
    over["status"] = finished;
    assert_eq!(placed(&web, &[over]), "a1", "what is over takes no room");
}

#[test]
fn what_does_not_fit_says_what_is_missing_where() {
    let mut nodes = nodes();
    nodes[0]["spec"]["unschedulable"] = json!(true);
    nodes[1]["spec"]["taints"] = json!([{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]);
    let big = pod("big", "big", "9");
    assert_eq!(
        place_among(&big, &nodes, &[]),
        Err("0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, \
             1 node(s) were unschedulable."
            .to_owned())
    );
    let mut tolerant = pod("t", "t", "1");
    tolerant["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    assert_eq!(place_among(&tolerant, &nodes, &[]).as_deref(), Ok("a1"));
    assert_eq!(place_among(&big, &[], &[]), Err("no nodes available to schedule pods".to_owned()));
}

#[test]
fn a_node_that_lacks_two_things_counts_for_both() {
    let mut big = pod("big", "big", "9");
    big["spec"]["containers"][0]["resources"]["requests"]["memory"] = json!("17Gi");
    assert_eq!(placed(&big, &[]), "0/3 nodes are available: 3 Insufficient cpu, 3 Insufficient memory.");
    let mut full = nodes();
    full.iter_mut().for_each(|node| node["status"]["allocatable"]["pods"] = json!("0"));
    assert_eq!(place_among(&pod("one", "one", "1"), &full, &[]), Err("0/3 nodes are available: 3 Too many pods.".to_owned()));
}

#[test]
fn selectors_and_node_affinity_choose_nodes() {
    let mut picky = pod("p", "p", "1");
    picky["spec"]["nodeSelector"] = json!({RACK: "b"});
    assert_eq!(placed(&picky, &[]), "b1");
    picky["spec"]["nodeSelector"] = json!({RACK: "c"});
    assert_eq!(placed(&picky, &[]), "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.");
    let terms = |operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": MACHINE, "operator": operator, "values": values}]});
    let mut affine = pod("p", "p", "1");
    affine["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        json!({"nodeSelectorTerms": [terms("In", &["c1"]), terms("NotIn", &["a1", "b1"])]});
    assert_eq!(placed(&affine, &[]), "a2");
    let mut wishing = pod("p", "p", "1");
    wishing["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
        json!([{"weight": 100, "preference": terms("In", &["b1"])}]);
    assert_eq!(placed(&wishing, &[]), "b1");
    assert_eq!(placed(&wishing, &[on(pod("x", "x", "8"), "b1")]), "a1", "a wish gives way");
}

/// Affinity and anti-affinity, hard and soft, by machine and by rack: `db` runs on `a2`, and `b1` is full of others.
#[test]
fn pods_go_near_each_other_or_apart_as_they_say() {
    let there = [on(pod("db", "db", "1"), "a2"), on(pod("x", "x", "8"), "b1")];
    let web = || pod("web", "web", "1");
    let spread = "node(s) didn't match pod anti-affinity rules";
    for (what, asked, expected) in [
        ("affinity, hard, machine", hard(web(), "podAffinity", &term("db", MACHINE)), "a2".to_owned()),
        ("affinity, hard, rack", hard(web(), "podAffinity", &term("db", RACK)), "a1".to_owned()),
        ("affinity, soft, machine", soft(web(), "podAffinity", &term("db", MACHINE)), "a2".to_owned()),
        ("affinity, soft, rack", soft(web(), "podAffinity", &term("x", RACK)), "a1".to_owned()),
        ("anti-affinity, hard, machine", hard(web(), "podAntiAffinity", &term("db", MACHINE)), "a1".to_owned()),
        (
            "anti-affinity, hard, rack",
            hard(web(), "podAntiAffinity", &term("db", RACK)),
            format!("0/3 nodes are available: 1 Insufficient cpu, 2 {spread}."),
        ),
        ("anti-affinity, soft, machine", soft(web(), "podAntiAffinity", &term("db", MACHINE)), "a1".to_owned()),
        ("anti-affinity, soft, rack", soft(web(), "podAntiAffinity", &term("db", RACK)), "a1".to_owned()),
    ] {
        assert_eq!(placed(&asked, &there), expected, "{what}");
    }
    let lonely = hard(web(), "podAffinity", &term("absent", MACHINE));
    assert_eq!(placed(&lonely, &[]), "0/3 nodes are available: 3 node(s) didn't match pod affinity rules.");
    let first = hard(web(), "podAffinity", &term("web", MACHINE));
    assert_eq!(placed(&first, &[]), "a1", "the first of a group that keeps together may go anywhere");
}

#[test]
fn a_pod_that_wants_to_be_alone_is_left_alone() {
    let hermit = on(hard(pod("hermit", "h", "1"), "podAntiAffinity", &term("web", MACHINE)), "a1");
    assert_eq!(placed(&pod("web", "web", "1"), std::slice::from_ref(&hermit)), "a2");
    let only = [node("a1")];
    assert_eq!(
        place_among(&pod("web", "web", "1"), &only, &[hermit]),
        Err("0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.".to_owned())
    );
}

#[test]
fn spreading_keeps_the_skew_or_tries_to() {
    let spread = |when: &str| {
        let mut web = pod("web", "web", "1");
        web["spec"]["topologySpreadConstraints"] = json!([{
            "maxSkew": 1, "topologyKey": RACK, "whenUnsatisfiable": when, "labelSelector": {"matchLabels": {"app": "web"}},
        }]);
        web
    };
    let one = [on(pod("web-0", "web", "1"), "a1")];
    assert_eq!(placed(&spread("DoNotSchedule"), &one), "b1");
    assert_eq!(placed(&spread("ScheduleAnyway"), &one), "b1");
    let crowded = [on(pod("web-0", "web", "1"), "a1"), on(pod("x", "x", "8"), "b1")];
    assert_eq!(
        placed(&spread("DoNotSchedule"), &crowded),
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod topology spread constraints."
    );
    assert_eq!(placed(&spread("ScheduleAnyway"), &crowded), "a2");
    let unlabelled = [json!({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "10"}}})];
    assert_eq!(
        place_among(&spread("DoNotSchedule"), &unlabelled, &[]),
        Err("0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label).".to_owned())
    );
}

#[test]
fn local_storage_keeps_a_pod_where_it_first_was() {
    let mut pod = pod("db", "db", "1");
    pod["spec"]["volumes"] = json!([{"name": "disk", "persistentVolumeClaim": {"claimName": "db-os"}}]);
    let claim = json!({"metadata": {"name": "db-os", "namespace": "default", "annotations": {SELECTED_NODE: "b1"}}, "spec": {"storageClassName": LOCAL_STORAGE}});
    let mut nodes = nodes();
    let sight = |nodes: &[Value]| {
        let claims = std::slice::from_ref(&claim);
        place(&pod, &surroundings(nodes, &[], claims)).map_err(|unplaceable| unplaceable.to_string())
    };
    assert_eq!(sight(&nodes).as_deref(), Ok("b1"));
    nodes[2]["spec"]["unschedulable"] = json!(true);
    assert_eq!(
        sight(&nodes),
        Err("0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match PersistentVolume's node affinity.".to_owned())
    );
}

#[test]
fn pods_of_one_controller_spread_by_themselves() {
    let owned = |name: &str| {
        let mut pod = pod(name, "web", "100m");
        pod["metadata"]["ownerReferences"] = json!([{"uid": "rs", "controller": true}]);
        pod
    };
    let there = [on(owned("web-1"), "a1"), on(pod("x", "x", "4"), "a2"), on(pod("y", "y", "4"), "b1")];
    assert_eq!(placed(&owned("web-2"), &there), "a2");
}

#[test]
fn a_toleration_means_what_kubernetes_means() {
    let taint = json!({"key": "k", "value": "v", "effect": "NoExecute"});
    for (toleration, expected) in [
        (json!({"operator": "Exists"}), true),
        (json!({"operator": "Exists", "effect": "NoSchedule"}), false),
        (json!({"key": "k", "operator": "Exists", "effect": "NoExecute"}), true),
        (json!({"key": "k", "value": "v"}), true),
        (json!({"key": "k", "value": "w"}), false),
        (json!({"key": "other", "operator": "Exists"}), false),
    ] {
        assert_eq!(tolerates(&toleration, &taint), expected, "{toleration}");
    }
}
