//! The transcripts of `docs/azure-cli.md`: what is typed, in the words of the extension `networkcloud` and without it.

/// A block of the page.
pub struct Scene {
    pub title: &'static str,
    pub about: &'static str,
    pub lines: &'static [Line],
}

/// One command, in both ways, and the exit code that it ends with in either. What only the extension can say in short is said by `az resource`
/// and `az rest` at length.
pub struct Line {
    pub networkcloud: &'static str,
    pub without: &'static str,
    pub code: i32,
}

const fn either(networkcloud: &'static str, without: &'static str) -> Line {
    Line { networkcloud, without, code: 0 }
}

const fn both(line: &'static str) -> Line {
    either(line, line)
}

impl Line {
    /// Of a command that is refused.
    const fn fails(self) -> Line {
        Line { code: 1, ..self }
    }
}

macro_rules! act {
    ($command:literal, $action:literal) => {
        either(
            concat!("az networkcloud baremetalmachine ", $command, " -n rack1compute01 -g site1 -o none"),
            concat!("az resource invoke-action --ids $machine --action ", $action, " -o none"),
        )
    };
}

const SHOW: Line = either(
    r#"az networkcloud baremetalmachine show -n rack1compute01 -g site1 --query "{name:name, provisioningState:provisioningState, powerState:powerState, readyState:readyState}" -o table"#,
    r#"az resource show --ids $machine --query "{name:name, provisioningState:properties.provisioningState, powerState:properties.powerState, readyState:properties.readyState}" -o table"#,
);

const HEALTH: Line = either(
    r#"az networkcloud baremetalmachine show -n rack1compute01 -g site1 --query "{name:name, powerState:powerState, readyState:readyState, detailedStatus:detailedStatus}" -o table"#,
    r#"az resource show --ids $machine --query "{name:name, powerState:properties.powerState, readyState:properties.readyState, detailedStatus:properties.detailedStatus}" -o table"#,
);

const WORKLOADS: Line = either(
    "az networkcloud baremetalmachine show -n rack1compute01 -g site1 --query associatedResourceIds -o json",
    "az resource show --ids $machine --query properties.associatedResourceIds -o json",
);

const CORDON_STATUS: Line = either(
    "az networkcloud baremetalmachine show -n rack1compute01 -g site1 --query cordonStatus -o tsv",
    "az resource show --ids $machine --query properties.cordonStatus -o tsv",
);

const VM: Line = either(
    r#"az networkcloud virtualmachine show --ids ${machine%/bare*}/virtualMachines/firewallvnf --query "{name:name, detailedStatus:detailedStatus, powerState:powerState}" -o table"#,
    r#"az resource show --ids ${machine%/bare*}/virtualMachines/firewallvnf --query "{name:name, detailedStatus:properties.detailedStatus, powerState:properties.powerState}" -o table"#,
);

const CLUSTER: Line = either(
    r#"az networkcloud kubernetescluster show --ids ${machine%/bare*}/kubernetesClusters/naks-01 --query "{name:name, detailedStatus:detailedStatus}" -o table"#,
    r#"az resource show --ids ${machine%/bare*}/kubernetesClusters/naks-01 --query "{name:name, detailedStatus:properties.detailedStatus}" -o table"#,
);

const EVACUATE: Line = either(
    r#"az networkcloud baremetalmachine cordon --evacuate "True" -n rack1compute01 -g site1 -o none"#,
    r#"az resource invoke-action --ids $machine --action cordon --request-body '{"evacuate": "True"}' -o none"#,
);

const UNCORDON: Line = act!("uncordon", "uncordon");

pub const SCENES: &[Scene] = &[
    Scene {
        title: "Look",
        about: "",
        lines: &[
            both("az group list -o table"),
            both("machine=$(az resource list -n rack1compute01 --query '[0].id' -o tsv); echo $machine"),
            either(
                r#"az networkcloud cluster list -g site1 --query "[].{name:name, version:clusterVersion, detailedStatus:detailedStatus}" -o table"#,
                r#"az rest --url "${machine%/bare*}/clusters?api-version=2026-07-01" --query "value[].{name:name, version:properties.clusterVersion, detailedStatus:properties.detailedStatus}" -o table"#,
            ),
            either(
                "az networkcloud rack list -g site1 --query [].name -o tsv",
                "az resource list -g site1 --resource-type Microsoft.NetworkCloud/racks --query [].name -o tsv",
            ),
            either(
                r#"az networkcloud baremetalmachine list -g site1 --query "sort_by([].{name:name,kubernetesNodeName:kubernetesNodeName,location:location,readyState:readyState,provisioningState:provisioningState,detailedStatus:detailedStatus,detailedStatusMessage:detailedStatusMessage,powerState:powerState,tags:tags.Status,machineRoles:join(', ', machineRoles),cordonStatus:cordonStatus,createdAt:systemData.createdAt}, &name)" -o table"#,
                r#"az rest --url "${machine%/*}?api-version=2026-07-01" --query "sort_by(value[].{name:name,kubernetesNodeName:properties.kubernetesNodeName,location:location,readyState:properties.readyState,provisioningState:properties.provisioningState,detailedStatus:properties.detailedStatus,detailedStatusMessage:properties.detailedStatusMessage,powerState:properties.powerState,tags:tags.Status,machineRoles:join(', ', properties.machineRoles),cordonStatus:properties.cordonStatus,createdAt:systemData.createdAt}, &name)" -o table"#,
            ),
        ],
    },
    Scene {
        title: "Power off, start, restart",
        about: "Each command waits until it is done; it ends with another exit code than 0 if that fails.",
        lines: &[
            act!("power-off", "powerOff"),
            act!("start", "start"),
            act!("restart", "restart"),
            either(
                "az networkcloud baremetalmachine show -n rack1compute01 -g site1 --query provisioningState",
                "az resource show --ids $machine --query properties.provisioningState",
            ),
        ],
    },
    Scene { title: "What is on a machine", about: "", lines: &[WORKLOADS, VM, CLUSTER] },
    Scene {
        title: "Reimage",
        about: "The machine is emptied before, and takes up work again afterwards; the virtual machines that ran there run again.",
        lines: &[EVACUATE, CORDON_STATUS, act!("reimage", "reimage"), UNCORDON, SHOW, VM, CLUSTER],
    },
    Scene {
        title: "Virtual machines",
        about: "",
        lines: &[
            either(
                "az networkcloud virtualmachine power-off -n router -g site1 -o none",
                "az resource invoke-action --ids ${machine%/bare*}/virtualMachines/router --action powerOff -o none",
            ),
            either(
                "az networkcloud virtualmachine start -n router -g site1 -o none",
                "az resource invoke-action --ids ${machine%/bare*}/virtualMachines/router --action start -o none",
            ),
            either(
                r#"az networkcloud virtualmachine show -n router -g site1 --query powerState -o tsv"#,
                r#"az resource show --ids ${machine%/bare*}/virtualMachines/router --query properties.powerState -o tsv"#,
            ),
        ],
    },
    Scene {
        title: "Replace",
        about: "A technician has exchanged the system board. What is new is named in the request; what differs otherwise fails the validation of the hardware.",
        lines: &[
            HEALTH,
            WORKLOADS,
            VM,
            CLUSTER,
            EVACUATE,
            both(
                "rackwright sim swap rack1compute01 --part system-board --serial NEW123 --bmc-mac 02:00:00:00:10:01 --boot-mac 02:00:00:00:10:02 --bmc-password came-with-it",
            ),
            both(r#"az resource wait --ids $machine --custom "properties.readyState=='False'" --interval 1 --timeout 300"#),
            either(
                r#"az networkcloud baremetalmachine replace --bmc-credentials password=came-with-it username=root --bmc-mac-address 02:00:00:00:10:01 --boot-mac-address 02:00:00:00:10:02 --machine-name rack1compute01 --serial-number NEW123 --storage-policy DiscardAll -n rack1compute01 -g site1 -o none"#,
                r#"az resource invoke-action --ids $machine --action replace --request-body '{"bmcCredentials": {"password": "came-with-it", "username": "root"}, "bmcMacAddress": "02:00:00:00:10:01", "bootMacAddress": "02:00:00:00:10:02", "machineName": "rack1compute01", "serialNumber": "NEW123", "storagePolicy": "DiscardAll"}' -o none"#,
            ),
            UNCORDON,
            SHOW,
            VM,
            CLUSTER,
        ],
    },
    Scene {
        title: "Without waiting",
        about: "What was asked for goes on by itself.",
        lines: &[
            either(
                "az networkcloud baremetalmachine restart -n rack2compute01 -g site1 --no-wait",
                "az resource invoke-action --ids ${machine%/*}/rack2compute01 --action restart --no-wait",
            ),
            both(
                r#"az resource wait --ids ${machine%/*}/rack2compute01 --custom "properties.actionStates[0].status=='Completed'" --interval 1 --timeout 300"#,
            ),
        ],
    },
    Scene {
        title: "What is refused",
        about: "The message says which rule, on what evidence, and what would help.",
        lines: &[either(
            "az networkcloud baremetalmachine start -n rack4control01 -g site1",
            "az resource invoke-action --ids ${machine%/*}/rack4control01 --action start",
        )
        .fails()],
    },
    Scene {
        title: "Locks",
        about: "",
        lines: &[
            both("az lock create -n keep -g site1 --lock-type CanNotDelete -o table"),
            both("az lock list -g site1 -o table"),
            either(
                "az networkcloud virtualmachine delete -n router -g site1 --yes",
                r#"az rest --method delete --url "${machine%/bare*}/virtualMachines/router?api-version=2026-07-01""#,
            )
            .fails(),
            both("az lock delete -n keep -g site1"),
        ],
    },
    Scene {
        title: "The activity log",
        about: "",
        lines: &[both(
            r#"az monitor activity-log list --resource-id $machine --max-events 1000 --query "[?caller=='administrator' && status.value!='Started'].{operation:operationName.localizedValue, status:status.value}" -o table"#,
        )],
    },
    Scene {
        title: "The SDK",
        about: "[azure_sdk.py](../examples/azure_sdk.py) restarts a machine with `azure-mgmt-networkcloud`, as whoever `az` is logged in as.",
        lines: &[both("python examples/azure_sdk.py $(az cloud show --query endpoints.resourceManager -o tsv) $machine")],
    },
];
