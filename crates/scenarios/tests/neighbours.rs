//! What Azure's clients ask of the providers next door: tenants, resource groups, all resources, providers and what they
//! can do.

use std::fmt::Write;

use expect_test::{expect, expect_file};
use http::{Method, StatusCode};
use scenarios::{House, SUBSCRIPTION, machine_path};
use serde_json::Value;

async fn show(house: &House, path: &str) -> Value {
    let reply = house.call(Method::GET, &format!("{path}?api-version=2022-12-01"), "alice", "").await;
    assert_eq!(reply.status, StatusCode::OK, "{path}: {}", reply.body);
    reply.body
}

#[tokio::test(start_paused = true)]
async fn they_look_as_azures_clients_need_them() {
    let house = House::build(1, 4).await;
    let subscription = format!("/subscriptions/{SUBSCRIPTION}");
    let paths = [
        "/tenants".to_owned(),
        "/subscriptions".to_owned(),
        format!("{subscription}/resourcegroups"),
        format!("{subscription}/resourceGroups/SITE1"),
        format!("{subscription}/resourceGroups/site1/resources"),
        format!("{subscription}/providers/microsoft.networkcloud"),
        "/providers/Microsoft.NetworkCloud/operations".to_owned(),
    ];
    let mut shown = String::new();
    for path in &paths {
        let body = serde_json::to_string_pretty(&show(&house, path).await).expect("JSON prints");
        writeln!(shown, "GET {path}\n{body}").expect("a string takes text");
    }
    expect_file!["../stories/neighbours.golden"].assert_eq(&shown.replace(SUBSCRIPTION, "S"));
    assert_eq!(show(&house, &format!("{subscription}/resources")).await["value"].as_array().map(Vec::len), Some(1 + 1 + 4));
    let providers = show(&house, &format!("{subscription}/providers")).await;
    let namespaces: Vec<&str> = providers["value"].as_array().into_iter().flatten().filter_map(|one| one["namespace"].as_str()).collect();
    assert_eq!(namespaces, ["Microsoft.NetworkCloud", "Microsoft.Authorization", "Microsoft.Insights", "Microsoft.Resources"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn resource_groups_can_be_filtered_too() {
    let house = House::build(1, 4).await;
    for (filter, count) in [("name eq 'SITE1'", 1), ("name eq 'site2'", 0), ("tagName eq 'row'", 0), ("location eq 'local'", 1)] {
        let path = format!("/subscriptions/{SUBSCRIPTION}/resourcegroups?api-version=1&$filter={}", filter.replace(' ', "%20"));
        assert_eq!(house.get(&path).await["value"].as_array().map(Vec::len), Some(count), "{filter}");
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn whether_a_resource_group_exists_is_told_without_a_body() {
    let house = House::build(1, 4).await;
    for (group, status) in [("site1", StatusCode::NO_CONTENT), ("SITE1", StatusCode::NO_CONTENT), ("elsewhere", StatusCode::NOT_FOUND)] {
        let path = format!("/subscriptions/{SUBSCRIPTION}/resourcegroups/{group}?api-version=1");
        assert_eq!(house.call(Method::HEAD, &path, "alice", "").await.status, status, "{group}");
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_said_to_be_so() {
    let house = House::build(1, 4).await;
    let machine = machine_path("rack1compute01");
    let paths = [
        machine.replace("NetworkCloud", "NetworkClout"),
        machine.replace("Microsoft.NetworkCloud", "Microsoft.Resources"),
        format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute"),
        format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachines"),
        "/providers/Microsoft.Compute/operations".to_owned(),
        format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/elsewhere"),
        "/subscriptions/nobody/resourceGroups".to_owned(),
        "/subscriptions/nobody/resources".to_owned(),
        "/subscriptions/nobody/providers".to_owned(),
        format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/elsewhere/resources"),
        "/subscriptions/providers".to_owned(),
    ];
    let mut table = String::new();
    for path in &paths {
        let reply = house.call(Method::GET, &format!("{path}?api-version=1"), "alice", "").await;
        let error = &reply.body["error"];
        writeln!(table, "{} {} {}", reply.status.as_u16(), error["code"], error["message"]).expect("a string takes text");
    }
    expect![[r#"
        404 "InvalidResourceNamespace" "there is no resource provider `Microsoft.NetworkClout`; Microsoft.NetworkCloud, Microsoft.Authorization, Microsoft.Insights and Microsoft.Resources are"
        404 "InvalidResourceType" "there is nothing at `/subscriptions/S/resourceGroups/site1/providers/Microsoft.Resources/bareMetalMachines/rack1compute01`"
        404 "InvalidResourceNamespace" "there is no resource provider `Microsoft.Compute`; Microsoft.NetworkCloud, Microsoft.Authorization, Microsoft.Insights and Microsoft.Resources are"
        404 "InvalidResourceNamespace" "there is no resource provider `Microsoft.Compute`; Microsoft.NetworkCloud, Microsoft.Authorization, Microsoft.Insights and Microsoft.Resources are"
        404 "InvalidResourceNamespace" "there is no resource provider `Microsoft.Compute`; Microsoft.NetworkCloud, Microsoft.Authorization, Microsoft.Insights and Microsoft.Resources are"
        404 "ResourceGroupNotFound" "there is no resource group `elsewhere`"
        404 "SubscriptionNotFound" "there is no subscription `nobody`"
        404 "SubscriptionNotFound" "there is no subscription `nobody`"
        404 "SubscriptionNotFound" "there is no subscription `nobody`"
        404 "ResourceGroupNotFound" "there is no resource group `elsewhere`"
        404 "SubscriptionNotFound" "there is no subscription `providers`"
    "#]].assert_eq(&table.replace(SUBSCRIPTION, "S"));
    house.close().await;
}
