use http::Method;
use model::{Remedy, Verdict};

use super::*;
use crate::fixtures::{Documents, NOW, cluster, keep, machine, of_json, send};

const MACHINE: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1";

async fn service() -> Api {
    Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1")).serve().await
}

fn advice() -> Advice {
    let against = json!({ "rule": "OneActionPerMachine", "message": "no", "evidence": ["a restart runs"], "remedy": "wait" });
    of_json(json!({
        "machine": "m1", "next": "replace", "because": ["hardware"], "then": ["support"], "parts": [], "warnings": [], "commands": [],
        "tried": [{ "action": "restart", "operation": "8f3c", "at": NOW, "result": "Failed", "counts": true, "message": "x" }],
        "against": against,
    }))
}

#[tokio::test(start_paused = true)]
async fn advice_is_asked_with_symptom_and_parts_and_says_what_speaks_against_it() {
    let api = service().await;
    let asked = keep(&api, |_| Verdict::Advised { advice: Box::new(advice()) });
    let path = format!("{MACHINE}/advise?api-version=1&symptom=os-corruption&repaired=ssd,%20nic");
    let (status, answer) = send(&api, Method::GET, &path, "").await;
    assert_eq!(status, StatusCode::OK, "{answer:#}");
    let Ask::Advise { symptom, repaired, .. } = asked.last().ask else { panic!() };
    assert_eq!((symptom, repaired), (Some(Symptom::OsCorruption), vec![RepairedPart::Ssd, RepairedPart::Nic]));
    assert_eq!((answer["next"].as_str(), answer["symptom"].is_null()), (Some(Remedy::Replace.as_str()), true));
    assert_eq!(answer["against"]["rule"], "one-action-per-machine");
    let fields: Vec<&str> = crate::schema::ADVICE.fields.iter().map(|field| field.name).collect();
    let answered = answer.as_object().unwrap();
    assert!(fields.iter().all(|field| answered.contains_key(*field)) && answered.len() == fields.len(), "{answer:#}");
}

#[tokio::test(start_paused = true)]
async fn what_nobody_knows_is_refused_with_what_is_known() {
    let api = service().await;
    let asked = keep(&api, |_| Verdict::Done);
    let (status, answer) = send(&api, Method::GET, &format!("{MACHINE}/advise?api-version=1&symptom=tired"), "").await;
    assert_eq!((status, &answer["error"]["target"]), (StatusCode::BAD_REQUEST, &json!("symptom")));
    let message = "`symptom` knows no `tired`; unresponsive, os-corruption, hardware, security, stuck-provisioning are possible";
    assert_eq!(answer["error"]["message"], message);
    let (_, answer) = send(&api, Method::GET, &format!("{MACHINE}/advise?api-version=1&repaired=ssd,paint"), "").await;
    assert_eq!(answer["error"]["target"], "repaired");
    let (status, _) = send(&api, Method::GET, &MACHINE.replace("m1", "m2/verify?api-version=1"), "").await;
    assert_eq!((status, asked.count()), (StatusCode::NOT_FOUND, 0));
}

#[tokio::test(start_paused = true)]
async fn the_worst_check_is_the_result() {
    let api = service().await;
    let check = |state: PostState| PostCheck {
        name: "x".into(),
        state,
        expected: "a".into(),
        found: "b".into(),
        words: String::new(),
        awaits: None,
    };
    keep(&api, move |_| Verdict::Verified { checks: vec![check(PostState::Ok), check(PostState::Differs), check(PostState::Waits)] });
    let (status, answer) = send(&api, Method::GET, &format!("{MACHINE}/verify?api-version=1"), "").await;
    assert_eq!((status, &answer["result"], answer["checks"].as_array().unwrap().len()), (StatusCode::OK, &json!("differs"), 3));
    assert_eq!(render_checks("m", &[check(PostState::Waits), check(PostState::Ok)])["result"], "waits");
    assert_eq!(render_checks("m", &[check(PostState::Waits), check(PostState::Unknown)])["result"], "unknown");
    assert_eq!(render_checks("m", &[check(PostState::Ok)])["result"], "ok");
}
