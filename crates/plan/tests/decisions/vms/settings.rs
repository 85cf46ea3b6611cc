//! Tags and drain policies of tenant clusters and their pools.

use expect_test::expect;
use model::{DrainPolicy, PoolName, TenantClusterName};

use super::script::{check, play};

#[test]
fn settings_are_written_with_editions_and_unknown_ones_are_named() {
    check(
        "
        machine rack1compute01
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
        > alice policy naks-01 hold edition=1 key=k
        > alice policy naks-01 hold edition=1 key=k
        > alice policy naks-01 force edition=1
        > alice policy naks-01/agentpool1 force edition=1
        > alice policy naks-01/agentpool1 wait edition=1
        > alice policy naks-01/agentpool2 force
        > alice policy naks-02 force
        ",
        expect![[r#"
            10:00:00 > alice policy naks-01 hold edition=1 key=k
                     done
            10:00:00 > alice policy naks-01 hold edition=1 key=k
                     done
            10:00:00 > alice policy naks-01 force edition=1
                     refused: `naks-01` was not changed
                       rule precondition-failed: the request is meant for the etag "1", and the tenant cluster's is "2", written by alice at 10:00:00Z
                       remedy: read the tenant cluster again, and send what you want to change with its etag: `rackwright kubernetescluster show naks-01 --query etag -o tsv` tells it
            10:00:00 > alice policy naks-01/agentpool1 force edition=1
                     done
            10:00:00 > alice policy naks-01/agentpool1 wait edition=1
                     refused: `naks-01/agentpool1` was not changed
                       rule precondition-failed: the request is meant for the etag "1", and the agent pool's is "2", written by alice at 10:00:00Z
                       remedy: read the agent pool again, and send what you want to change with its etag: `rackwright agentpool show naks-01 agentpool1 --query etag -o tsv` tells it
            10:00:00 > alice policy naks-01/agentpool2 force
                     refused: `naks-01` has no agent pool `agentpool2`
                       rule tenant-cluster-exists: its pools are: `agentpool1`
                       remedy: `rackwright agentpool list naks-01` names them
            10:00:00 > alice policy naks-02 force
                     refused: there is no tenant cluster `naks-02`
                       rule tenant-cluster-exists: none of the 1 tenant clusters of cluster `site1` has that name
                       remedy: `rackwright kubernetescluster list` names them
        "#]],
    );
}

#[test]
fn a_pool_follows_its_cluster_until_it_says_otherwise_and_a_restart_forgets_nothing() {
    let (mut rig, _) = play(
        "
        machine rack1compute01
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
        node naks-01-agentpool2-a of naks-01 agentpool2 on rack1compute01
        > alice policy naks-01 hold
        > alice policy naks-01/agentpool1 force
        ",
    );
    rig.crash(model::Span::hours(1));
    rig.work(&mut |_, _, _, _| {});
    let cluster = &rig.snapshot.tenant_clusters[&TenantClusterName::new("naks-01").unwrap()];
    let policy = |pool: Option<&str>| cluster.drain_policy(pool.map(|pool| PoolName::new(pool).unwrap()).as_ref());
    assert_eq!(policy(None), DrainPolicy::Hold);
    assert_eq!(policy(Some("agentpool1")), DrainPolicy::Force);
    assert_eq!(policy(Some("agentpool2")), DrainPolicy::Hold);
}
