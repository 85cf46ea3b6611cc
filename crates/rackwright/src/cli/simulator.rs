//! The simulation that `up` or `sim serve` runs on this computer: where its control face is, and talking to it.
//!
//! Its address and token lie in `simulator.toml` beside the contexts, for their owner only. A simulation is no server of
//! the public API, so no context names it.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Method, Url};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::access::no_tls;
use super::answer::{field, items, text_of};
use super::context::Home;
use super::did_you_mean::nearest_hint;
use super::trouble::{Exit, Trouble};
use crate::private_file;

/// The simulation runs on this computer, so it answers at once or not at all.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Larger files are not ours.
const FILE_MAX: u64 = 64 * 1024;

/// The file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulator {
    pub address: SocketAddr,
    pub token: String,
}

impl Simulator {
    pub fn file(home: &Home) -> PathBuf {
        home.path().join("simulator.toml")
    }

    pub fn load(path: &Path) -> Result<Simulator, Trouble> {
        let broken =
            |why: String| Trouble::failed(format!("`{}` cannot be used: {why}", path.display())).hint("start the simulation again");
        match fs::metadata(path) {
            Ok(file) if file.len() > FILE_MAX => return Err(broken(format!("it is larger than {FILE_MAX} bytes"))),
            Ok(_) => {}
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => {
                return Err(Trouble::new(Exit::Unreachable, "no simulation has been started here")
                    .hint("start one with `rackwright up` or `rackwright sim serve`"));
            }
            Err(problem) => return Err(broken(problem.to_string())),
        }
        let text = fs::read_to_string(path).map_err(|problem| broken(problem.to_string()))?;
        // The parser's own words could quote the token.
        toml::from_str(&text).map_err(|_| broken("it does not name an address and a token".to_owned()))
    }

    /// Whole or not at all, and for its owner only.
    pub fn save(&self, path: &Path) -> Result<(), Trouble> {
        let text = toml::to_string(self).expect("an address and a token are text");
        let made = path.parent().map_or(Ok(()), private_file::create_directory);
        let written = made.and_then(|()| private_file::replace(path, &text));
        written.map_err(|problem| Trouble::failed(format!("`{}` cannot be written: {problem}", path.display())))
    }

    /// Whether it runs: something that listens there and knows the token.
    pub async fn answers(&self, patience: Duration) -> bool {
        tokio::time::timeout(patience, self.get(&["faults"], &[])).await.is_ok_and(|answer| answer.is_ok())
    }

    pub async fn get(&self, segments: &[&str], query: &[(&str, &str)]) -> Result<Value, Trouble> {
        self.send(Method::GET, segments, query, String::new()).await
    }

    pub async fn post(&self, segments: &[&str], body: String) -> Result<Value, Trouble> {
        self.send(Method::POST, segments, &[], body).await
    }

    pub async fn delete(&self, segments: &[&str], query: &[(&str, &str)]) -> Result<Value, Trouble> {
        self.send(Method::DELETE, segments, query, String::new()).await
    }

    async fn send(&self, method: Method, segments: &[&str], query: &[(&str, &str)], body: String) -> Result<Value, Trouble> {
        let mut url = Url::parse(&format!("http://{}", self.address)).expect("an address makes a URL");
        url.path_segments_mut().expect("an http address has a path").push("v1").extend(segments);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let http = reqwest::Client::builder().no_proxy().tls_backend_preconfigured(no_tls()).timeout(REQUEST_TIMEOUT).build();
        let http = http.map_err(|problem| Trouble::failed(format!("no HTTP client can be made: {problem}")))?;
        let answer = http.request(method, url).bearer_auth(&self.token).body(body).send().await;
        let answer = answer.map_err(|_| self.no_answer())?;
        let status = answer.status();
        let body: Value = answer.json().await.map_err(|_| self.no_answer())?;
        if status.is_success() { Ok(body) } else { Err(refusal(&body)) }
    }

    fn no_answer(&self) -> Trouble {
        Trouble::new(Exit::Unreachable, format!("no simulation answers at {}", self.address))
            .hint("start it with `rackwright up` or `rackwright sim serve`")
    }
}

/// The simulation's refusal as a person reads it.
fn refusal(body: &Value) -> Trouble {
    let message = field(body, "/error/message").unwrap_or_else(|| "the simulation gives no reason".to_owned());
    let known: Vec<String> = items(body, "/error/known").iter().filter_map(Value::as_str).map(text_of).collect();
    let (exit, list_command) = match body["error"]["code"].as_str() {
        Some("UnknownKind") => (Exit::NotFound, "rackwright sim fault list --kinds"),
        Some("UnknownTarget") => (Exit::NotFound, "rackwright bmm list"),
        Some("UnknownSite") => (Exit::NotFound, "rackwright cluster list"),
        Some("BadFault") => (Exit::Usage, ""),
        Some("Unauthorized") => {
            return Trouble::failed(message).hint("another simulation has that address now; start yours again");
        }
        _ => (Exit::Failed, ""),
    };
    let trouble = Trouble::new(exit, message);
    match field(body, "/error/asked") {
        Some(asked) => trouble.hint(nearest_hint(&asked, known.iter().map(String::as_str), list_command)),
        None => trouble,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_simulator_is_remembered_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = Simulator::file(&Home::new(directory.path().join("home")));
        assert_eq!(Simulator::load(&path).unwrap_err().exit, Exit::Unreachable);
        let simulator = Simulator { address: "127.0.0.1:7301".parse().unwrap(), token: "secret".to_owned() };
        simulator.save(&path).unwrap();
        assert_eq!(Simulator::load(&path).unwrap(), simulator);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "token = \"secret\"").unwrap();
        let trouble = Simulator::load(&path).unwrap_err();
        assert!(!format!("{trouble:?}").contains("secret"), "{trouble:?}");
    }

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        let body = json!({"error": {"code": "UnknownKind", "message": "there is no fault `bmc-slo`", "asked": "bmc-slo", "known": ["bmc-slow", "api-slow"]}});
        let trouble = refusal(&body);
        assert_eq!((trouble.exit, trouble.hint.as_deref()), (Exit::NotFound, Some("did you mean `bmc-slow`?")));
        let bad = json!({"error": {"code": "BadFault", "message": "`host-hangs` takes no number"}});
        assert_eq!(refusal(&bad), Trouble::new(Exit::Usage, "`host-hangs` takes no number"));
    }
}
