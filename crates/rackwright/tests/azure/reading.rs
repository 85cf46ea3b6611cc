//! What `az` reads, and the tables that it makes of it.

use expect_test::{Expect, expect};

use crate::house::{House, SUBSCRIPTION};

#[test]
fn az_reads_what_there_is() {
    let house = House::open();
    let check = |line: &str, expected: Expect| expected.assert_eq(&house.az_line(line).normalised());
    check(
        "account list -o table",
        expect![[r#"
        Name        CloudName    SubscriptionId                        TenantId                              State    IsDefault
        ----------  -----------  ------------------------------------  ------------------------------------  -------  -----------
        Rackwright  Rackwright   00000000-0000-4000-8000-000000000001  00000000-0000-4000-8000-0000000000aa  Enabled  True
    "#]],
    );
    check(
        "account show --query '[environmentName, tenantId, user.type]' -o tsv",
        expect![[r#"
        Rackwright
        00000000-0000-4000-8000-0000000000aa
        servicePrincipal
    "#]],
    );
    check(
        "group list -o table",
        expect![[r#"
        Name    Location    Status
        ------  ----------  ---------
        site1   local       Succeeded
    "#]],
    );
    check(
        "group exists -n nowhere",
        expect![[r#"
        false
    "#]],
    );
    check(
        "provider list --query [].namespace -o tsv",
        expect![[r#"
        Microsoft.NetworkCloud
        Microsoft.Authorization
        Microsoft.Insights
        Microsoft.Resources
    "#]],
    );
    check(
        "resource list -g site1 --resource-type Microsoft.NetworkCloud/racks -o table",
        expect![[r#"
        Name    ResourceGroup    Location    Type                          Status
        ------  ---------------  ----------  ----------------------------  ---------
        rack1   site1            local       Microsoft.NetworkCloud/racks  Succeeded
        rack2   site1            local       Microsoft.NetworkCloud/racks  Succeeded
        rack3   site1            local       Microsoft.NetworkCloud/racks  Succeeded
        rack4   site1            local       Microsoft.NetworkCloud/racks  Succeeded
    "#]],
    );
    // What `az resource list` asks to be expanded.
    check(
        "resource list -n rack1compute01 --query '[].[name, provisioningState, createdTime, changedTime, extendedLocation.type]' -o tsv",
        expect![[r#"
            rack1compute01	Succeeded	2026-11-16T14:00:00	2026-11-16T14:00:00	CustomLocation
        "#]],
    );
    let url = format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.NetworkCloud/clusters?api-version=2026-07-01");
    check(
        &format!("rest --url {url} --query value[].properties.clusterVersion"),
        expect![[r#"
        [
          "4.9.2"
        ]
    "#]],
    );
    assert!(!house.home.path().join(".azure").exists(), "the profile of whoever runs this is left alone");
}
