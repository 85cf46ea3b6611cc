//! The files of a profile of Azure's command line, as that command line would write them after `az cloud register`, `az cloud set`
//! and `az login --service-principal`.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::super::access::Login;
use super::super::answer::field;
use super::super::trouble::{Exit, Trouble};
use crate::private_file;

/// What Azure's command line is to call the cloud.
const CLOUD: &str = "Rackwright";

/// Who signed the server's certificate.
pub(super) const AUTHORITY: &str = "ca.pem";

/// Says that a profile is ours to write.
const MARK: &str = "rackwright.json";

/// What a folder has that is somebody's profile.
const SIGNS_OF_A_PROFILE: [&str; 4] = ["azureProfile.json", "config", "clouds.config", "service_principal_entries.json"];

/// Tokens that were given to whoever logged in before.
const TOKENS: [&str; 3] = ["msal_token_cache.json", "msal_token_cache.bin", "msal_http_cache.bin"];

pub(super) struct Profile {
    pub server: String,
    pub login_endpoint: String,
    /// What tokens are for.
    pub audience: String,
    /// Where principals are looked up.
    pub directory: String,
    pub subscriptions: Vec<Subscription>,
    /// The id of the one that commands mean if they name none.
    pub default: String,
    pub login: Login,
    pub authority: Option<String>,
}

pub(super) struct Subscription {
    pub id: String,
    name: String,
    state: String,
    tenant: String,
}

impl Subscription {
    pub fn of(answer: &Value) -> Option<Subscription> {
        Some(Subscription {
            id: field(answer, "/subscriptionId")?,
            name: field(answer, "/displayName")?,
            state: field(answer, "/state")?,
            tenant: field(answer, "/tenantId")?,
        })
    }
}

impl Profile {
    /// Writes it into a folder that is empty, absent, or was written before. Anybody else's profile is left as it is.
    pub fn write(&self, dir: &Path) -> Result<(), Trouble> {
        let cannot = |problem: io::Error| Trouble::failed(format!("the profile in `{}` cannot be written: {problem}", dir.display()));
        if !dir.join(MARK).exists() && SIGNS_OF_A_PROFILE.iter().any(|name| dir.join(name).exists()) {
            let message = format!("`{}` is a profile of Azure's command line that was not made here; nothing was changed", dir.display());
            return Err(Trouble::new(Exit::Refused, message).hint("name another folder"));
        }
        private_file::create_directory(dir).map_err(cannot)?;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).map_err(cannot)?;
        for name in TOKENS {
            match fs::remove_file(dir.join(name)) {
                Err(problem) if problem.kind() != io::ErrorKind::NotFound => return Err(cannot(problem)),
                _ => {}
            }
        }
        for (name, text) in self.files() {
            private_file::replace(&dir.join(name), &text).map_err(cannot)?;
        }
        Ok(())
    }

    fn files(&self) -> Vec<(&'static str, Zeroizing<String>)> {
        let mut files = vec![
            (MARK, json!({ "server": self.server }).to_string()),
            ("config", format!("[cloud]\nname = {CLOUD}\n\n[core]\ncollect_telemetry = no\nsurvey_message = no\n")),
            ("clouds.config", self.clouds()),
            ("azureProfile.json", self.subscriptions().to_string()),
            ("service_principal_entries.json", self.logins().to_string()),
        ];
        files.extend(self.authority.clone().map(|pem| (AUTHORITY, pem)));
        files.into_iter().map(|(name, text)| (name, Zeroizing::new(text))).collect()
    }

    fn clouds(&self) -> String {
        let Profile { server, login_endpoint, audience, directory, default, .. } = self;
        let server = server.trim_end_matches('/');
        format!(
            "[{CLOUD}]\n\
             profile = latest\n\
             endpoint_resource_manager = {server}\n\
             endpoint_management = {audience}\n\
             endpoint_active_directory = {login_endpoint}\n\
             endpoint_active_directory_resource_id = {audience}\n\
             endpoint_microsoft_graph_resource_id = {directory}\n\
             subscription = {default}\n"
        )
    }

    fn subscriptions(&self) -> Value {
        let user = json!({ "name": self.login.client_id, "type": "servicePrincipal" });
        let known = self.subscriptions.iter().map(|one| {
            json!({
                "id": one.id,
                "name": one.name,
                "state": one.state,
                "user": user,
                "isDefault": one.id.eq_ignore_ascii_case(&self.default),
                "tenantId": one.tenant,
                "environmentName": CLOUD,
                "homeTenantId": one.tenant,
                "managedByTenants": [],
            })
        });
        json!({ "subscriptions": known.collect::<Vec<_>>() })
    }

    fn logins(&self) -> Value {
        let Login { client_id, client_secret } = &self.login;
        let mut tenants: Vec<&str> = self.subscriptions.iter().map(|one| one.tenant.as_str()).collect();
        tenants.sort_unstable();
        tenants.dedup();
        let entry = |tenant| json!({ "client_id": client_id, "tenant": tenant, "client_secret": client_secret.text() });
        Value::Array(tenants.into_iter().map(entry).collect())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::super::access::Secret;
    use super::*;

    fn subscription(id: &str) -> Subscription {
        let answer = json!({ "subscriptionId": id, "displayName": "Rackwright", "state": "Enabled", "tenantId": "t1" });
        Subscription::of(&answer).unwrap()
    }

    fn profile(secret: &str) -> Profile {
        Profile {
            server: "https://site.example:7225/".to_owned(),
            login_endpoint: "https://site.example:7225/adfs".to_owned(),
            audience: "https://management.rackwright/".to_owned(),
            directory: "https://site.example:7225/".to_owned(),
            subscriptions: vec![subscription("s1"), subscription("s2")],
            default: "S2".to_owned(),
            login: Login { client_id: "c1".to_owned(), client_secret: Secret::new(secret) },
            authority: Some("-----BEGIN CERTIFICATE-----\n".to_owned()),
        }
    }

    fn read(dir: &Path) -> String {
        let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        let text = |path: &Path| format!("── {}\n{}\n", path.file_name().unwrap().display(), fs::read_to_string(path).unwrap().trim_end());
        names.iter().map(|path| text(path)).collect()
    }

    #[test]
    fn a_profile_says_which_cloud_who_and_whom_to_trust() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("azure");
        profile("hunter2").write(&dir).unwrap();
        expect![[r#"
            ── azureProfile.json
            {"subscriptions":[{"id":"s1","name":"Rackwright","state":"Enabled","user":{"name":"c1","type":"servicePrincipal"},"isDefault":false,"tenantId":"t1","environmentName":"Rackwright","homeTenantId":"t1","managedByTenants":[]},{"id":"s2","name":"Rackwright","state":"Enabled","user":{"name":"c1","type":"servicePrincipal"},"isDefault":true,"tenantId":"t1","environmentName":"Rackwright","homeTenantId":"t1","managedByTenants":[]}]}
            ── ca.pem
            -----BEGIN CERTIFICATE-----
            ── clouds.config
            [Rackwright]
            profile = latest
            endpoint_resource_manager = https://site.example:7225
            endpoint_management = https://management.rackwright/
            endpoint_active_directory = https://site.example:7225/adfs
            endpoint_active_directory_resource_id = https://management.rackwright/
            endpoint_microsoft_graph_resource_id = https://site.example:7225/
            subscription = S2
            ── config
            [cloud]
            name = Rackwright

            [core]
            collect_telemetry = no
            survey_message = no
            ── rackwright.json
            {"server":"https://site.example:7225/"}
            ── service_principal_entries.json
            [{"client_id":"c1","tenant":"t1","client_secret":"hunter2"}]
        "#]].assert_eq(&read(&dir));
    }

    #[test]
    fn everything_in_it_is_its_owners_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("azure");
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        profile("hunter2").write(&dir).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&dir), 0o700);
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }

    #[test]
    fn written_again_it_forgets_the_tokens_of_before_and_keeps_what_is_not_its_own() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        profile("old").write(dir).unwrap();
        for name in ["msal_token_cache.json", "commandIndex.json"] {
            fs::write(dir.join(name), "{}").unwrap();
        }
        profile("new").write(dir).unwrap();
        assert!(!dir.join("msal_token_cache.json").exists() && dir.join("commandIndex.json").exists());
        let logins = fs::read_to_string(dir.join("service_principal_entries.json")).unwrap();
        assert!(logins.contains("new") && !logins.contains("old"), "{logins}");
    }

    #[test]
    fn somebody_elses_profile_is_left_as_it_is() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("config"), "[cloud]\nname = AzureCloud\n").unwrap();
        let trouble = profile("hunter2").write(scratch.path()).unwrap_err();
        assert_eq!(trouble.exit, Exit::Refused, "{trouble:?}");
        assert_eq!(read(scratch.path()), "── config\n[cloud]\nname = AzureCloud\n");
    }
}
