use std::collections::BTreeSet;

use super::built_in::{
    COMPUTE_CONTRIBUTOR, KEYSET_ADMINISTRATOR, OWNER, READER, TENANT_KUBERNETES_CONTRIBUTOR, TENANT_READER, TENANT_VM_CONTRIBUTOR,
};
use super::*;
use crate::pattern::Pattern;

/// A column of the table: who is granted a permission, by a letter each.
const LETTERS: [(char, Role); 7] = [
    ('O', OWNER),
    ('R', READER),
    ('C', COMPUTE_CONTRIBUTOR),
    ('K', KEYSET_ADMINISTRATOR),
    ('v', TENANT_VM_CONTRIBUTOR),
    ('k', TENANT_KUBERNETES_CONTRIBUTOR),
    ('r', TENANT_READER),
];

fn granted_to(permission: &str) -> String {
    let permission = Permission::new(permission).unwrap();
    LETTERS.iter().filter(|(_, role)| role.grants(&permission)).map(|(letter, _)| *letter).collect()
}

#[test]
fn each_role_grants_what_it_says() {
    let table = [
        ("bareMetalMachines/read", "ORC"),
        ("bareMetalMachines/write", "OC"),
        ("bareMetalMachines/cordon/action", "OC"),
        ("bareMetalMachines/uncordon/action", "OC"),
        ("bareMetalMachines/powerOff/action", "OC"),
        ("bareMetalMachines/start/action", "OC"),
        ("bareMetalMachines/restart/action", "OC"),
        ("bareMetalMachines/reimage/action", "OC"),
        ("bareMetalMachines/replace/action", "OC"),
        ("bareMetalMachines/runReadCommands/action", "OC"),
        ("bareMetalMachines/runDataExtracts/action", "OC"),
        ("bareMetalMachines/runDataExtractsRestricted/action", "OC"),
        ("bareMetalMachines/runCommand/action", "O"),
        ("BAREMETALMACHINES/RUNCOMMAND/ACTION", "O"),
        ("bareMetalMachines/hardwareValidation/read", "ORC"),
        ("racks/read", "ORC"),
        ("clusters/read", "ORC"),
        ("clusters/write", "OC"),
        ("clusters/deploy/action", "OC"),
        ("clusters/updateVersion/action", "OC"),
        ("clusters/continueUpdateVersion/action", "OC"),
        ("clusters/scanRuntime/action", "OC"),
        ("clusters/inspect/action", "O"),
        ("clusters/runtimes/read", "ORC"),
        ("clusters/runtimes/write", "O"),
        ("clusters/bmcKeySets/read", "ORCK"),
        ("clusters/bmcKeySets/write", "OK"),
        ("clusters/bareMetalMachineKeySets/read", "ORCK"),
        ("clusters/bareMetalMachineKeySets/delete", "OK"),
        ("virtualMachines/read", "ORvr"),
        ("virtualMachines/write", "Ov"),
        ("virtualMachines/consoles/read", "ORvr"),
        ("virtualMachines/reimage/action", "Ov"),
        ("kubernetesClusters/read", "ORkr"),
        ("kubernetesClusters/agentPools/read", "ORkr"),
        ("kubernetesClusters/agentPools/write", "Ok"),
        ("locations/operationStatuses/read", "ORCvkr"),
    ];
    for (permission, expected) in table {
        assert_eq!(granted_to(&format!("Microsoft.NetworkCloud/{permission}")), expected, "{permission}");
    }
    assert_eq!(granted_to("Microsoft.Authorization/locks/write"), "O");
    assert_eq!(granted_to("Microsoft.Authorization/roleAssignments/write"), "O");
    assert_eq!(granted_to("Microsoft.Authorization/roleAssignments/read"), "ORC");
    assert_eq!(granted_to("Microsoft.Resources/subscriptions/resourceGroups/read"), "ORCKvkr");
    assert_eq!(granted_to("Microsoft.Insights/eventtypes/values/read"), "ORCvkr");
    assert_eq!(granted_to("Rackwright/backup/action"), "O");
}

#[test]
fn roles_are_found_by_id_and_by_name_and_each_has_its_own() {
    let ids: BTreeSet<RoleId> = BUILT_IN.iter().map(|role| role.id).collect();
    assert_eq!(ids.len(), BUILT_IN.len());
    for role in &BUILT_IN {
        assert_eq!(find(role.id), Some(role));
        assert_eq!(find_by_name(&role.name.to_uppercase()), Some(role));
        assert!(role.actions.iter().chain(role.not_actions).all(|pattern| Pattern::new(pattern).is_ok()), "{}", role.name);
    }
    assert_eq!(find_by_name("Root"), None);
    assert_eq!(OWNER.id.to_string(), "8e3af657-a8ff-443c-a75c-2fe8c4bcb635");
}
