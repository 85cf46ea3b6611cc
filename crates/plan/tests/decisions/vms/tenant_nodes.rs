//! The restart of a tenant cluster's node.

use expect_test::expect;

use super::script::check;

#[test]
fn a_tenant_node_is_restarted_without_a_shutdown() {
    check(
        "
        machine rack1compute01
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
        > alice restart-node naks-01 naks-01-agentpool1-a
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > alice restart-node naks-01 naks-01-agentpool1-a
                     accepted as op1
                     op1: asks for the forced stop of `naks-01-agentpool1-a`
                     op1 waits for 1 virtual machine to stop: naks-01-agentpool1-a since 10:00:00
            10:00:00 > wait 1m
            10:00:03 op1: Stop seen
                     op1: asks for the start of `naks-01-agentpool1-a`
                     op1 waits for `naks-01-agentpool1-a` to be running since 10:00:03
            10:00:23 op1: Start seen
                     op1 Succeeded: `naks-01-agentpool1-a` was restarted
        "#]],
    );
}

#[test]
fn a_tenant_node_whose_virtual_machine_vanishes_in_between_has_failed() {
    check(
        "
        machine rack1compute01
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
        > hang
        > alice restart-node naks-01 naks-01-agentpool1-a
        > naks-01-agentpool1-a vanishes
        ",
        expect![[r#"
            10:00:00 > hang
            10:00:00 > alice restart-node naks-01 naks-01-agentpool1-a
                     accepted as op1
                     op1: asks for the forced stop of `naks-01-agentpool1-a`
                     op1 waits for 1 virtual machine to stop: naks-01-agentpool1-a since 10:00:00
            10:00:00 > naks-01-agentpool1-a vanishes
                     op1 Failed (DeviceMissing): restart-node failed: there is no virtual machine `naks-01-agentpool1-a` in the undercloud any more. Left behind: no such virtual machine
                       next: rackwright kubernetescluster show naks-01
        "#]],
    );
}
