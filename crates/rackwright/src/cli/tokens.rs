//! How tokens are asked for: with a program's login, with a token of another issuer, or with what keeps a person logged in.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::access::{Login, Person, Secret};
use super::answer::{field, text_of};
use super::trouble::{Exit, Trouble};

/// What is shown for a token.
#[derive(Clone, Copy, Debug)]
pub enum Grant<'a> {
    Login(&'a Login),
    /// A token of an issuer that the server trusts to know people.
    Assertion(&'a Secret),
    Person(&'a Person),
}

/// What was given for it.
#[derive(Debug)]
pub struct Granted {
    pub token: Secret,
    /// What gets a person the next token. Programs have their login for that.
    pub refresh_token: Option<Secret>,
}

impl<'a> Grant<'a> {
    /// As the token endpoint takes it.
    pub fn form(self) -> Vec<(&'static str, &'a str)> {
        match self {
            Grant::Login(login) => {
                vec![("grant_type", "client_credentials"), ("client_id", &login.client_id), ("client_secret", login.client_secret.text())]
            }
            Grant::Assertion(assertion) => {
                vec![("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion.text())]
            }
            Grant::Person(person) => vec![("grant_type", "refresh_token"), ("refresh_token", person.refresh_token.text())],
        }
    }

    pub fn read(self, server: &str, status: reqwest::StatusCode, body: &[u8]) -> Result<Granted, Trouble> {
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        let secret = |name: &str| answer.get(name).and_then(Value::as_str).map(Secret::new);
        match secret("access_token") {
            Some(token) => Ok(Granted { token, refresh_token: secret("refresh_token") }),
            None => {
                let why = field(&answer, "/error_description").or_else(|| field(&answer, "/error/message"));
                Err(self.refused(server, &why.unwrap_or_else(|| status.to_string()), status.is_server_error()))
            }
        }
    }

    /// A server that is in trouble has said nothing about who asks.
    fn refused(self, server: &str, why: &str, is_servers_fault: bool) -> Trouble {
        if is_servers_fault {
            return Trouble::failed(format!("{server} gives no token: {why}"));
        }
        let refused = |message| Trouble::new(Exit::Refused, message);
        match self {
            Grant::Login(login) => refused(format!("{server} does not let `{}` in: {why}", text_of(&login.client_id)))
                .hint("`rackwright login` takes another client id and secret"),
            Grant::Assertion(_) => refused(format!("{server} does not take the assertion: {why}"))
                .hint("`rackwright issuer list` tells an administrator which issuers are trusted; get a new token of one, for this server"),
            Grant::Person(person) => refused(format!("the login of `{}` has ended: {why}", text_of(&person.name)))
                .hint(format!("log in again: `rackwright login {server} --assertion-file FILE`")),
        }
    }
}

/// Whom a token of the server's own names. It came from the server itself, so it is believed, and only shown.
pub fn name_in(token: &Secret) -> Option<String> {
    let claims = URL_SAFE_NO_PAD.decode(token.text().split('.').nth(1)?).ok()?;
    field(&serde_json::from_slice(&claims).ok()?, "/name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use reqwest::StatusCode;
    use serde_json::json;

    fn ada() -> Person {
        Person { name: "ada@example.com".to_owned(), refresh_token: Secret::new("r1") }
    }

    fn refusal(grant: Grant<'_>, status: StatusCode, answer: &Value) -> String {
        let trouble = grant.read("https://host", status, answer.to_string().as_bytes()).unwrap_err();
        format!("{:?}: {}\n{}\n", trouble.exit, trouble.message, trouble.hint.unwrap_or_default())
    }

    #[test]
    fn a_person_whose_login_has_ended_is_told_to_log_in_again() {
        let answer = json!({ "error": "invalid_grant", "error_description": "it has expired" });
        expect![[r#"
            Refused: the login of `ada@example.com` has ended: it has expired
            log in again: `rackwright login https://host --assertion-file FILE`
        "#]]
        .assert_eq(&refusal(Grant::Person(&ada()), StatusCode::BAD_REQUEST, &answer));
    }

    #[test]
    fn a_server_in_trouble_ends_nobodys_login() {
        let answer = json!({ "error": "temporarily_unavailable", "error_description": "no token can be made just now" });
        expect![[r#"
            Failed: https://host gives no token: no token can be made just now

        "#]]
        .assert_eq(&refusal(Grant::Person(&ada()), StatusCode::SERVICE_UNAVAILABLE, &answer));
    }

    #[test]
    fn what_is_granted_is_read_and_says_whose_it_is() {
        let token = format!("h.{}.s", URL_SAFE_NO_PAD.encode(json!({ "name": "ada@example.com" }).to_string()));
        let answer = json!({ "access_token": token, "refresh_token": "r2" });
        let granted = Grant::Person(&ada()).read("https://host", StatusCode::OK, answer.to_string().as_bytes()).unwrap();
        assert_eq!(granted.refresh_token, Some(Secret::new("r2")));
        assert_eq!(name_in(&granted.token).as_deref(), Some("ada@example.com"));
        assert_eq!(name_in(&Secret::new("no token")), None);
    }
}
