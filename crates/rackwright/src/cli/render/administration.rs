//! Who may do what: principals, roles, locks, policies and quotas.

use serde_json::Value;

use super::layout::{Fact, Table, facts};
use crate::cli::answer::{field, field_or_dash, is_true, items, name_in_id};
use crate::cli::screen::{Sheet, Tone};

pub fn principal_table(principals: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "CLIENT ID", "OBJECT ID", "STATE", "SECRETS", "CERTIFICATES"]);
    for principal in principals {
        let count = |at| items(principal, at).len().to_string();
        let cells = [field_or_dash(principal, "/displayName"), field_or_dash(principal, "/clientId"), field_or_dash(principal, "/id")];
        table.row(tone_of(principal), cells.into_iter().chain([state_of(principal).to_owned(), count("/secrets"), count("/certificates")]));
    }
    table
}

fn state_of(principal: &Value) -> &'static str {
    if is_true(principal, "/enabled") { "enabled" } else { "disabled" }
}

fn tone_of(principal: &Value) -> Tone {
    if is_true(principal, "/enabled") { Tone::Plain } else { Tone::Alarm }
}

pub fn principal_sheet(principal: &Value) -> Sheet {
    let text = |pointer| field_or_dash(principal, pointer);
    let mut lines: Vec<Fact<'_>> = vec![
        (Tone::Strong, "principal", text("/displayName")),
        (tone_of(principal), "state", state_of(principal).to_owned()),
        (Tone::Plain, "client id", text("/clientId")),
        (Tone::Plain, "object id", text("/id")),
        (Tone::Plain, "tenant", text("/tenantId")),
        (Tone::Plain, "made", text("/createdAt")),
    ];
    for (n, secret) in items(principal, "/secrets").iter().enumerate() {
        let of = |pointer| field_or_dash(secret, pointer);
        let name = field(secret, "/displayName").map(|name| format!(" {name}")).unwrap_or_default();
        let line = format!("{}{name}, {}…, until {}", of("/id"), of("/hint"), of("/expiresAt"));
        lines.push((Tone::Plain, if n == 0 { "secrets" } else { "" }, line));
    }
    for (n, certificate) in items(principal, "/certificates").iter().enumerate() {
        let line = format!("{}, until {}", field_or_dash(certificate, "/sha256"), field_or_dash(certificate, "/notAfter"));
        lines.push((Tone::Plain, if n == 0 { "certificates" } else { "" }, line));
    }
    facts(&lines)
}

/// A new secret, which is shown this once.
pub fn secret_sheet(secret: &Value) -> Sheet {
    let text = |pointer| field_or_dash(secret, pointer);
    facts(&[
        (Tone::Strong, "principal", text("/displayName")),
        (Tone::Plain, "client id", text("/clientId")),
        (Tone::Plain, "tenant", text("/tenantId")),
        (Tone::Strong, "secret", text("/secret")),
        (Tone::Plain, "secret id", text("/secretId")),
        (Tone::Plain, "good until", text("/expiresAt")),
    ])
}

pub fn secret_table(secret: &Value) -> Table {
    let mut table = Table::new(&["CLIENT ID", "SECRET", "TENANT", "GOOD UNTIL"]);
    let cells = ["/clientId", "/secret", "/tenantId", "/expiresAt"].map(|pointer| field_or_dash(secret, pointer));
    table.row(Tone::Plain, cells);
    table
}

pub fn role_table(roles: &[Value]) -> Table {
    let mut table = Table::new(&["ROLE", "ID", "DESCRIPTION"]);
    for role in roles {
        table.row(Tone::Plain, ["/properties/roleName", "/name", "/properties/description"].map(|pointer| field_or_dash(role, pointer)));
    }
    table
}

pub fn assignment_table(assignments: &[Value], roles: &[Value]) -> Table {
    let name_of = |id: &str| {
        let found = roles.iter().find(|role| field_or_dash(role, "/name") == name_in_id(id));
        found.map_or_else(|| name_in_id(id).to_owned(), |role| field_or_dash(role, "/properties/roleName"))
    };
    let mut table = Table::new(&["PRINCIPAL", "TYPE", "ROLE", "SCOPE", "BY"]);
    for one in assignments {
        let text = |pointer| field_or_dash(one, pointer);
        let role = name_of(&text("/properties/roleDefinitionId"));
        let cells = [text("/properties/principalId"), text("/properties/principalType"), role, text("/properties/scope")];
        table.row(Tone::Plain, cells.into_iter().chain([text("/properties/createdBy")]));
    }
    table
}

/// What a lock holds for: its id without its own part.
fn locked(lock: &Value) -> String {
    let id = field_or_dash(lock, "/id");
    match id.rfind("/providers/Microsoft.Authorization/locks/") {
        Some(0) => "/".to_owned(),
        Some(end) => id[..end].to_owned(),
        None => id,
    }
}

pub fn lock_table(locks: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "LEVEL", "SCOPE", "NOTES"]);
    for lock in locks {
        let text = |pointer| field_or_dash(lock, pointer);
        table.row(Tone::Plain, [text("/name"), text("/properties/level"), locked(lock), text("/properties/notes")]);
    }
    table
}

pub fn lock_sheet(lock: &Value) -> Sheet {
    let text = |pointer| field_or_dash(lock, pointer);
    facts(&[
        (Tone::Strong, "lock", text("/name")),
        (Tone::Plain, "level", text("/properties/level")),
        (Tone::Plain, "scope", locked(lock)),
        (Tone::Plain, "notes", text("/properties/notes")),
        (Tone::Plain, "made", format!("{} by {}", text("/systemData/createdAt"), text("/systemData/createdBy"))),
    ])
}

pub fn policy_table(policies: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "SCOPE", "CONDITIONS", "REASON"]);
    for policy in policies {
        let text = |pointer| field_or_dash(policy, pointer);
        let conditions: Vec<String> = items(policy, "/properties/conditions").iter().map(condition).collect();
        table.row(Tone::Plain, [text("/name"), text("/properties/scope"), conditions.join(" and "), text("/properties/reason")]);
    }
    table
}

pub fn policy_sheet(policy: &Value) -> Sheet {
    let text = |pointer| field_or_dash(policy, pointer);
    let mut lines: Vec<Fact<'_>> = vec![
        (Tone::Strong, "policy", text("/name")),
        (Tone::Plain, "called", text("/properties/displayName")),
        (Tone::Plain, "scope", text("/properties/scope")),
        (Tone::Plain, "reason", text("/properties/reason")),
    ];
    for (n, one) in items(policy, "/properties/conditions").iter().enumerate() {
        lines.push((Tone::Plain, if n == 0 { "denies where" } else { "and" }, condition(one)));
    }
    facts(&lines)
}

/// `tags.owner exists false`.
fn condition(condition: &Value) -> String {
    let tests = condition.as_object().into_iter().flatten().filter(|(name, _)| *name != "field");
    let tests: Vec<String> = tests.map(|(name, value)| format!("{name} {}", value.to_string().replace('"', ""))).collect();
    format!("{} {}", field_or_dash(condition, "/field"), tests.join(" "))
}

pub fn subscription_table(subscriptions: &[Value]) -> Table {
    let mut table = Table::new(&["SUBSCRIPTION", "NAME", "STATE"]);
    for one in subscriptions {
        let state = field_or_dash(one, "/state");
        let tone = if state == "Enabled" { Tone::Plain } else { Tone::Alarm };
        table.row(tone, [field_or_dash(one, "/subscriptionId"), field_or_dash(one, "/displayName"), state]);
    }
    table
}

/// What a subscription has become: its state, or that of its registration.
pub fn subscription_state_table(subscription: &str, changed: &Value) -> Table {
    let mut table = Table::new(&["SUBSCRIPTION", "STATE"]);
    let state = field(changed, "/registrationState").unwrap_or_else(|| field_or_dash(changed, "/state"));
    table.row(Tone::Plain, [subscription.to_owned(), state]);
    table
}

/// Each thing that can have a limit, and what it is called.
const LIMITS: [(&str, &str); 3] = [("cores", "cores"), ("virtualMachines", "virtual machines"), ("networks", "networks")];

fn limit_of(quota: &Value, name: &str) -> String {
    field(quota, &format!("/limits/{name}")).unwrap_or_else(|| "none".to_owned())
}

pub fn quota_sheet(quota: &Value) -> Sheet {
    let mut lines: Vec<Fact<'_>> = vec![(Tone::Strong, "subscription", field_or_dash(quota, "/subscriptionId"))];
    for (name, called) in LIMITS {
        let used = field_or_dash(quota, &format!("/used/{name}"));
        lines.push((Tone::Plain, called, format!("{used} of {}", limit_of(quota, name))));
    }
    facts(&lines)
}

pub fn quota_table(quota: &Value) -> Table {
    let mut table = Table::new(&["WHAT", "USED", "LIMIT"]);
    for (name, _) in LIMITS {
        table.row(Tone::Plain, [name.to_owned(), field_or_dash(quota, &format!("/used/{name}")), limit_of(quota, name)]);
    }
    table
}

#[cfg(test)]
mod tests;
