//! Each fault of an installation, met by the whole: what the operation says at its end, and what is left of the machine.

use std::time::Duration;

use expect_test::{Expect, expect};
use model::{Action, Ask, ClusterName, CorrelationId, MachineName, Outage, REQUEST_LIFE, Request, RequestId, Safeguard, keys};
use scenarios::House;
use serde_json::Value;
use store::Commit;

const MACHINE: &str = "rack1compute01";

/// Asks for a reimage as the API would; returns its operation, or why there is none.
async fn reimage(house: &House, time: u32) -> Result<String, String> {
    let (now, cluster) = (house.clock.now(), ClusterName::new("site1").unwrap());
    let id = RequestId::new(format!("reimage-{time}"));
    let action = Action::Reimage { safeguard: Safeguard::None };
    let request = Request {
        id: id.clone(),
        cluster: cluster.clone(),
        ask: Ask::Act { machine: MachineName::new(MACHINE).unwrap(), action, outage: Outage::Refused, replacement: None },
        caller: "alice".to_owned(),
        correlation_id: CorrelationId::new("c1"),
        key: None,
        sent: None,
        received_at: now,
        expires_at: now + REQUEST_LIFE,
        verdict: None,
    };
    let key = keys::request(&cluster, &id);
    house.store.commit(Commit::default().put(key.clone(), serde_json::to_vec(&request).unwrap())).await.unwrap();
    house.settle().await;
    let judged = house.store.get(&key).await.unwrap().expect("a judged request is kept for a while");
    let judged: Value = serde_json::from_slice(&judged.value).unwrap();
    judged["verdict"]["operation"].as_str().map(str::to_owned).ok_or_else(|| judged["verdict"].to_string())
}

/// How a reimage ended, and what is on the machine's disks.
async fn told(house: &House, operation: &str) -> String {
    let began_at = tokio::time::Instant::now();
    house.until_ended(operation).await;
    let minutes = began_at.elapsed().as_secs() / 60;
    house.settle().await;
    let operation = house.operation(operation).await;
    let machine = house.machine(MACHINE).await;
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let state = ["powerState", "readyState", "detailedStatus"].map(|field| text(&machine["properties"][field])).join(" ");
    let system = house.site.volumes(MACHINE).unwrap()[0].1.chars().take(12).collect::<String>();
    format!("{} after {minutes} min: {}\n{state}, {}\n", text(&operation["status"]), text(&operation["message"]), system.trim())
}

/// A reimage with the fault, and another when it has gone, which must succeed.
async fn check(fault: &str, expected: Expect) {
    let house = House::build(1, 4).await;
    house.import_runtimes().await;
    let data = house.site.volumes(MACHINE).unwrap()[1..].to_vec();
    let orders = sim::parse_order(&format!("{fault} {MACHINE}"), house.site.layout()).unwrap();
    house.site.add_faults(&orders).await.unwrap();
    let transcript = match reimage(&house, 1).await {
        Ok(operation) => told(&house, &operation).await,
        Err(refusal) => refusal,
    };
    expected.assert_eq(&transcript);
    house.site.clear_faults(|_| true).await.unwrap();
    tokio::time::sleep(Duration::from_secs(600)).await;
    let operation = reimage(&house, 2).await.unwrap_or_else(|refusal| panic!("{fault}: not again: {refusal}"));
    house.until_ended(&operation).await;
    let ended = house.operation(&operation).await;
    assert_eq!(ended["status"], "Succeeded", "{fault}: {ended:#}");
    assert_eq!(house.site.volumes(MACHINE).unwrap()[1..], data, "{fault}: tenants' data is as it was");
    house.close().await;
}

macro_rules! faults {
    ($($test:ident = $fault:literal: $expected:expr;)*) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $test() {
                check($fault, $expected).await;
            }
        )*
    };
}

faults! {
    a_bmc_that_refuses_media = "bmc-refuses-media": expect![[r#"
        Succeeded after 15 min: `rack1compute01` was reimaged with runtime 4.9.2; it stays cordoned: rackwright bmm uncordon rack1compute01
        On True Provisioned, system f97dd
    "#]];
    a_bmc_that_says_yes_to_media_and_does_nothing = "bmc-ignores-media": expect![[r#"
        Failed after 4 min: reimage failed: the BMC of `rack1compute01` took the insertion of the agent's image 3 times and nothing came of it: the virtual drive is still empty. Left behind: power Off; holds power-off by operation reimage-
        Off False Provisioned, system as de
    "#]];
    a_bmc_that_forgets_its_sessions = "bmc-forgets-sessions": expect![[r#"
        Succeeded after 15 min: `rack1compute01` was reimaged with runtime 4.9.2; it stays cordoned: rackwright bmm uncordon rack1compute01
        On True Provisioned, system f97dd
    "#]];
    a_machine_that_boots_its_old_disk = "boots-old-disk": expect![[r#"
        Failed after 31 min: reimage failed: no agent has called at http://install.invalid within 30m 00s of the power-on: the BMC reads back that it starts from virtual media, and an image is in its virtual drive; its node is ready, so it has started its old disk. Left behind: power Off; holds installation by alice, operation reimage-
        Off False Error, system as de
    "#]];
    an_agent_that_never_calls = "agent-never-calls": expect![[r#"
        Failed after 31 min: reimage failed: no agent has called at http://install.invalid within 30m 00s of the power-on: the BMC reads back that it starts from virtual media, and an image is in its virtual drive; it may have started its old disk. Left behind: power Off; holds installation by alice, operation reimage-
        Off False Error, system as de
    "#]];
    a_system_that_never_phones_home = "never-phones-home": expect![[r#"
        Failed after 40 min: reimage failed: the new system has not phoned home within 30m 00s of its start: the BMC reads back that it starts from its disk, and its virtual drive is empty; look at its console, and whether it reaches us. Left behind: power On; holds installation by alice, operation reimage-
        On False Error, system f97dd
    "#]];
    an_image_with_other_bytes = "image-wrong": expect![[r#"
        Failed after 5 min: reimage failed: the image's digest is wrong (http://install.invalid/install/v1/attempts/site1/reimage-1/1/image: 262144 bytes with sha256 f97dd377ff3cff78345f81c94088ec8e1c43275dadd55bd5b5f7563aac9d022f were expected, and 262144 with 1e8217b95a0bdbe6fb8437c62f84818ae731a8d3eaab65076027998a5e1400fa came). Left behind: power Off; holds installation by alice, operation reimage-
        Off False Error, nothing
    "#]];
    an_image_that_cannot_be_reached = "image-unreachable": expect![[r#"
        Failed after 6 min: reimage failed: the image cannot be fetched (http://install.invalid/install/v1/attempts/site1/reimage-1/1/image: no route to host); we fetch it from where its runtime says, and the machine from us. Left behind: power Off; holds installation by alice, operation reimage-
        Off False Error, system as de
    "#]];
    a_missing_disk = "disk-missing": expect![[r#"
        Failed after 5 min: reimage failed: a disk that was named is not there (no disk has WWN 6bb85b481df4f13bbb85b481df4f13b2, of volume OS); compare the site file (`os-disk`, `data-disks`) with the disks that `rackwright bmm show` lists. Left behind: power Off; holds installation by alice, operation reimage-
        Off False Error, system as de
    "#]];
    two_disks_with_one_identity = "disk-twice": expect![[r#"
        Failed after 5 min: reimage failed: several disks answer to the identity of one (2 disks are what sda is to be known by); name it in the site file (`os-disk`, `data-disks`) by what no other disk has: `rackwright bmm show` lists them. Left behind: power Off; holds installation by alice, operation reimage-
        Off False Error, system as de
    "#]];
    a_disk_that_is_too_small = "disk-small": expect![[r#"
        Failed after 5 min: reimage failed: the disk is too small for the image (sda has too few bytes for the 262144 of the image); name a larger one in the site file (`os-disk`): `rackwright bmm show` lists them. Left behind: power Off; holds installation by alice, operation reimage-
        Off False Error, system as de
    "#]];
    a_token_used_twice = "token-used-twice": expect![[r#"
        Failed after 5 min: reimage failed: the token was used twice, or by another machine (its token was shown for the second time at 14:05:44Z); the machine may have been restarted meanwhile, or its network is open to others. Left behind: power Off; holds installation by alice, operation reimage-
        Off False Error, system as de
    "#]];
    a_token_used_by_another_machine = "token-stolen": expect![[r#"
        Failed after 5 min: reimage failed: the token was used twice, or by another machine (the token was used by a machine that calls itself `rack1control01`); the machine may have been restarted meanwhile, or its network is open to others. Left behind: power Off; holds installation by alice, operation reimage-
        Off False Error, system as de
    "#]];
    a_firmware_job_in_the_queue = "firmware-job-stuck": expect![[r#"{"kind":"refused","refusal":{"rule":"FirmwareJob","message":"`rack1compute01` cannot be reimaged","evidence":["the BMC of `rack1compute01` has a firmware job in its queue: `Firmware Update: bios-update.bin` (0 %)"],"remedy":"wait until it has ended, or take it out of the BMC's queue"}}"#]];
}
