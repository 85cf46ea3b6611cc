//! The commands of the extension `networkcloud`, where there is one.

use expect_test::expect;

use crate::house::{House, extensions};

/// What people type, from the runbooks of Azure Operator Nexus: of each group of commands one that reads and one that acts.
#[test]
fn az_networkcloud_works_where_the_extension_is_installed() {
    if extensions().is_none() {
        println!("not tried: AZ_EXTENSION_WHL names no wheel of the extension networkcloud");
        return;
    }
    let house = House::open();
    let az = |line: &str| house.az_line(&format!("networkcloud {line} --only-show-errors"));
    let status = "--query '{name:name, provisioningState:provisioningState, powerState:powerState, readyState:readyState}' -o table";
    let show = format!("baremetalmachine show -n rack1compute01 -g site1 {status}");
    expect![[r"
        Name            ProvisioningState    PowerState    ReadyState
        --------------  -------------------  ------------  ------------
        rack1compute01  Succeeded            On            True
    "]]
    .assert_eq(&az(&show).normalised());
    let names = "--query [].name -o tsv";
    for group in ["cluster", "rack", "baremetalmachine", "virtualmachine", "kubernetescluster"] {
        let listed = az(&format!("{group} list -g site1 {names}"));
        assert!(!listed.fine().is_empty(), "{group}");
    }
    for verb in ["power-off", "start", "restart", "cordon --evacuate True", "reimage", "uncordon"] {
        az(&format!("baremetalmachine {verb} -n rack1compute01 -g site1")).fine();
    }
    assert_eq!(az("baremetalmachine restart -n rack2compute01 -g site1 --no-wait").code, 0);
    assert_eq!(az("baremetalmachine show -n nobody -g site1").code, 3);
    let refused = az("baremetalmachine start -n rack4control01 -g site1");
    assert!(refused.code == 1 && refused.err.contains("(MachineProvisioned)"), "{}{}", refused.out, refused.err);
}
