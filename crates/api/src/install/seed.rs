//! The first-boot configuration of the installed system, as cloud-init's NoCloud source reads it.

use std::collections::BTreeSet;

use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use model::{Bundle, ClusterName, InstallTrouble, KeySet, KeySetKind, MachineReport, Privilege, Timestamp};
use serde_json::json;
use ticket::{InstallKey, Purpose};

use super::InstallFace;
use super::attempt::{Installing, Known, Named};
use super::door::{Declined, bearer};
use crate::cache::View;
use crate::reply::json_response;
use crate::submit::submit_report;
use crate::user_data::{self, Etcd, Facts, User};

pub(super) async fn send(State(face): State<InstallFace>, Path(named): Path<Named>, headers: HeaderMap) -> Result<Response, Declined> {
    let (known, installing) = face.admit(&named, Purpose::Session, bearer(&headers)?).await?;
    if !known.is_exchanged() {
        return Err(Declined::over());
    }
    let attempt = &known.attempt;
    let user_data = match face.user_data(&known, installing) {
        Ok(user_data) => user_data,
        Err(problem) => return Err(face.cannot_configure(&known, problem).await),
    };
    // A new id makes cloud-init begin anew. JSON is YAML.
    let meta_data = json!({ "instance-id": format!("{}-{}", attempt.operation, attempt.round), "local-hostname": attempt.machine });
    Ok(json_response(StatusCode::OK, &json!({ "userData": user_data, "metaData": format!("{meta_data}\n") })))
}

impl InstallFace {
    /// Ends the attempt with the reason: the agent would only say that it was refused something.
    async fn cannot_configure(&self, known: &Known, problem: String) -> Declined {
        tracing::error!(machine = %known.attempt.machine, operation = %known.attempt.operation, problem, "a machine cannot be configured");
        let report = MachineReport::Failed { trouble: InstallTrouble::SeedFailed, detail: model::shortened(&problem) };
        if let Err(refused) = submit_report(&self.api, &known.operation, known.attempt.clone(), report).await {
            tracing::warn!(machine = %known.attempt.machine, code = refused.code(), "an installation cannot be ended");
        }
        Declined::new(StatusCode::CONFLICT, problem)
    }

    fn user_data(&self, known: &Known, installing: Installing) -> Result<String, String> {
        let view = self.api.cache.view();
        let Known { attempt, cluster, machine, .. } = known;
        let bundle = view.runtime(&cluster.name, installing.version).map(|bundle| bundle.document.clone());
        let bundle = bundle.ok_or_else(|| format!("runtime {} is not known", installing.version))?;
        let key = self.key_of(&attempt.cluster).ok_or("there is no key for this cluster's installations")?;
        let template = user_data::template_of(&bundle, machine.role)
            .ok_or_else(|| format!("runtime {} has no user data for {}", bundle.version, user_data::role_word(machine.role)))?;
        let key_sets = KeySets::of(&view, &machine.cluster, self.api.clock.now());
        let url = format!("{}{}{}", self.url, phone_home_path(&ticket::exchange_path(attempt)), key_sets.query());
        let rendered = self.facts(known, &bundle, key, (&url, &key_sets), |facts| user_data::render(template, facts));
        rendered.map_err(|problem| format!("the user data of runtime {} cannot be rendered: {problem}", bundle.version))
    }

    /// Lends what a template may name to whoever renders it.
    fn facts<T>(
        &self,
        known: &Known,
        bundle: &Bundle,
        key: &InstallKey,
        (url, key_sets): (&str, &KeySets<'_>),
        render: impl FnOnce(&Facts<'_>) -> T,
    ) -> T {
        let Known { attempt, cluster, machine, .. } = known;
        let (join_token, phone_home_token) = (key.join_token(attempt).text(), key.token(Purpose::System, attempt));
        let join = cluster.join.as_ref();
        render(&Facts {
            hostname: attempt.machine.as_str(),
            cluster: cluster.name.as_str(),
            machine: attempt.machine.as_str(),
            rack: machine.hardware.rack.as_str(),
            role: user_data::role_word(machine.role),
            version: bundle.version.to_string(),
            kubernetes_version: &bundle.kubernetes_version,
            api_url: join.map_or("", |join| &join.api_url),
            api_ca_hash: join.and_then(|join| join.ca_hash.as_deref()),
            join_token: &join_token,
            phone_home_url: url,
            phone_home_token: &phone_home_token,
            phone_home_ca: self.ca.as_deref(),
            users: key_sets.users(),
            jump_hosts: key_sets.jump_hosts(),
            etcd: etcd_of(known),
        })
    }
}

fn phone_home_path(exchange_path: &str) -> String {
    let attempt = exchange_path.strip_suffix("exchange").unwrap_or(exchange_path);
    format!("{attempt}phone-home")
}

/// The key sets for machines of a cluster.
struct KeySets<'a> {
    /// Those whose users are let in.
    valid: Vec<&'a KeySet>,
    all: usize,
}

impl<'a> KeySets<'a> {
    fn of(view: &'a View, cluster: &ClusterName, now: Timestamp) -> KeySets<'a> {
        KeySets::among(view.key_sets_of(cluster).map(|set| set.document.as_ref()), now)
    }

    fn among(sets: impl Iterator<Item = &'a KeySet>, now: Timestamp) -> KeySets<'a> {
        let sets: Vec<&KeySet> = sets.filter(|set| set.kind == KeySetKind::Machine).collect();
        KeySets { all: sets.len(), valid: sets.into_iter().filter(|set| plan::is_key_set_valid(set, now)).collect() }
    }

    fn users(&self) -> Vec<User<'a>> {
        let users = self.valid.iter().flat_map(|set| {
            set.users.iter().map(|user| User {
                name: &user.azure_user_name,
                ssh_public_key: &user.ssh_public_key,
                group: set.os_group.as_deref(),
                is_superuser: set.privilege == Privilege::Superuser,
                privilege: if let Privilege::Other { name } = &set.privilege { name.as_str() } else { set.privilege.level() },
                expires: set.expires_at.date(),
            })
        });
        users.collect()
    }

    /// From where logins are let in; nothing if there is no key set, and they are let in from anywhere. A key set that is not in
    /// force keeps the door closed, and opens it to nobody.
    fn jump_hosts(&self) -> Option<Vec<&'a str>> {
        let hosts: BTreeSet<&str> = self.valid.iter().flat_map(|set| set.jump_hosts.iter().map(String::as_str)).collect();
        (self.all > 0).then(|| hosts.into_iter().collect())
    }

    /// What the installed system is configured with, so that it can say so: `?keysets=ops.3,dev.1`.
    fn query(&self) -> String {
        let editions: Vec<String> = self.valid.iter().map(|set| format!("{}.{}", set.name, set.users_edition)).collect();
        if editions.is_empty() { String::new() } else { format!("?keysets={}", editions.join(",")) }
    }
}

/// How the machine becomes a member of etcd again.
fn etcd_of(known: &Known) -> Option<Etcd> {
    let (peer_url, others) = known.operation.etcd_peers()?;
    let own = format!("{}={peer_url}", known.attempt.machine);
    let stayed = others.iter().flat_map(|other| other.peer_urls.iter().map(move |url| format!("{}={url}", other.name)));
    Some(Etcd { peer_url: peer_url.to_owned(), initial_cluster: stayed.chain([own]).collect::<Vec<_>>().join(",") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{NOW, of_json};

    fn set(name: &str, expires_at: &str, host: &str) -> KeySet {
        let user = json!({ "azureUserName": format!("of-{name}"), "userPrincipalName": "a@x", "sshPublicKey": "ssh-ed25519 AAAA" });
        of_json(json!({
            "name": name, "kind": "machine", "cluster": "site", "createdAt": NOW, "edition": 7, "usersEdition": 3, "azureGroupId": "g",
            "expiresAt": expires_at, "privilege": { "level": "superuser" }, "jumpHosts": [host], "users": [user],
        }))
    }

    #[test]
    fn a_machine_gets_the_users_of_key_sets_that_are_in_force_and_can_say_which() {
        let (ops, over) = (set("ops", "2027-01-01T00:00:00Z", "10.0.0.1"), set("over", "2026-01-01T00:00:00Z", "10.0.0.2"));
        let now = Timestamp::parse(NOW).unwrap();
        let both = KeySets::among([&ops, &over].into_iter(), now);
        let users: Vec<(&str, bool, String)> =
            both.users().iter().map(|user| (user.name, user.is_superuser, user.expires.clone())).collect();
        assert_eq!(users, [("of-ops", true, "2027-01-01".to_owned())]);
        assert_eq!((both.jump_hosts(), both.query()), (Some(vec!["10.0.0.1"]), "?keysets=ops.3".to_owned()));
        let closed = KeySets::among([&over].into_iter(), now);
        assert_eq!((closed.jump_hosts(), closed.query()), (Some(Vec::new()), String::new()), "nobody is let in");
        assert_eq!(KeySets::among(std::iter::empty(), now).jump_hosts(), None, "without a key set everybody is");
    }
}
