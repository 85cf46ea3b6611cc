use model::InstallTrouble;

use super::*;

const M1: &str = r#"{"machine":"m1","nonce":"0123456789abcdef"}"#;

/// What is kept of the nonce in [`M1`].
fn nonce() -> model::Digest {
    let digits: String = Sha256::digest("0123456789abcdef").iter().map(|byte| format!("{byte:02x}")).collect();
    model::Digest::parse(&digits).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_a_nonce_of_a_fitting_length_is_told_so() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let long = "x".repeat(NONCE_MAX + 1);
    for (nonce, told) in [(None, "has 0 bytes"), (Some("0123456789abcde"), "has 15 bytes"), (Some(&long), "has 129 bytes")] {
        let body = json!({ "machine": "m1", "nonce": nonce.unwrap_or_default() });
        let answer = rig.tell(&attempt, "exchange", &token(Purpose::Agent, &attempt), &body.to_string()).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert!(answer.json().to_string().contains(told), "{}", answer.json());
    }
    assert_eq!(rig.reports(), []);
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_with_a_wrong_token_is_told_of_and_neither_the_token_nor_the_address_is() {
    let log = crate::audit::tests::Log::default();
    let _listening = log.listen();
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    for (n, what) in ["exchange", "report", "seed"].into_iter().enumerate() {
        let answer = rig.tell(&attempt, what, "MARKER", M1).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        let lines = log.denials();
        assert_eq!(lines.len(), n + 1, "{lines:?}");
        let id = answer.headers["x-ms-request-id"].to_str().unwrap();
        for word in ["reason=\"InstallDenied\"", "from=127.0.0.1", &format!("what=\"{what}\""), id] {
            assert!(lines[n].contains(word), "{word} is not in {}", lines[n]);
        }
        assert!(!lines[n].contains("MARKER") && !lines[n].contains(ticket::PREFIX), "{}", lines[n]);
        for header in ["x-content-type-options", "cache-control", "x-ms-correlation-request-id"] {
            assert!(answer.headers.contains_key(header), "{header}");
        }
        assert!(!answer.headers.contains_key("strict-transport-security"), "it is spoken to in the clear");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_goes_from_its_token_to_a_system_that_phones_home() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let answer = rig.tell(&attempt, "exchange", &token(Purpose::Agent, &attempt), M1).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    let session = token(Purpose::Session, &attempt);
    let image = model::OsImage { url: format!("{URL}/install/v1/attempts/site/op1/2/image"), ..bundle().os_image };
    let expected = json!({ "session": session, "image": image, "osDisk": { "volume": "OS" }, "hostname": "m1" });
    assert_eq!(answer.json(), expected);
    for word in [
        json!({ "kind": "progress", "percent": 40 }),
        json!({ "kind": "written", "sha256": bundle().os_image.sha256 }),
        json!({ "kind": "failed", "trouble": "missingDisk", "detail": "none\u{7} found" }),
    ] {
        assert_eq!(rig.tell(&attempt, "report", &session, &word.to_string()).await.status, StatusCode::NO_CONTENT, "{word}");
    }
    let seed = rig.tell(&attempt, "seed", &session, "").await;
    assert_eq!(seed.status, StatusCode::OK);
    let (system, join) = (token(Purpose::System, &attempt), key().join_token(&attempt).text().to_string());
    let user_data = format!(
        "phone_home: {{url: {URL}/install/v1/attempts/site/op1/2/phone-home, token: {system}}}\n\
         join: {{api_url: https://10.0.0.5:6443, token: {join}}}\nrole: compute\n"
    );
    let meta_data = "{\"instance-id\":\"op1-2\",\"local-hostname\":\"m1\"}\n";
    assert_eq!(seed.json(), json!({ "userData": user_data, "metaData": meta_data }));
    assert_eq!(rig.tell(&attempt, "phone-home", &system, "pub_key_rsa=x").await.status, StatusCode::NO_CONTENT);
    let expected = [
        MachineReport::Exchange { nonce: nonce() },
        MachineReport::Progress { percent: 40 },
        MachineReport::Written { digest: bundle().os_image.sha256 },
        MachineReport::Failed { trouble: InstallTrouble::MissingDisk, detail: "none found".to_owned() },
        MachineReport::PhonedHome { key_sets: std::collections::BTreeMap::new() },
    ];
    assert_eq!(rig.reports(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_good_for_its_own_purpose_attempt_and_machine_alone() {
    let (rig, current) = (rig().await, attempt("m1", "op1", 2));
    let status = async |what: &str, token: &str| rig.tell(&current, what, token, M1).await.status;
    let purposes =
        [("exchange", Purpose::Agent), ("report", Purpose::Session), ("seed", Purpose::Session), ("phone-home", Purpose::System)];
    for (what, right) in purposes {
        for purpose in Purpose::ALL.into_iter().filter(|purpose| *purpose != right) {
            assert_eq!(status(what, &token(purpose, &current)).await, StatusCode::UNAUTHORIZED, "{what} with {purpose:?}");
        }
        assert_eq!(status(what, &token(right, &attempt("m1", "op1", 1))).await, StatusCode::UNAUTHORIZED, "{what} of the round before");
        assert_eq!(status(what, "").await, StatusCode::UNAUTHORIZED, "{what} without a token");
    }
    assert_eq!(rig.reports(), []);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_over_takes_nothing_even_with_its_own_token() {
    let rig = rig().await;
    for over in [attempt("m1", "op1", 1), attempt("m1", "op1", 3), attempt("m1", "op0", 2), attempt("m1", "never", 1)] {
        for (what, purpose) in
            [("exchange", Purpose::Agent), ("report", Purpose::Session), ("seed", Purpose::Session), ("phone-home", Purpose::System)]
        {
            let answer = rig.tell(&over, what, &token(purpose, &over), M1).await;
            assert_eq!(answer.status, StatusCode::CONFLICT, "{what} of {over:?}");
        }
    }
    assert_eq!(rig.reports(), []);
}

#[tokio::test(start_paused = true)]
async fn there_is_no_seed_before_the_exchange() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    assert_eq!(rig.tell(&attempt, "seed", &token(Purpose::Session, &attempt), "").await.status, StatusCode::CONFLICT);
}

#[tokio::test(start_paused = true)]
async fn another_machines_token_ends_the_attempt_that_it_is_used_for() {
    let (rig, own, other) = (rig().await, attempt("m1", "op1", 2), attempt("m2", "op2", 2));
    assert_eq!(rig.tell(&own, "exchange", &token(Purpose::Agent, &other), M1).await.status, StatusCode::UNAUTHORIZED);
    let answer = rig.tell(&own, "exchange", &token(Purpose::Agent, &own), r#"{"machine":"m2"}"#).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    let misused = |detail: &str| MachineReport::Failed { trouble: InstallTrouble::TokenMisused, detail: detail.to_owned() };
    let expected = [misused("the agent came with the token of `m2`"), misused("the token was used by a machine that calls itself `m2`")];
    assert_eq!(rig.reports(), expected);
}

#[tokio::test(start_paused = true)]
async fn what_the_keeper_refuses_is_a_conflict() {
    let (rig, attempt) = (rig_with(Keeper::SaysNo, None).await, attempt("m1", "op1", 2));
    let answer = rig.tell(&attempt, "exchange", &token(Purpose::Agent, &attempt), M1).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert_eq!(answer.json(), json!({ "error": "no: used before" }));
}
