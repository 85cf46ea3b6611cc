use std::slice::from_ref;

use expect_test::expect;
use serde_json::json;

use super::*;

#[test]
fn a_principal_is_shown_without_its_secrets() {
    let principal = json!({
        "id": "o1", "clientId": "c1", "tenantId": "t1", "displayName": "pipeline", "enabled": false, "createdAt": "2026-11-16T10:00:00.000Z",
        "secrets": [{ "id": "s1", "hint": "abc", "expiresAt": "2027-01-01T00:00:00.000Z", "displayName": "first" }],
        "certificates": [{ "sha256": "Tc1f", "notAfter": "2036-11-13T16:19:08.000Z" }],
    });
    expect![[r#"
        principal     pipeline
        state         disabled
        client id     c1
        object id     o1
        tenant        t1
        made          2026-11-16T10:00:00.000Z
        secrets       s1 first, abc…, until 2027-01-01T00:00:00.000Z
        certificates  Tc1f, until 2036-11-13T16:19:08.000Z
    "#]]
    .assert_eq(&principal_sheet(&principal).plain());
    expect![[r#"
        NAME      CLIENT ID  OBJECT ID  STATE     SECRETS  CERTIFICATES
        pipeline  c1         o1         disabled  1        1
    "#]]
    .assert_eq(&principal_table(from_ref(&principal)).plain());
}

#[test]
fn locks_policies_and_quotas_are_told_in_a_line_each() {
    let lock = json!({
        "id": "/subscriptions/s1/providers/Microsoft.Authorization/locks/keep", "name": "keep",
        "properties": { "level": "ReadOnly" },
    });
    let of_all = json!({ "id": "/providers/Microsoft.Authorization/locks/all", "name": "all", "properties": { "level": "CanNotDelete", "notes": "why" } });
    expect![[r#"
        NAME  LEVEL         SCOPE              NOTES
        keep  ReadOnly      /subscriptions/s1  -
        all   CanNotDelete  /                  why
    "#]]
    .assert_eq(&lock_table(&[lock, of_all]).plain());
    let conditions = json!([{ "field": "tags.owner", "exists": false }, { "field": "name", "in": ["a", "b"] }]);
    let policy = json!({ "name": "owners", "properties": { "scope": "/", "reason": "say whose it is", "conditions": conditions } });
    expect![[r#"
        NAME    SCOPE  CONDITIONS                                 REASON
        owners  /      tags.owner exists false and name in [a,b]  say whose it is
    "#]]
    .assert_eq(&policy_table(from_ref(&policy)).plain());
    expect![[r#"
        policy        owners
        called        -
        scope         /
        reason        say whose it is
        denies where  tags.owner exists false
        and           name in [a,b]
    "#]]
    .assert_eq(&policy_sheet(&policy).plain());
    let quota = json!({ "subscriptionId": "s1", "limits": { "cores": 8 }, "used": { "cores": 4, "virtualMachines": 1, "networks": 0 } });
    expect![[r#"
        subscription      s1
        cores             4 of 8
        virtual machines  1 of none
        networks          0 of none
    "#]]
    .assert_eq(&quota_sheet(&quota).plain());
}

#[test]
fn an_assignment_names_its_role() {
    let roles = [json!({ "name": "r1", "properties": { "roleName": "Reader" } })];
    let assignment = json!({ "properties": {
        "roleDefinitionId": "/subscriptions/s1/providers/Microsoft.Authorization/roleDefinitions/r1",
        "principalId": "p1", "principalType": "User", "scope": "/", "createdBy": "ops",
    } });
    expect![[r#"
        PRINCIPAL  TYPE  ROLE    SCOPE  BY
        p1         User  Reader  /      ops
    "#]]
    .assert_eq(&assignment_table(from_ref(&assignment), &roles).plain());
}

#[test]
fn a_subscription_tells_whether_it_may_be_changed() {
    let closed = json!({ "subscriptionId": "s1", "displayName": "Rackwright", "state": "Disabled" });
    expect![[r#"
        SUBSCRIPTION  NAME        STATE
        s1            Rackwright  Disabled
    "#]]
    .assert_eq(&subscription_table(from_ref(&closed)).plain());
    let left = json!({ "namespace": "Microsoft.NetworkCloud", "registrationState": "Unregistered" });
    expect![[r#"
        SUBSCRIPTION  STATE
        s1            Unregistered
    "#]]
    .assert_eq(&subscription_state_table("s1", &left).plain());
}
