//! Images that do not arrive, or not as they should.

use agent::life::Ending;
use agent::trouble::{Failure, Trouble};
use serde_json::json;

use crate::control_plane::{ControlPlane, Plan, Reply, Seen, sha256};
use crate::machine::{TestMachine, noise, os_image};

const DISKS: &[(&str, &str, u64)] = &[("sda", "DATA-1", 3), ("sdb", "OS-1", 12)];

fn raw() -> Plan {
    Plan::raw(&os_image(5), &json!({"serial": "OS-1"}))
}

fn packed() -> Plan {
    // Noise does not pack, so that there is something to cut.
    let image = [os_image(5), noise(7, 3 << 20)].concat();
    Plan::packed(&image, &json!({"serial": "OS-1"}))
}

/// Installs. The disk beside the system's must be as before; where the image ends, the disk's own old data must begin.
fn install(plan: Plan) -> (Ending, ControlPlane) {
    let machine = TestMachine::with(DISKS);
    let (before, old) = (machine.content("sda"), machine.content("sdb"));
    let bytes = plan.grant["image"]["bytes"].as_u64().unwrap() as usize;
    let control_plane = ControlPlane::start(plan);
    let ending = machine.install(&control_plane);
    assert!(machine.content("sda") == before);
    if ending != Ending::Written {
        assert!(machine.content("sdb")[bytes..] == old[bytes..], "something was written beyond the image");
        assert!(!control_plane.story().contains(&"seed".to_owned()));
    }
    (ending, control_plane)
}

fn fails(plan: Plan) -> (Trouble, String) {
    match install(plan).0 {
        Ending::Failed(Failure { trouble, detail }) => (trouble, detail),
        other => panic!("it did not fail: {other:?}"),
    }
}

fn of_image(script: impl Fn(&Seen, Reply) -> Reply + Send + Sync + 'static) -> impl Fn(&Seen, Reply) -> Reply + Send + Sync + 'static {
    move |seen, reply| if seen.what == "image" { script(seen, reply) } else { reply }
}

#[test]
fn an_image_whose_every_body_is_cut_is_resumed_until_it_is_whole() {
    for plan in [raw(), packed()] {
        let (ending, control_plane) = install(plan.scripted(of_image(|_, reply| Reply { cut: Some(700_001), ..reply })));
        assert_eq!(ending, Ending::Written);
        let ranges: Vec<String> = control_plane.seen().into_iter().filter_map(|seen| seen.range).collect();
        assert!(ranges.len() >= 4 && ranges[0] == "bytes=700001-" && ranges[1] == "bytes=1400002-", "{ranges:?}");
    }
}

#[test]
fn a_server_that_knows_no_ranges_is_read_from_the_beginning() {
    let plan = raw();
    let whole = plan.sent.clone();
    let plan = plan.scripted(of_image(move |seen, _| {
        let cut = [Some(1_000_000), Some(2_000_000), None][seen.nth.min(2)];
        Reply { body: whole.clone(), cut, ..Reply::status(200) }
    }));
    assert_eq!(install(plan).0, Ending::Written);
}

#[test]
fn an_image_that_never_goes_on_is_given_up() {
    let (ending, control_plane) = install(raw().scripted(of_image(|seen, reply| {
        let cut = if seen.nth == 0 { 700_000 } else { 0 };
        Reply { cut: Some(cut), ..reply }
    })));
    let Ending::Failed(failure) = ending else { panic!("{ending:?}") };
    assert_eq!(failure.trouble, Trouble::ImageUnreachable);
    assert!(failure.detail.contains("10 tries without a new byte after 700000 of 5242880"), "{}", failure.detail);
    assert_eq!(control_plane.story().iter().filter(|what| *what == "image").count(), 10, "{:?}", control_plane.story());
}

#[test]
fn a_control_plane_that_still_fetches_the_image_is_waited_for_and_told_that_somebody_waits() {
    let (ending, control_plane) = install(raw().scripted(of_image(|seen, reply| if seen.nth < 40 { Reply::status(503) } else { reply })));
    assert_eq!(ending, Ending::Written);
    let told = control_plane.bodies("report").into_iter().filter(|body| body.contains("\"percent\":0")).count();
    assert!(told >= 40, "{told}");
}

#[test]
fn an_image_that_is_gone_is_not_asked_for_again() {
    for status in [404, 410] {
        let (ending, control_plane) = install(raw().scripted(of_image(move |_, _| Reply::status(status))));
        assert!(matches!(ending, Ending::Failed(Failure { trouble: Trouble::ImageUnreachable, .. })), "{ending:?}");
        assert_eq!(control_plane.story(), ["exchange", "log", "inventory", "log", "image", "log", "report failed"]);
    }
}

#[test]
fn an_image_that_is_longer_or_shorter_than_said_is_told_so() {
    let longer = |bytes: usize| of_image(move |_, reply| Reply { body: [&reply.body[..], &vec![1; bytes]].concat().into(), ..reply });
    let shorter = of_image(|_, reply| Reply { body: reply.body.slice(..reply.body.len() - 1), ..reply });
    assert_eq!(fails(raw().scripted(longer(1))).0, Trouble::ImageMisfit);
    assert_eq!(fails(raw().scripted(shorter)).0, Trouble::ImageMisfit);
    // What does not announce its length is found out at its end.
    let longer = of_image(|_, reply| Reply { body: [&reply.body[..], &[1; 9]].concat().into(), is_chunked: true, ..reply });
    assert_eq!(fails(raw().scripted(longer)).0, Trouble::ImageMisfit);
    let shorter = of_image(|seen, reply| match seen.range {
        None => Reply { body: reply.body.slice(..reply.body.len() - 9), is_chunked: true, ..reply },
        Some(_) => Reply { headers: vec![("content-range", "bytes */5242871".to_owned())], ..Reply::status(416) },
    });
    let (trouble, detail) = fails(raw().scripted(shorter));
    assert_eq!(trouble, Trouble::ImageMisfit);
    assert!(detail.ends_with("it has 5242871 bytes, and should have 5242880"), "{detail}");
}

#[test]
fn a_packed_image_that_unpacks_to_another_length_is_told_so() {
    for (said, is) in [(5_242_879, "longer"), (5_242_881, "has 5242880 bytes")] {
        let mut plan = Plan::packed(&os_image(5), &json!({"serial": "OS-1"}));
        plan.grant["image"]["bytes"] = json!(said);
        let (trouble, detail) = fails(plan);
        assert_eq!(trouble, Trouble::ImageMisfit);
        assert!(detail.contains(is), "{detail}");
    }
}

#[test]
fn an_image_with_another_digest_is_told_so() {
    let spoil = of_image(|_, reply| {
        let mut body = reply.body.to_vec();
        body[3_000_000] ^= 1;
        Reply { body: body.into(), ..reply }
    });
    let (trouble, detail) = fails(raw().scripted(spoil));
    assert_eq!(trouble, Trouble::WrongDigest);
    assert!(detail.ends_with(&format!("and should have {}", sha256(&os_image(5)))), "{detail}");
}

#[test]
fn a_packed_image_that_is_damaged_is_told_by_its_digest() {
    for at in [0, 100, 1_000_000] {
        let spoil = of_image(move |_, reply| {
            let mut body = reply.body.to_vec();
            body[at] ^= 0x55;
            Reply { body: body.into(), ..reply }
        });
        let (trouble, detail) = fails(packed().scripted(spoil));
        assert_eq!(trouble, Trouble::WrongDigest, "{at}: {detail}");
        assert!(detail.starts_with("the packed image has the SHA-256"), "{detail}");
    }
}

#[test]
fn what_is_said_to_be_packed_and_is_not_is_a_misfit() {
    let image = os_image(5);
    let mut plan = Plan::raw(&image, &json!({"serial": "OS-1"}));
    plan.grant["image"]["packed"] = json!({"format": "zstd", "sha256": sha256(&image), "bytes": image.len()});
    let (trouble, detail) = fails(plan);
    assert_eq!(trouble, Trouble::ImageMisfit);
    assert!(detail.starts_with("the image cannot be unpacked"), "{detail}");
    let mut plan = raw();
    plan.grant["image"]["packed"] = json!({"format": "xz", "sha256": sha256(&image), "bytes": image.len()});
    assert!(fails(plan).1.contains("packed as `xz`"));
}

#[test]
fn an_image_that_is_replaced_meanwhile_is_not_mixed_with_the_new_one() {
    let plan = raw().scripted(of_image(|seen, reply| match seen.nth {
        0 => Reply { cut: Some(1_000_000), ..reply },
        _ => Reply { headers: vec![("etag", "\"two\"".to_owned())], ..reply },
    }));
    assert!(fails(plan).1.contains("replaced by another one"));
}

#[test]
fn the_session_is_told_to_nobody_else() {
    let other = ControlPlane::start(raw().scripted(|_, _| Reply::status(404)));
    let mut plan = raw();
    plan.grant["image"]["url"] = format!("{}/elsewhere/image", other.url).into();
    assert_eq!(fails(plan).0, Trouble::ImageUnreachable);
    let seen = other.seen();
    assert_eq!((seen.len(), seen[0].bearer.as_deref()), (1, None));
}
