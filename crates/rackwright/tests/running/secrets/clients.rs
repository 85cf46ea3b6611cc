//! What clients send that is secret: in what is taken, in what is refused, and in what lets nobody in.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::GROUP;
use super::markers::{Emitted, Markers};
use crate::server::Server;

/// One server, and all that it answers.
pub struct Client<'a> {
    pub server: &'a Server,
    pub markers: &'a mut Markers,
    pub emitted: &'a mut Emitted,
}

impl Client<'_> {
    /// Sends a body, and keeps the answer with its headers.
    fn send(&mut self, method: &str, path: &str, body: &Value) -> u16 {
        self.converse(method, path, body).0
    }

    /// The same, with the body of the answer.
    fn converse(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let answer = self.server.door().whole(method, path, "", &body.to_string()).expect("an answer");
        let (head, told) = answer.split_once("\r\n\r\n").expect("an answer has a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("an answer has a status");
        let told = serde_json::from_str(told).unwrap_or_default();
        self.emitted.hear(format!("the answer {status} to {method} {path}"), answer);
        (status, told)
    }

    /// Sends what has a head of its own, without our token, and keeps the answer with its headers.
    fn send_bare(&mut self, head: &str, body: &str) -> u16 {
        let mut line = self.server.door().connect().expect("a connection");
        write!(line, "{head}Host: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()).expect("it is heard");
        let mut answer = Vec::new();
        // The server ends the connection without a farewell of TLS.
        let _ = std::io::Read::read_to_end(&mut line, &mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        self.emitted.hear(format!("the answer to {}", head.lines().next().unwrap_or_default()), answer);
        text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("an answer has a status")
    }

    pub fn plant_all(&mut self) {
        self.virtual_machines();
        self.replacements();
        self.keys_in_the_wrong_place();
        self.wrong_credentials();
        let token = self.server.door().token().expect("a login").to_owned();
        self.markers.plant("the token", token);
    }

    /// Has a machine installed anew; returns the operation.
    pub fn reinstall(&mut self, machine: &str) -> String {
        let path = format!("{GROUP}/bareMetalMachines/{machine}/reimage?api-version=1");
        let (status, begun) = self.converse("POST", &path, &json!({ "safeguardMode": "None" }));
        assert_eq!(status, 202, "{begun}");
        begun["name"].as_str().expect("an operation has an id").to_owned()
    }

    fn virtual_machines(&mut self) {
        self.markers.plant("a registry's password", "MARKER-registry-password");
        self.markers.plant("user data", "#cloud-config MARKER-user-data");
        self.markers.plant("another registry's password", "MARKER-patched-password");
        let vm = json!({
            "location": "local",
            "properties": {
                "adminUsername": "azureuser", "cpuCores": 2, "memorySizeGB": 4, "vmImage": "registry/fw:1",
                "storageProfile": { "osDisk": { "diskSizeGB": 20, "createOption": "Ephemeral" } },
                "userDataContent": STANDARD.encode("#cloud-config MARKER-user-data"),
                "vmImageRepositoryCredentials": { "registryUrl": "registry", "username": "u", "password": "MARKER-registry-password" },
            },
        });
        let path = |name: &str| format!("{GROUP}/virtualMachines/{name}?api-version=1");
        let made = self.send("PUT", &path("planted"), &vm);
        assert!(made < 300, "{made}");
        let mut wrong = vm;
        wrong["properties"]["cpuCores"] = json!("MARKER is no number");
        assert_eq!(self.send("PUT", &path("refused"), &wrong), 400);
        let credentials = json!({ "registryUrl": "registry", "username": "u", "password": "MARKER-patched-password" });
        let patched = self.send("PATCH", &path("planted"), &json!({ "properties": { "vmImageRepositoryCredentials": credentials } }));
        assert!(patched < 500, "{patched}");
    }

    fn replacements(&mut self) {
        self.markers.plant("a new BMC's password", "MARKER-bmc-password");
        self.markers.plant("a refused BMC's password", "MARKER-refused-password");
        let path = format!("{GROUP}/bareMetalMachines/rack1compute01/replace?api-version=1");
        let credentials = |password: &str| json!({ "username": "root", "password": password });
        let refused = json!({ "bmcCredentials": credentials("MARKER-refused-password"), "safeguardMode": "None", "colour": "red" });
        assert_eq!(self.send("POST", &path, &refused), 400);
        let taken = json!({ "bmcCredentials": credentials("MARKER-bmc-password"), "safeguardMode": "None", "storagePolicy": "Preserve" });
        assert_eq!(self.send("POST", &path, &taken), 202);
    }

    /// A private key where only a certificate belongs, as whoever copies the wrong file sends it.
    fn keys_in_the_wrong_place(&mut self) {
        self.markers.plant("a private key in PEM", "MARKERprivatekeyinPEM000");
        let listed: Value = self.server.json("/rackwright/v1/principals");
        let id = listed["value"][0]["id"].as_str().expect("there is an administrator").to_owned();
        let pem = "-----BEGIN PRIVATE KEY-----\nMARKERprivatekeyinPEM000\n-----END PRIVATE KEY-----\n";
        let path = format!("/rackwright/v1/principals/{id}/certificates");
        assert_eq!(self.send("POST", &path, &json!({ "pem": pem })), 400);
    }

    fn wrong_credentials(&mut self) {
        self.markers.plant("a wrong client secret", "MARKER-client-secret");
        self.markers.plant("a wrong token", "MARKER-wrong-token");
        self.markers.plant("a wrong assertion", "MARKER-wrong-assertion");
        let endpoint = "POST /adfs/oauth2/token HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n";
        let client = "client_id=00000000-0000-4000-8000-000000000009";
        let signed = "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer";
        for form in [
            format!("grant_type=client_credentials&{client}&client_secret=MARKER-client-secret"),
            format!("grant_type=client_credentials&{client}&{signed}&client_assertion=MARKER-wrong-assertion"),
            "grant_type=client_credentials&client_id=MARKER-client-secret&client_secret=x".to_owned(),
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=MARKER-wrong-assertion".to_owned(),
            "grant_type=refresh_token&refresh_token=MARKER-wrong-token".to_owned(),
            "grant_type=device_code&device_code=MARKER-wrong-token".to_owned(),
        ] {
            let status = self.send_bare(endpoint, &form);
            assert!((400..500).contains(&status), "{status}: {form}");
        }
        for shown in ["Bearer MARKER-wrong-token", "Basic MARKER-wrong-token", "MARKER-wrong-token"] {
            let head = format!("GET /subscriptions?api-version=1 HTTP/1.1\r\nAuthorization: {shown}\r\n");
            assert_eq!(self.send_bare(&head, ""), 401);
        }
    }
}
