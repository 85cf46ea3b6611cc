//! Key sets, as a table and one by one.

use serde_json::Value;

use super::layout::{Fact, Table, facts};
use super::racks::group_of;
use crate::cli::answer::{field, field_or_dash, items, segment_after};
use crate::cli::screen::{Sheet, Tone};

pub fn key_set_table(sets: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "PRIVILEGE", "USERS", "EXPIRES", "STATUS", "MESSAGE"]);
    for set in sets {
        table.row(
            tone_of(set),
            [
                field_or_dash(set, "/name"),
                field_or_dash(set, "/properties/privilegeLevel"),
                items(set, "/properties/userList").len().to_string(),
                field_or_dash(set, "/properties/expiration"),
                field_or_dash(set, "/properties/detailedStatus"),
                field_or_dash(set, "/properties/detailedStatusMessage"),
            ],
        );
    }
    table
}

fn tone_of(set: &Value) -> Tone {
    match field(set, "/properties/detailedStatus").as_deref() {
        Some("SomeInvalid" | "AllInvalid") => Tone::Alarm,
        _ => Tone::Plain,
    }
}

pub fn key_set_sheet(set: &Value) -> Sheet {
    let text = |pointer| field_or_dash(set, pointer);
    let id = text("/id");
    let cluster = segment_after(&id, "clusters").unwrap_or("-");
    let level = match field(set, "/properties/privilegeLevelName") {
        Some(name) => format!("{}, {name}", text("/properties/privilegeLevel")),
        None => text("/properties/privilegeLevel"),
    };
    let mut lines: Vec<Fact<'_>> = vec![
        (Tone::Strong, "key set", text("/name")),
        (Tone::Plain, "cluster", format!("{cluster}, resource group {}", group_of(set))),
        (tone_of(set), "status", format!("{}: {}", text("/properties/detailedStatus"), text("/properties/detailedStatusMessage"))),
        (Tone::Plain, "checked", text("/properties/lastValidation")),
        (Tone::Plain, "privilege", level),
        (Tone::Plain, "group", text("/properties/azureGroupId")),
        (Tone::Plain, "expires", text("/properties/expiration")),
    ];
    if let Some(group) = field(set, "/properties/osGroupName") {
        lines.push((Tone::Plain, "OS group", group));
    }
    if set.pointer("/properties/jumpHostsAllowed").is_some() {
        let hosts: Vec<&str> = items(set, "/properties/jumpHostsAllowed").iter().filter_map(Value::as_str).collect();
        lines.push((Tone::Plain, "from", if hosts.is_empty() { "nowhere".to_owned() } else { hosts.join(", ") }));
    }
    for (n, user) in items(set, "/properties/userListStatus").iter().enumerate() {
        let of = |pointer| field_or_dash(user, pointer);
        let tone = if field(user, "/status").as_deref() == Some("Invalid") { Tone::Alarm } else { Tone::Plain };
        let line = format!("{} {}: {}", of("/azureUserName"), of("/status"), of("/statusMessage"));
        lines.push((tone, if n == 0 { "users" } else { "" }, line));
    }
    facts(&lines)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn key_sets_are_listed_and_shown() {
        let set = json!({
            "id": "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/clusters/site1/bmcKeySets/admins",
            "name": "admins",
            "properties": {
                "azureGroupId": "f110271b", "expiration": "2026-12-31T00:00:00.000Z", "privilegeLevel": "ReadOnly",
                "userList": [{}, {}], "detailedStatus": "SomeInvalid", "detailedStatusMessage": "1 of 2 users are not on every BMC",
                "lastValidation": "2026-11-16T10:00:00.000Z", "jumpHostsAllowed": [],
                "userListStatus": [
                    { "azureUserName": "alice", "status": "Active", "statusMessage": "on 3 of 3 BMCs" },
                    { "azureUserName": "bob", "status": "Invalid", "statusMessage": "not on the BMC of `m1`: no room" },
                ],
            },
        });
        expect![[r#"
            NAME    PRIVILEGE  USERS  EXPIRES                   STATUS       MESSAGE
            admins  ReadOnly   2      2026-12-31T00:00:00.000Z  SomeInvalid  1 of 2 users are not on every BMC
        "#]]
        .assert_eq(&key_set_table(std::slice::from_ref(&set)).plain());
        expect![[r#"
            key set    admins
            cluster    site1, resource group g1
            status     SomeInvalid: 1 of 2 users are not on every BMC
            checked    2026-11-16T10:00:00.000Z
            privilege  ReadOnly
            group      f110271b
            expires    2026-12-31T00:00:00.000Z
            from       nowhere
            users      alice Active: on 3 of 3 BMCs
                       bob Invalid: not on the BMC of `m1`: no room
        "#]]
        .assert_eq(&key_set_sheet(&set).plain());
    }
}
