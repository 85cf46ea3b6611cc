//! People, whom another issuer knows: how they log in with the command line, and stay so.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::issuer::{AUDIENCE, ISSUER, Issuer, claims};
use crate::server::{Server, run, text};

/// Runs a command and returns its exit code with all that it said.
fn said(home: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let ended = run(home, arguments);
    (ended.status.code(), text(&ended.stdout) + &text(&ended.stderr))
}

#[track_caller]
fn done(home: &Path, arguments: &[&str]) -> String {
    let (code, said) = said(home, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {said}");
    said
}

/// Trusts an issuer with these keys.
pub fn trust(home: &Path, issuer: &Issuer) {
    let keys = home.join("keys.json");
    fs::write(&keys, issuer.keys().to_string()).expect("the keys can be written");
    let keys = keys.to_str().expect("a path is text");
    done(home, &["issuer", "put", "corporate", "--issuer", ISSUER, "--audience", AUDIENCE, "--keys", keys]);
}

/// What the server gives for a form at its token endpoint.
pub fn granted(server: &Server, form: &str) -> Value {
    let (_, answer) = server.door().post_form("/adfs/oauth2/token", form).expect("an answer");
    serde_json::from_str(&answer).expect("the answer is JSON")
}

/// The form that trades a token of an issuer.
pub fn by_assertion(assertion: &str) -> String {
    format!("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={assertion}")
}

#[test]
fn a_person_logs_in_with_a_token_of_their_issuer_and_stays_logged_in_without_it() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let server = Server::up(home, &[]);
    server.until_ready();
    let issuer = Issuer::new();
    trust(home, &issuer);
    let (assertion, authority) = (home.join("token.jwt"), home.join("ca.pem"));
    let shown = issuer.token("ada@example.com");
    fs::write(&assertion, format!("{shown}\n")).expect("the token can be written");
    fs::write(&authority, done(home, &["context", "authority"])).expect("the authority can be written");
    let url = format!("https://{}", server.address);
    let of = |path: &Path| path.to_str().expect("a path is text").to_owned();
    let (assertion, authority) = (of(&assertion), of(&authority));
    let login = ["login", &url, "--assertion-file", &assertion, "--ca", &authority, "--name", "person"];

    let (code, refused) = said(home, &login);
    assert_eq!(code, Some(4), "somebody without a role sees nothing: {refused}");
    assert!(refused.contains("rackwright role assign"), "{refused}");

    let token = granted(&server, &by_assertion(&shown));
    let id = claims(token["access_token"].as_str().expect("a token"))["oid"].as_str().expect("an object id").to_owned();
    done(home, &["role", "assign", "--assignee-object-id", &id, "--role", "Reader"]);
    let welcome = done(home, &login);
    assert!(welcome.contains("ada@example.com"), "{welcome}");
    assert!(done(home, &["context", "show"]).contains("ada@example.com"));
    assert!(done(home, &["bmm", "list"]).contains("rack1compute01"));
    assert_eq!(said(home, &["sp", "list"]).0, Some(4), "a reader of a subscription is no administrator");
    done(home, &["--context", "local", "sp", "list"]);

    let file = home.join("contexts.toml");
    let kept = fs::read_to_string(&file).expect("there are contexts");
    assert!(kept.contains("refresh_token") && !kept.contains(&shown), "what the issuer signed is not kept");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600);
    }

    let parsed: toml::Table = kept.parse().expect("contexts are TOML");
    let refresh = parsed["contexts"]["person"]["person"]["refresh_token"].as_str().expect("a refresh token");
    fs::write(&file, kept.replace(refresh, "e30.e30.e30")).expect("the contexts can be written");
    let (code, ended) = said(home, &["bmm", "list"]);
    assert_eq!(code, Some(4), "{ended}");
    assert!(ended.contains("the login of `ada@example.com` has ended") && ended.contains("--assertion-file"), "{ended}");
}

#[test]
fn a_token_of_nobody_who_is_trusted_lets_nobody_in() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let home = directory.path();
    let server = Server::up(home, &[]);
    server.until_ready();
    let assertion = home.join("token.jwt");
    fs::write(&assertion, Issuer::new().token("eve@example.com")).expect("the token can be written");
    let authority = home.join("ca.pem");
    fs::write(&authority, done(home, &["context", "authority"])).expect("the authority can be written");
    let before = fs::read(home.join("contexts.toml")).expect("there are contexts");
    let url = format!("https://{}", server.address);
    let of = |path: &Path| path.to_str().expect("a path is text").to_owned();
    let (code, refused) = said(home, &["login", &url, "--assertion-file", &of(&assertion), "--ca", &of(&authority)]);
    assert_eq!(code, Some(4), "{refused}");
    assert!(refused.contains("does not take the assertion"), "{refused}");
    assert_eq!(fs::read(home.join("contexts.toml")).expect("there are contexts"), before);
}
