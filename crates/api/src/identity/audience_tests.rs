//! What a token can be asked for, as each of Azure's clients asks for one.

use http::StatusCode;
use serde_json::Value;

use crate::Api;
use crate::fixtures::Documents;

/// Asks for a token as a service principal of the house.
async fn ask(api: &Api, login: &str, rest: &str) -> (StatusCode, Value) {
    super::tests::ask(api, &format!("grant_type=client_credentials&{login}{rest}")).await
}

async fn house() -> (Api, String) {
    let api = Documents::default().serve().await;
    let principal = api.gate.create_principal("deploy").await.unwrap();
    let (principal, secret) = api.gate.add_secret(principal.id, None, None).await.unwrap();
    let login = format!("client_id={}&client_secret={}", principal.client_id, secret.text());
    (api, login)
}

#[tokio::test]
async fn a_token_is_given_however_a_client_calls_us_and_is_always_for_us() {
    let (api, login) = house().await;
    let asked = [
        // az: the address that it was told, with a slash of its own.
        "&scope=https%3A%2F%2Flocalhost%2F%2F.default",
        "&scope=https%3A%2F%2Flocalhost%2F.default",
        "&scope=https%3A%2F%2FLOCALHOST%2F.default+offline_access+openid+profile",
        "&scope=https%3A%2F%2Fmanagement.rackwright%2F%2F.default",
        // azure-identity, when the SDK is not told what to ask for.
        "&scope=https%3A%2F%2Fmanagement.azure.com%2F.default",
        "&resource=https%3A%2F%2Fmanagement.azure.com%2F",
        "&resource=https%3A%2F%2Flocalhost",
        "",
    ];
    for rest in asked {
        let (status, answer) = ask(&api, &login, rest).await;
        assert_eq!(status, StatusCode::OK, "{rest}: {answer}");
        let token = answer["access_token"].as_str().unwrap();
        assert_eq!(api.gate.authenticate(token).unwrap().name, "deploy", "{rest}");
    }
}

#[tokio::test]
async fn no_token_is_given_for_anybody_else() {
    let (api, login) = house().await;
    let others = [
        "https%3A%2F%2Fgraph.microsoft.com%2F.default",
        "https%3A%2F%2Fmanagement.azure.com.example%2F.default",
        "https%3A%2F%2Fmanagement.azure.com%2Fother%2F.default",
        "http%3A%2F%2Flocalhost%2F.default",
        "https%3A%2F%2Flocalhost%2F.default.default",
        "https%3A%2F%2Flocalhost%3A7225%2F.default",
    ];
    for other in others {
        let (status, answer) = ask(&api, &login, &format!("&scope={other}")).await;
        assert_eq!((status, answer["error"].as_str()), (StatusCode::BAD_REQUEST, Some("invalid_target")), "{other}: {answer}");
    }
}
