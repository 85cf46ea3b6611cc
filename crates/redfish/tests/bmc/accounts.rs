//! Accounts, and restarting the BMC.

use expect_test::expect;
use fake::{Fake, SYSTEM, json, tagged, text};
use model::FaultClass;
use redfish::{Bmc, NewAccount, Role, WantedAccount};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::fake;

fn linked(path: &str) -> Value {
    json!({"@odata.id": path})
}

fn new_account() -> NewAccount {
    NewAccount { user: "rackwright".into(), password: Zeroizing::new("s3cret".into()), role: Role::Administrator }
}

/// A BMC with three accounts or slots of which one is taken.
fn with_accounts(maker: &str, allow: &str, slots: &[(&str, &str)]) -> Fake {
    let members: Vec<Value> = slots.iter().map(|(id, _)| linked(&format!("/a/{id}"))).collect();
    let fake = Fake::ordinary()
        .holding(&[
            (SYSTEM, json!({"Manufacturer": maker})),
            ("/redfish/v1/", json!({"AccountService": linked("/as")})),
            ("/as", json!({"Accounts": linked("/a")})),
        ])
        .on("GET /a", tagged(&json!({"Members": members}), "\"c\"", allow));
    slots.iter().fold(fake, |fake, (id, user)| {
        let account = json!({"UserName": user, "RoleId": "Administrator", "Enabled": !user.is_empty(), "Locked": false});
        fake.on(&format!("GET /a/{id}"), tagged(&account, &format!("\"{id}\""), "GET, PATCH"))
            .on(&format!("PATCH /a/{id}"), text(200, "{}"))
            .on(&format!("DELETE /a/{id}"), text(204, ""))
            .on("POST /a", text(201, "{}"))
    })
}

async fn make_and_delete(bmc: &Bmc) {
    bmc.request_account_create(&new_account()).await.unwrap();
    bmc.request_account_delete("/a/2").await.unwrap();
}

#[tokio::test]
async fn accounts_are_listed_without_empty_slots() {
    let listing = with_accounts("Dell Inc.", "GET", &[("1", ""), ("2", "root"), ("3", "")]).bmc().observe_accounts().await.unwrap();
    assert_eq!(listing.members.len(), 1);
    let root = &listing.members[0];
    assert_eq!(
        (root.path.as_str(), root.user.as_str(), root.role.as_deref(), root.enabled),
        ("/a/2", "root", Some("Administrator"), Some(true))
    );
}

#[tokio::test]
async fn where_accounts_are_made_they_are_posted_and_deleted() {
    for allow in ["GET, POST", ""] {
        let fake = with_accounts("HPE", allow, &[("2", "root")]);
        make_and_delete(&fake.bmc()).await;
        expect![[r#"
            POST /a token1 {"Enabled":true,"Password":"s3cret","RoleId":"Administrator","UserName":"rackwright"}
            DELETE /a/2 token1
        "#]]
        .assert_eq(&fake.take_requests());
    }
}

#[tokio::test]
async fn where_accounts_are_slots_an_empty_one_is_written_to_but_never_a_reserved_one() {
    for allow in ["GET, HEAD", ""] {
        let fake = with_accounts("Dell Inc.", allow, &[("1", ""), ("2", "root"), ("3", "")]);
        make_and_delete(&fake.bmc()).await;
        expect![[r#"
            PATCH /a/3 token1 if "3" {"Enabled":true,"Password":"s3cret","RoleId":"Administrator","UserName":"rackwright"}
            PATCH /a/2 token1 if "2" {"Enabled":false,"UserName":""}
        "#]]
        .assert_eq(&fake.take_requests());
    }
}

const KEY: &str = "ssh-ed25519 AAAA";

fn wanted(path: Option<&str>) -> WantedAccount {
    WantedAccount { account: NewAccount { role: Role::ReadOnly, ..new_account() }, path: path.map(str::to_owned), key: KEY.into() }
}

/// A BMC whose second account is that of the user, with these keys.
fn with_keys(role: &str, keys: &[&str]) -> Fake {
    let account = json!({"UserName": "rackwright", "RoleId": role, "Enabled": true, "Keys": linked("/a/3/k")});
    let fake = with_accounts("HPE", "GET, POST", &[("2", "root"), ("3", "rackwright")]);
    let members: Vec<Value> = (0..keys.len()).map(|n| linked(&format!("/a/3/k/{n}"))).collect();
    let fake = fake.now("GET /a/3", tagged(&account, "\"3\"", "GET, PATCH")).holding(&[("/a/3/k", json!({"Members": members}))]);
    let fake = fake.on("POST /a/3/k", text(201, "{}"));
    keys.iter().enumerate().fold(fake, |fake, (n, key)| {
        let path = format!("/a/3/k/{n}");
        fake.holding(&[(&path, json!({"KeyString": key, "KeyType": "SSH"}))]).on(&format!("DELETE {path}"), text(204, ""))
    })
}

#[tokio::test]
async fn an_account_is_brought_to_what_it_should_be_and_what_is_so_is_left() {
    let fake = with_keys("ReadOnly", &[KEY]);
    fake.bmc().request_account(&wanted(Some("/a/3"))).await.unwrap();
    assert_eq!(fake.take_requests(), "");
    let fake = with_keys("Administrator", &["ssh-rsa BBBB"]);
    fake.bmc().request_account(&wanted(Some("/a/3"))).await.unwrap();
    expect![[r#"
        PATCH /a/3 token1 if "3" {"Enabled":true,"RoleId":"ReadOnly"}
        POST /a/3/k token1 {"KeyString":"ssh-ed25519 AAAA","KeyType":"SSH"}
        DELETE /a/3/k/0 token1
    "#]]
    .assert_eq(&fake.take_requests());
}

#[tokio::test]
async fn an_account_that_is_not_there_is_made_and_gets_its_key() {
    let fake = with_keys("ReadOnly", &[]);
    fake.bmc().request_account(&wanted(None)).await.unwrap();
    expect![[r#"
        POST /a token1 {"Enabled":true,"Password":"s3cret","RoleId":"ReadOnly","UserName":"rackwright"}
        POST /a/3/k token1 {"KeyString":"ssh-ed25519 AAAA","KeyType":"SSH"}
    "#]]
    .assert_eq(&fake.take_requests());
}

#[tokio::test]
async fn keys_are_told_where_they_are_offered_and_an_account_of_another_user_is_not_removed() {
    let fake = with_keys("ReadOnly", &[KEY]);
    let seen = fake.bmc().observe_accounts_and_keys().await.unwrap();
    let seen: Vec<(&str, Option<usize>)> =
        seen.iter().map(|(account, keys)| (account.user.as_str(), keys.as_ref().map(Vec::len))).collect();
    assert_eq!(seen, [("root", None), ("rackwright", Some(1))]);
    fake.take_requests();
    let fault = fake.bmc().request_account_end("/a/2", "rackwright").await.unwrap_err();
    expect!["busy: the account of `rackwright` is no longer where it was"].assert_eq(&fault.to_string());
    assert_eq!(fake.take_requests(), "");
    fake.bmc().request_account_end("/a/3", "rackwright").await.unwrap();
    assert_eq!(fake.take_requests(), "DELETE /a/3 token1\n");
}

#[tokio::test]
async fn no_empty_slot_means_no_room() {
    let fake = with_accounts("Dell Inc.", "GET", &[("1", ""), ("2", "root")]);
    let fault = fake.bmc().request_account_create(&new_account()).await.unwrap_err();
    expect!["unsupported: /a has no empty slot for another account"].assert_eq(&fault.to_string());
    assert_eq!(fake.take_requests(), "");
}

#[tokio::test]
async fn a_password_is_changed_with_the_etag_and_no_complaint_about_it_is_repeated() {
    let password = Zeroizing::new("s3cret".to_owned());
    let fake = with_accounts("HPE", "GET, POST", &[("2", "root")]);
    fake.bmc().request_password("/a/2", &password).await.unwrap();
    expect![[r#"
        PATCH /a/2 token1 if "2" {"Password":"s3cret"}
    "#]]
    .assert_eq(&fake.take_requests());
    let fake = fake.now("PATCH /a/2", json(400, &json!({"error": {"message": "The password s3cret is too short."}})));
    let fault = fake.bmc().request_password("/a/2", &password).await.unwrap_err();
    expect!["busy: PATCH /a/2 answered 400"].assert_eq(&fault.to_string());
    assert!(!format!("{:?}", new_account()).contains("s3cret"));
}

#[tokio::test]
async fn a_bmc_is_restarted_by_its_manager() {
    let reset = json!({"#Manager.Reset": {"target": "/mgr/reset", "@Redfish.ActionInfo": "/mgr/info"}});
    let fake = Fake::ordinary()
        .holding(&[
            (SYSTEM, json!({"Links": {"ManagedBy": [linked("/enclosure"), linked("/mgr")]}})),
            ("/enclosure", json!({"ManagerType": "EnclosureManager"})),
            ("/mgr", json!({"Actions": reset})),
            ("/mgr/info", json!({"Parameters": [{"Name": "ResetType", "AllowableValues": ["ForceRestart"]}]})),
        ])
        .on("POST /mgr/reset", text(204, ""));
    fake.bmc().request_bmc_reset().await.unwrap();
    expect![[r#"
        POST /mgr/reset token1 {"ResetType":"ForceRestart"}
    "#]]
    .assert_eq(&fake.take_requests());
    let fault = Fake::ordinary().bmc().request_bmc_reset().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Unsupported);
}
