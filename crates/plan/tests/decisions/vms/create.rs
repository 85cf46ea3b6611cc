//! Virtual machines that are made: once, as they were described, and never over somebody else's.

use expect_test::expect;

use super::script::check;

#[test]
fn it_is_made_and_runs_and_the_same_again_changes_nothing() {
    check(
        "
        machine rack1compute01
        > alice create fw tag:row=7 key=k
        > alice create fw tag:row=7
        > alice create fw tag:row=7 key=k
        > wait 1m
        > alice create fw tag:row=7
        > alice create fw tag:row=8
        > alice create fw cores=6 image=fw:2
        ",
        expect![[r#"
            10:00:00 > alice create fw tag:row=7 key=k
                     accepted as op1
                     op1: asks for the creation of `fw`
                     op1 waits for the effect of the creation of `fw` since 10:00:00
                     fw: Provisioning, unseen, edition 1, tags {"row": "7"}
                     op1: Create seen
                     op1 waits for `fw` to be running since 10:00:00
                     fw: Provisioning, starting, edition 1, tags {"row": "7"}
            10:00:00 > alice create fw tag:row=7
                     accepted as op1
            10:00:00 > alice create fw tag:row=7 key=k
                     accepted as op1
            10:00:00 > wait 1m
            10:00:20 op1: Start seen
                     op1 Succeeded: `fw` was created
                     fw: Succeeded, running on rack1compute01, edition 1, tags {"row": "7"}
            10:01:00 > alice create fw tag:row=7
                     done
            10:01:00 > alice create fw tag:row=8
                     done
                     fw: Succeeded, running on rack1compute01, edition 2, tags {"row": "8"}
            10:01:00 > alice create fw cores=6 image=fw:2
                     refused: `fw` was not changed
                       rule vm-immutable: `properties.cpuCores`, `properties.vmImage` cannot be changed once a virtual machine is made
                       remedy: send what `rackwright vm show fw -o json` says, or delete it and create it anew
        "#]],
    );
}

#[test]
fn of_one_that_was_made_past_us_only_what_is_known_is_held_against_a_description() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > alice create fw image=other:1
        > alice create fw memory=16
        ",
        expect![[r#"
            10:00:00 > alice create fw image=other:1
                     done
            10:00:00 > alice create fw memory=16
                     refused: `fw` was not changed
                       rule vm-immutable: `properties.memorySizeGB` cannot be changed once a virtual machine is made
                       remedy: send what `rackwright vm show fw -o json` says, or delete it and create it anew
        "#]],
    );
}

#[test]
fn conditions_speak_of_what_is_there() {
    check(
        "
        machine rack1compute01
        > alice create fw edition=1
        > alice create fw edition=*
        > alice create fw edition!=*
        > wait 1m
        > alice create fw tag:row=7 edition!=*
        > alice create fw tag:row=7 edition=1
        > alice update fw tag:row=8 edition=1
        > alice update fw tag:row=8 edition=2 key=k
        > alice update fw tag:row=8 edition=2 key=k
        > alice delete fw edition=2
        > alice delete fw edition=3
        ",
        expect![[r#"
            10:00:00 > alice create fw edition=1
                     refused: `fw` was not created
                       rule precondition-failed: the request is meant for an etag of it, and there is no virtual machine `fw`
                       remedy: send it without If-Match to create it
            10:00:00 > alice create fw edition=*
                     refused: `fw` was not created
                       rule precondition-failed: the request is meant for one that is there, and there is no virtual machine `fw`
                       remedy: send it without If-Match to create it
            10:00:00 > alice create fw edition!=*
                     accepted as op3
                     op3: asks for the creation of `fw`
                     op3 waits for the effect of the creation of `fw` since 10:00:00
                     fw: Provisioning, unseen, edition 1
                     op3: Create seen
                     op3 waits for `fw` to be running since 10:00:00
                     fw: Provisioning, starting, edition 1
            10:00:00 > wait 1m
            10:00:20 op3: Start seen
                     op3 Succeeded: `fw` was created
                     fw: Succeeded, running on rack1compute01, edition 1
            10:01:00 > alice create fw tag:row=7 edition!=*
                     refused: `fw` was not changed
                       rule precondition-failed: the request is meant for a virtual machine that is not there, and the virtual machine's is "1", written by alice at 10:00:00Z
                       remedy: read the virtual machine again, and send what you want to change with its etag: `rackwright vm show fw --query etag -o tsv` tells it
            10:01:00 > alice create fw tag:row=7 edition=1
                     done
                     fw: Succeeded, running on rack1compute01, edition 2, tags {"row": "7"}
            10:01:00 > alice update fw tag:row=8 edition=1
                     refused: `fw` was not changed
                       rule precondition-failed: the request is meant for the etag "1", and the virtual machine's is "2", written by alice at 10:01:00Z
                       remedy: read the virtual machine again, and send what you want to change with its etag: `rackwright vm show fw --query etag -o tsv` tells it
            10:01:00 > alice update fw tag:row=8 edition=2 key=k
                     done
                     fw: Succeeded, running on rack1compute01, edition 3, tags {"row": "8"}
            10:01:00 > alice update fw tag:row=8 edition=2 key=k
                     done
            10:01:00 > alice delete fw edition=2
                     refused: `fw` was not changed
                       rule precondition-failed: the request is meant for the etag "2", and the virtual machine's is "3", written by alice at 10:01:00Z
                       remedy: read the virtual machine again, and send what you want to change with its etag: `rackwright vm show fw --query etag -o tsv` tells it
            10:01:00 > alice delete fw edition=3
                     accepted as op10
                     op10: asks for the deletion of `fw`
                     op10 waits for the effect of the deletion of `fw` since 10:01:00
                     fw: Succeeded, being deleted on rack1compute01, edition 3, tags {"row": "8"}
        "#]],
    );
}

#[test]
fn hints_name_what_is_there() {
    check(
        "
        machine rack1compute01
        vm db running rack1compute01
        > alice create fw near=vm:nobody
        > alice create fw near=vm:fw
        > alice create fw near=machine:rack9compute01
        > alice create fw near=rack:rack9
        > alice create fw near=rack:rack1
        > alice create web near=vm:db
        ",
        expect![[r#"
            10:00:00 > alice create fw near=vm:nobody
                     refused: `fw` cannot be created
                       rule vm-placement: `properties.placementHints[0].resourceId` names `nobody`, and there is no such virtual machine
                       remedy: name a virtual machine, a machine or a rack of this cluster: `rackwright vm list`, `rackwright bmm list`
            10:00:00 > alice create fw near=vm:fw
                     refused: `fw` cannot be created
                       rule vm-placement: `properties.placementHints[0].resourceId` names the virtual machine itself
                       remedy: name a virtual machine, a machine or a rack of this cluster: `rackwright vm list`, `rackwright bmm list`
            10:00:00 > alice create fw near=machine:rack9compute01
                     refused: `fw` cannot be created
                       rule vm-placement: `properties.placementHints[0].resourceId` names `rack9compute01`, and there is no such machine
                       remedy: name a virtual machine, a machine or a rack of this cluster: `rackwright vm list`, `rackwright bmm list`
            10:00:00 > alice create fw near=rack:rack9
                     refused: `fw` cannot be created
                       rule vm-placement: `properties.placementHints[0].resourceId` names `rack9`, and there is no machine in such a rack
                       remedy: name a virtual machine, a machine or a rack of this cluster: `rackwright vm list`, `rackwright bmm list`
            10:00:00 > alice create fw near=rack:rack1
                     accepted as op5
                     op5: asks for the creation of `fw`
                     op5 waits for the effect of the creation of `fw` since 10:00:00
                     fw: Provisioning, unseen, edition 1
                     op5: Create seen
                     op5 waits for `fw` to be running since 10:00:00
                     fw: Provisioning, starting, edition 1
            10:00:00 > alice create web near=vm:db
                     accepted as op6
                     op6: asks for the creation of `web`
                     op6 waits for the effect of the creation of `web` since 10:00:00
                     web: Provisioning, unseen, edition 1
                     op6: Create seen
                     op6 waits for `web` to be running since 10:00:00
                     web: Provisioning, starting, edition 1
        "#]],
    );
}

#[test]
fn a_name_that_somebody_else_takes_first_is_theirs() {
    check(
        "
        machine rack1compute01
        > refuse busy
        > alice create fw
        > fw is-made-anew
        > wait 5s
        ",
        expect![[r#"
            10:00:00 > refuse busy
            10:00:00 > alice create fw
                     accepted as op1
                     op1: asks for the creation of `fw`
                     op1 waits for the effect of the creation of `fw` since 10:00:00
                     fw: Provisioning, unseen, edition 1
                     op1: the creation of `fw` was answered: busy: as the story says
                     op1 waits for the undercloud (busy: as the story says) since 10:00:00
            10:00:00 > fw is-made-anew
                     op1 Failed (VmFailed): create failed: somebody else made a virtual machine of that name meanwhile. Left behind: running
                       next: rackwright vm show fw
                     fw: Succeeded, running on rack1compute01, edition 1
            10:00:00 > wait 5s
        "#]],
    );
}

#[test]
fn a_creation_that_came_to_nothing_stays_until_it_is_deleted_or_asked_for_again() {
    check(
        "
        machine rack1compute01
        > refuse unsupported
        > alice create fw
        > alice start fw
        > obey
        > alice create fw cores=6
        > wait 1m
        > refuse unsupported
        > alice create web
        > alice delete web
        ",
        expect![[r#"
            10:00:00 > refuse unsupported
            10:00:00 > alice create fw
                     accepted as op1
                     op1: asks for the creation of `fw`
                     op1 waits for the effect of the creation of `fw` since 10:00:00
                     fw: Provisioning, unseen, edition 1
                     op1: the creation of `fw` was answered: unsupported: as the story says
                     op1 Failed (DeviceUnsupported): create failed: the creation of `fw` was answered: unsupported: as the story says. Left behind: no such virtual machine
                       next: rackwright vm delete fw
                     fw: Failed, unseen, edition 1
            10:00:00 > alice start fw
                     refused: `fw` cannot be started
                       rule vm-provisioning: the creation of `fw` came to nothing: there is no such virtual machine in the undercloud
                       remedy: create it again, or remove it with `rackwright vm delete fw`
            10:00:00 > obey
            10:00:00 > alice create fw cores=6
                     accepted as op3
                     op3: asks for the creation of `fw`
                     op3 waits for the effect of the creation of `fw` since 10:00:00
                     fw: Provisioning, unseen, edition 2
                     op3: Create seen
                     op3 waits for `fw` to be running since 10:00:00
                     fw: Provisioning, starting, edition 2
            10:00:00 > wait 1m
            10:00:20 op3: Start seen
                     op3 Succeeded: `fw` was created
                     fw: Succeeded, running on rack1compute01, edition 2
            10:01:00 > refuse unsupported
            10:01:00 > alice create web
                     accepted as op4
                     op4: asks for the creation of `web`
                     op4 waits for the effect of the creation of `web` since 10:01:00
                     web: Provisioning, unseen, edition 1
                     op4: the creation of `web` was answered: unsupported: as the story says
                     op4 Failed (DeviceUnsupported): create failed: the creation of `web` was answered: unsupported: as the story says. Left behind: no such virtual machine
                       next: rackwright vm delete web
                     web: Failed, unseen, edition 1
            10:01:00 > alice delete web
                     accepted as op5
                     op5: Delete seen
                     op5 Succeeded: `web` was deleted
                     web is forgotten
        "#]],
    );
}

#[test]
fn one_that_no_machine_can_take_was_created_all_the_same_and_comes_up_later() {
    check(
        "
        machine rack1compute01
        > new finds-no-machine 0/4 nodes are available
        > alice create fw
        > wait 31m
        > fw runs
        > fw fails CrashLoopBackOff
        ",
        expect![[r#"
            10:00:00 > new finds-no-machine 0/4 nodes are available
            10:00:00 > alice create fw
                     accepted as op1
                     op1: asks for the creation of `fw`
                     op1 waits for the effect of the creation of `fw` since 10:00:00
                     fw: Provisioning, unseen, edition 1
                     op1: Create seen
                     op1 waits for `fw` to run (0/4 nodes are available) since 10:00:00
                     fw: Provisioning, without a machine that can take it, edition 1
            10:00:00 > wait 31m
            10:30:00 op1 Failed (VmFailed): create failed: `fw` did not run in time: 0/4 nodes are available. Left behind: without a machine that can take it
                       next: rackwright vm show fw
                     fw: Failed, without a machine that can take it, edition 1
            10:31:00 > fw runs
                     fw: Succeeded, running on rack1compute01, edition 1
            10:31:00 > fw fails CrashLoopBackOff
                     fw: Succeeded, failing on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn secrets_that_nothing_refers_to_any_more_are_abandoned() {
    use model::SecretRef;
    let (rig, _) = super::script::play("machine rack1compute01\nvm fw stopped rack1compute01\nvm db stopped rack1compute01");
    let mut before = rig.snapshot.clone();
    let with = |name: &str, user_data: &str| {
        let mut vm = (*rig.snapshot.vms[&model::VmName::new(name).unwrap()]).clone();
        vm.spec.user_data = Some(SecretRef::new(user_data));
        vm.spec.network_data = Some(SecretRef::new("network"));
        vm
    };
    for vm in [with("fw", "first"), with("db", "other")] {
        before.vms.insert(vm.name.clone(), std::sync::Arc::new(vm));
    }
    let mut plan = plan::Plan::default();
    assert_eq!(plan.abandoned_secrets(&before), []);
    plan.changes.vms = [with("fw", "second")].map(|vm| (vm.name.clone(), vm)).into();
    assert_eq!(plan.abandoned_secrets(&before), [SecretRef::new("first")], "what it still refers to is kept");
    plan.changes.forgotten_vms = [model::VmName::new("db").unwrap()].into();
    assert_eq!(plan.abandoned_secrets(&before), ["first", "other", "network"].map(SecretRef::new));
}
