//! What becomes of the volumes of a machine that is replaced.

use expect_test::expect;
use model::{DeviceAsk, Role};

use super::stage::{REPLACE, target};
use super::steps::{check, exchanged};
use crate::rig::Rig;

#[test]
fn a_volume_that_stays_is_deleted_twice_and_then_given_up() {
    let change = |rig: &mut Rig| {
        exchanged(rig);
        rig.device(&target(Role::Compute)).board.parts.deletions_ignored = 2;
    };
    check(
        change,
        REPLACE,
        expect![[r#"
        Survey
          cordon
        Cordon
        Leave etcd left out: the machine has no member of etcd
        BMC Login
          validated: Pass 
        Hardware Validation
          graceful shutdown
        Power Off
        Wait for Deprovisioning
          volume OS is to go
          deletion of a volume
          deletion of a volume, attempt 2
        Failed (StorageFailed): replace failed: RAID cleanup failed with: raid deletion failed after 2 attempts (volume `OS`; the BMC took it, and nothing came of it). Left behind: power Off; holds installation by alice, operation op1
        next: rackwright bmm replace rack1compute01
        Error; installed nothing; held by installation by alice, operation op1 (its replace did not succeed); waits for a person: its installation failed
        serial sn2, login replace/1, described as sn; validated Pass; unhealthy: no
        volumes Some(["OS", "tenants"]), deleted []
    "#]],
    );
}

#[test]
fn a_volume_that_goes_at_the_second_time_is_gone() {
    let change = |rig: &mut Rig| {
        exchanged(rig);
        rig.device(&target(Role::Compute)).board.parts.deletions_ignored = 1;
    };
    check(
        change,
        REPLACE,
        expect![[r#"
        Survey
          cordon
        Cordon
        Leave etcd left out: the machine has no member of etcd
        BMC Login
          validated: Pass 
        Hardware Validation
          graceful shutdown
        Power Off
        Wait for Deprovisioning
          volume OS is to go
          deletion of a volume
          deletion of a volume, attempt 2
          volume tenants is to go
          deletion of a volume, attempt 3
        Discard Volumes
          making of the OS volume
        Make OS Volume
          insertion of the agent's image
        Insert Media
          boot from virtual media
        Boot Agent
          power-on for the agent
        Agent On
        Write Image
          power-off after the agent
        Agent Off
          ejection of the agent's image
        Eject Media
          boot from disk
        Boot Disk
        Join etcd left out: the machine has no member of etcd
          join token
        Mint Join Token
          power-on of the new system
        System On
        Phone Home
        Rejoin
        Promote in etcd left out: the machine has no member of etcd
          removal of the join token
        Drop Join Token
        Succeeded: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
        next: rackwright bmm uncordon rack1compute01
        Provisioned; installed 4.7.8; held by installation by alice, operation op1 (replaced; to be uncordoned by a person); waits for 
        serial sn2, login replace/1, described as sn; validated Pass; unhealthy: no
        volumes Some(["OS"]), deleted ["OS", "tenants"]
    "#]],
    );
}

#[test]
fn a_controller_that_makes_no_volumes_is_told_as_it_is() {
    let change = |rig: &mut Rig| {
        exchanged(rig);
        rig.device(&target(Role::Compute)).board.unknown.insert(DeviceAsk::MakeOsVolume);
    };
    check(
        change,
        REPLACE,
        expect![[r#"
            Survey
              cordon
            Cordon
            Leave etcd left out: the machine has no member of etcd
            BMC Login
              validated: Pass 
            Hardware Validation
              graceful shutdown
            Power Off
            Wait for Deprovisioning
              volume OS is to go
              deletion of a volume
              volume tenants is to go
              deletion of a volume, attempt 2
            Discard Volumes
              making of the OS volume
              making of the OS volume was answered: unsupported: no such action
            Failed (StorageFailed): replace failed: the system has no volume: the making of the OS volume was answered: unsupported: no such action. Left behind: power Off; holds installation by alice, operation op1
            next: rackwright bmm replace rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its replace did not succeed); waits for a person: its installation failed
            serial sn2, login replace/1, described as sn; validated Pass; unhealthy: no
            volumes Some([]), deleted ["OS", "tenants"]
        "#]],
    );
}
