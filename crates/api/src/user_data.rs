//! User data: the first-boot configuration of a machine, made from its bundle's template.
//!
//! A template that names something that there is not is refused when the bundle is imported, not when a machine boots.

use minijinja::{Environment, UndefinedBehavior};
use model::{Bundle, Role};
use serde::Serialize;

/// The longest template: three of them, and the rest of a bundle, fit into one request.
pub const TEMPLATE_MAX: usize = 16 * 1024;

/// The longest configuration that a template may become.
pub const USER_DATA_MAX: usize = 64 * 1024;

/// How many steps rendering may take, so that no loop runs for ever.
const FUEL: u64 = 100_000;

/// What a template may name.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Facts<'a> {
    pub hostname: &'a str,
    pub cluster: &'a str,
    pub machine: &'a str,
    pub rack: &'a str,
    /// `control-plane`, `management` or `compute`.
    pub role: &'static str,
    pub version: String,
    pub kubernetes_version: &'a str,
    pub api_url: &'a str,
    /// Nothing where the undercloud's API has no certificate.
    pub api_ca_hash: Option<&'a str>,
    pub join_token: &'a str,
    pub phone_home_url: &'a str,
    pub phone_home_token: &'a str,
    /// The certificates that we are known by there, as PEM; nothing where the usual authorities do.
    pub phone_home_ca: Option<&'a str>,
    pub users: Vec<User<'a>>,
    /// From where logins are let in; nothing if from anywhere.
    pub jump_hosts: Option<Vec<&'a str>>,
    /// Of the control plane alone.
    pub etcd: Option<Etcd>,
}

/// Who may log in, as key sets say.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct User<'a> {
    pub name: &'a str,
    pub ssh_public_key: &'a str,
    pub group: Option<&'a str>,
    pub is_superuser: bool,
    /// `Standard`, `Superuser`, or the name of another level.
    pub privilege: &'a str,
    /// The day on which the account ends, as `useradd` takes it.
    pub expires: String,
}

/// How a control-plane machine becomes a member of etcd again.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Etcd {
    pub peer_url: String,
    /// As etcd's own option wants it: `name=url`, with commas between.
    pub initial_cluster: String,
}

/// Why a template cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unrendered(String);

pub(crate) fn render(template: &str, facts: &Facts<'_>) -> Result<String, Unrendered> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // Cloud-init wants the newline that ends a file.
    environment.set_keep_trailing_newline(true);
    let rendered = environment.render_str(template, facts).map_err(|error| Unrendered(told(&error)))?;
    if rendered.len() > USER_DATA_MAX {
        return Err(Unrendered(format!("it becomes longer than {USER_DATA_MAX} bytes")));
    }
    Ok(rendered)
}

/// The problem without the values that were being rendered: some are secret.
fn told(error: &minijinja::Error) -> String {
    let kind = error.kind();
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    match error.line() {
        Some(line) => format!("line {line}: {kind}{detail}"),
        None => format!("{kind}{detail}"),
    }
}

/// Whether a template renders, whatever of what may be missing is missing.
pub(crate) fn check(template: &str, role: Role) -> Result<(), Unrendered> {
    let full = specimen(role);
    let bare = Facts { api_ca_hash: None, phone_home_ca: None, users: Vec::new(), jump_hosts: None, etcd: None, ..full.clone() };
    render(template, &full).and_then(|_| render(template, &bare)).map(|_| ())
}

/// The template of a role. A bundle that was imported has one for each.
pub(crate) fn template_of(bundle: &Bundle, role: Role) -> Option<&str> {
    bundle.user_data.get(&role).map(String::as_str)
}

/// The role in one word, as site files say it.
pub(crate) fn role_word(role: Role) -> &'static str {
    match role {
        Role::ControlPlane => "control-plane",
        Role::Management => "management",
        Role::Compute => "compute",
    }
}

/// A machine that is like none, to try a template with.
fn specimen(role: Role) -> Facts<'static> {
    Facts {
        hostname: "rack1compute01",
        cluster: "site1",
        machine: "rack1compute01",
        rack: "rack1",
        role: role_word(role),
        version: "4.9.2".to_owned(),
        kubernetes_version: "v1.33.7",
        api_url: "https://10.0.0.1:6443",
        api_ca_hash: Some("sha256:0000000000000000000000000000000000000000000000000000000000000000"),
        join_token: "abcdef.0123456789abcdef",
        phone_home_url: "http://10.0.0.2:7226/install/v1/attempts/site1/0/1/phone-home",
        phone_home_token: "token",
        phone_home_ca: Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        users: vec![User {
            name: "alice",
            ssh_public_key: "ssh-ed25519 AAAA",
            group: Some("operators"),
            is_superuser: true,
            privilege: "Superuser",
            expires: "2026-12-31".to_owned(),
        }],
        jump_hosts: Some(vec!["10.0.0.0/24"]),
        etcd: (role == Role::ControlPlane)
            .then(|| Etcd { peer_url: "https://10.0.0.3:2380".to_owned(), initial_cluster: "rack1=https://10.0.0.3:2380".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(template: &str) -> String {
        check(template, Role::Compute).expect_err("this template is wrong").to_string()
    }

    #[test]
    fn a_template_is_filled_in_and_keeps_its_last_newline() {
        let template = "#cloud-config\nhostname: {{ hostname | tojson }}\n{% for user in users %}- {{ user.name }}\n{% endfor %}";
        assert_eq!(render(template, &specimen(Role::Compute)).unwrap(), "#cloud-config\nhostname: \"rack1compute01\"\n- alice\n");
    }

    #[test]
    fn a_simulated_machine_lets_in_whom_key_sets_name_and_from_where() {
        let template = include_str!("../../../examples/runtimes/simulated/compute.yaml");
        let facts = specimen(Role::Compute);
        let rendered = render(template, &facts).unwrap();
        for line in [
            "  - name: \"alice\"",
            "    groups: [\"operators\"]",
            "    sudo: \"ALL=(ALL) NOPASSWD:ALL\"",
            "    expiredate: \"2026-12-31\"",
            "      AllowUsers *@10.0.0.0/24",
        ] {
            assert!(rendered.lines().any(|told| told == line), "{line} is not in\n{rendered}");
        }
        let closed = render(template, &Facts { jump_hosts: Some(Vec::new()), ..facts.clone() }).unwrap();
        assert!(closed.lines().any(|told| told == "      DenyUsers *"), "{closed}");
        let open = render(template, &Facts { jump_hosts: None, ..facts }).unwrap();
        assert!(!open.contains("sshd_config"), "{open}");
    }

    #[test]
    fn what_a_template_names_must_be_there() {
        assert_eq!(problem("a\n{{ hostnme }}"), "line 2: undefined value");
        assert_eq!(problem("{% for user in users %}{{ user.nick }}{% endfor %}"), "line 1: undefined value");
        assert!(problem("{{ hostname").starts_with("line 1: syntax error"));
        assert!(problem("{{ hostname | shout }}").starts_with("line 1: unknown filter"));
    }

    #[test]
    fn what_may_be_missing_has_to_be_asked_about() {
        assert!(check("{% if etcd %}{{ etcd.peer_url }}{% endif %}", Role::ControlPlane).is_ok());
        assert_eq!(problem("{{ etcd.peer_url }}"), "line 1: undefined value");
        assert!(check("{{ etcd.peer_url }}", Role::ControlPlane).is_err(), "a control plane may have no etcd that we know");
    }

    #[test]
    fn no_template_runs_for_ever_or_grows_without_bound() {
        assert!(problem("{% for a in range(9999) %}{% for b in range(9999) %}{{ b }}{% endfor %}{% endfor %}").contains("fuel"));
        assert_eq!(problem("{% for a in range(9999) %}xxxxxxxxxx{% endfor %}"), "it becomes longer than 65536 bytes");
    }
}
