//! Every fault, at several moments of a restart, of a power-off with a start, and of a cordon with an uncordon: the
//! operation ends, no action is lost or doubled, and the BMC's own log is the witness. And every fault has its story and its
//! row in the documentation.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http::Method;
use scenarios::{House, machine_path};
use serde_json::Value;
use sim::{Aim, FaultKind, Logged};

const MACHINE: &str = "rack1compute01";

/// How long each fault lasts: longer than a late power request may be obeyed, shorter than any deadline.
const LASTING: &str = "6m";

/// When the fault begins, after the request: while the system shuts down, when the power has gone, while the machine comes
/// on, and while it boots. The first is a little before the request.
const MOMENTS: [i64; 6] = [-3, 1, 30, 62, 75, 180];

/// A power-off and a start together pass through what a restart does, so fewer moments are enough for them.
const FEWER_MOMENTS: [i64; 3] = [-3, 10, 70];

/// After the operation nothing may follow. This is longer than a shutdown has its time, and a late request its effect.
const AFTERMATH: Duration = Duration::from_secs(15 * 60);

/// How often the test looks at an operation, and how often at most: three hours outlast every deadline.
const LOOK_EVERY: Duration = Duration::from_secs(5);
const PATIENCE: u32 = 3 * 3600 / 5;

#[derive(Clone, Copy, Debug)]
enum Work {
    Restart,
    PowerOffAndStart,
}

/// How long a fault stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stay {
    AWhile,
    UntilMended,
}

async fn break_it(house: &House, kind: FaultKind, stay: Stay) {
    let target = if kind.aim() == Aim::Api { "api" } else { MACHINE };
    let lasting = match (stay, kind) {
        (Stay::AWhile, _) => format!(" for {LASTING}"),
        // Without a duration it would be one panic.
        (Stay::UntilMended, FaultKind::HostPanics | FaultKind::BmcRestart) => " for 1d".to_owned(),
        (Stay::UntilMended, _) => String::new(),
    };
    let orders = sim::parse_order(&format!("{kind} {target}{lasting}"), house.site.layout()).expect("the phrase is sound");
    house.site.add_faults(&orders).await.expect("the fault is taken up");
}

/// Asks for an action, lets the fault begin at its moment, and returns the operation when it has ended.
async fn act_under_fault(house: &House, verb: &str, (kind, stay): (FaultKind, Stay), moment: i64) -> Value {
    if moment < 0 {
        break_it(house, kind, stay).await;
        tokio::time::sleep(Duration::from_secs(moment.unsigned_abs())).await;
    }
    let path = format!("{}/{verb}?api-version=1", machine_path(MACHINE));
    let reply = house.call(Method::POST, &path, "alice", "").await;
    let id = reply.body["name"].as_str().unwrap_or_else(|| panic!("{verb} under {kind} at {moment}: {:?}", reply.body)).to_owned();
    if moment >= 0 {
        tokio::time::sleep(Duration::from_secs(moment.unsigned_abs())).await;
        break_it(house, kind, stay).await;
    }
    for _ in 0..PATIENCE {
        let operation = house.operation(&id).await;
        if operation["status"] != "InProgress" {
            return operation;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    panic!("{verb} under {kind} from {moment} s is stuck")
}

/// The power requests that an operation's journal says were made.
fn power_asks(operation: &Value) -> usize {
    let entries = operation["journal"].as_array().into_iter().flatten();
    let is_power = |ask: &Value| matches!(ask.as_str(), Some("gracefulOff" | "forceOff" | "powerOn"));
    entries.filter(|entry| entry["fact"]["kind"] == "asked" && is_power(&entry["fact"]["ask"])).count()
}

async fn check(work: Work, kind: FaultKind, moment: i64) {
    let context = format!("{work:?} under {kind} from {moment} s");
    let house = House::build(1, 4).await;
    let mut operations = Vec::new();
    match work {
        Work::Restart => operations.push(act_under_fault(&house, "restart", (kind, Stay::AWhile), moment).await),
        Work::PowerOffAndStart => {
            operations.push(act_under_fault(&house, "powerOff", (kind, Stay::AWhile), moment).await);
            // The next fault begins with a healthy site: what is left of the first would blur what is seen.
            tokio::time::sleep(Duration::from_secs(10 * 60)).await;
            operations.push(act_under_fault(&house, "start", (kind, Stay::AWhile), moment).await);
        }
    }
    for operation in &operations {
        assert_eq!(operation["status"], "Succeeded", "{context}: {}", operation["message"]);
    }
    tokio::time::sleep(AFTERMATH).await;
    let log = house.site.witness(MACHINE).expect("the machine is there");
    let counters = log.counters();
    assert_eq!((counters.powered_off, counters.powered_on), (1, 1), "{context}: {:#?}", log.entries().collect::<Vec<_>>());
    let asked: usize = operations.iter().map(power_asks).sum();
    let received = log.entries().filter(|entry| matches!(entry.logged, Logged::ResetRequested { .. })).count();
    assert!(received <= asked, "{context}: {received} requests reached the BMC, and {asked} are in the journal");
    let machine = house.machine(MACHINE).await;
    let is = |field: &str| machine["properties"][field].as_str().unwrap_or_default().to_owned();
    let state = [is("powerState"), is("readyState"), is("cordonStatus"), is("detailedStatus")].join(" ");
    assert_eq!(state, "On True Uncordoned Provisioned", "{context}");
    assert_eq!(machine["rackwright"]["waits"], serde_json::json!([]), "{context}");
    house.close().await;
}

async fn check_kinds(kinds: impl Iterator<Item = FaultKind>) {
    let mut checked = 0;
    for kind in kinds {
        for moment in MOMENTS {
            check(Work::Restart, kind, moment).await;
            checked += 1;
        }
        for moment in FEWER_MOMENTS {
            check(Work::PowerOffAndStart, kind, moment).await;
            checked += 1;
        }
    }
    assert!(checked >= 3 * (MOMENTS.len() + FEWER_MOMENTS.len()), "only {checked} were checked");
}

/// Faults of machines and of the undercloud. Those of tenants need tenants; what comes of them is told in stories.
fn of_the_site() -> impl Iterator<Item = FaultKind> {
    FaultKind::ALL.into_iter().filter(|kind| matches!(kind.aim(), Aim::Machine | Aim::Api))
}

fn called(beginnings: &'static [&'static str]) -> impl Iterator<Item = FaultKind> {
    FaultKind::ALL.into_iter().filter(|kind| beginnings.iter().any(|beginning| kind.name().starts_with(beginning)))
}

#[tokio::test(start_paused = true)]
async fn no_fault_of_a_bmc_loses_or_doubles_an_action() {
    check_kinds(called(&["bmc-"])).await;
}

#[tokio::test(start_paused = true)]
async fn no_fault_of_a_host_or_a_link_loses_or_doubles_an_action() {
    check_kinds(called(&["host-", "link-"])).await;
}

#[tokio::test(start_paused = true)]
async fn no_fault_of_the_api_server_loses_or_doubles_an_action() {
    check_kinds(called(&["api-"])).await;
}

#[tokio::test(start_paused = true)]
async fn a_cordon_and_its_uncordon_outlast_every_fault_and_touch_no_power() {
    for kind in of_the_site() {
        for moment in [-3, 0] {
            let context = format!("{kind} from {moment} s");
            let house = House::build(1, 4).await;
            for (verb, expected) in [("cordon", "Cordoned"), ("uncordon", "Uncordoned")] {
                let operation = act_under_fault(&house, verb, (kind, Stay::AWhile), moment).await;
                assert_eq!(operation["status"], "Succeeded", "{verb}, {context}: {}", operation["message"]);
                // What is left of the fault would blur what is seen.
                tokio::time::sleep(AFTERMATH).await;
                let machine = house.machine(MACHINE).await;
                assert_eq!(machine["properties"]["cordonStatus"], expected, "{verb}, {context}");
                assert_eq!(machine["rackwright"]["waits"], serde_json::json!([]), "{verb}, {context}");
            }
            let counters = house.site.witness(MACHINE).expect("the machine is there").counters();
            assert_eq!(counters.resets_requested, 0, "{context}");
            house.close().await;
        }
    }
}

/// What nobody mends in time fails the operation, in words; and when it is mended at last, nothing late follows.
#[tokio::test(start_paused = true)]
async fn a_fault_that_stays_ends_the_operation_all_the_same() {
    for kind in of_the_site() {
        for moment in [-3, 30] {
            let context = format!("{kind} from {moment} s");
            let house = House::build(1, 4).await;
            let operation = act_under_fault(&house, "restart", (kind, Stay::UntilMended), moment).await;
            let cycles = |house: &House| {
                let counters = house.site.witness(MACHINE).expect("the machine is there").counters();
                (counters.powered_off, counters.powered_on)
            };
            let at_the_end = cycles(&house);
            match operation["status"].as_str() {
                Some("Succeeded") => assert_eq!(at_the_end, (1, 1), "{context}"),
                Some("Failed") => {
                    let told = operation["message"].as_str().unwrap_or_default();
                    assert!(told.contains("did not end in time; it waited for "), "{context}: {told}");
                    assert!(operation["next"].is_string(), "{context} leaves a person without advice");
                    assert!(at_the_end.0 <= 1 && at_the_end.1 <= at_the_end.0, "{context}: {at_the_end:?}");
                }
                other => panic!("{context} ended as {other:?}"),
            }
            house.site.clear_faults(|_| true).await.expect("the site is saved");
            tokio::time::sleep(AFTERMATH).await;
            assert_eq!(cycles(&house), at_the_end, "{context}: something came late");
            let machine = house.machine(MACHINE).await;
            assert_eq!(machine["properties"]["detailedStatus"], "Provisioned", "{context}");
            house.close().await;
        }
    }
}

/// A machine that nobody works on: whatever breaks, it is never called failed, and nothing is sent to it.
#[tokio::test(start_paused = true)]
async fn a_fault_alone_makes_nobody_act_and_no_machine_fail() {
    for kind in of_the_site() {
        let house = House::build(1, 4).await;
        break_it(&house, kind, Stay::AWhile).await;
        for _ in 0..30 {
            tokio::time::sleep(Duration::from_secs(30)).await;
            let machine = house.machine(MACHINE).await;
            let properties = &machine["properties"];
            assert_eq!((&properties["detailedStatus"], &properties["provisioningState"]), (&"Provisioned".into(), &"Succeeded".into()));
            assert_eq!(properties["powerState"], "On", "{kind}: silence is not power off");
        }
        let counters = house.site.witness(MACHINE).expect("the machine is there").counters();
        assert_eq!(counters.resets_requested, 0, "{kind}");
        house.close().await;
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn kind_names() -> Vec<String> {
    let mut names: Vec<String> = FaultKind::ALL.iter().map(ToString::to_string).collect();
    names.sort();
    names
}

#[test]
fn every_fault_has_a_story_and_every_such_story_its_fault() {
    let entries = std::fs::read_dir(root().join("stories")).expect("the stories are there").filter_map(Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut told: Vec<String> = names.filter_map(|name| Some(name.strip_prefix("fault-")?.strip_suffix(".story")?.to_owned())).collect();
    told.sort();
    assert_eq!(told, kind_names());
    for kind in told {
        let story = std::fs::read_to_string(root().join(format!("stories/fault-{kind}.story"))).expect("the story can be read");
        assert!(story.contains(&format!("fault {kind} ")), "fault-{kind}.story does not let it happen");
    }
}

#[test]
fn every_fault_is_documented_as_it_is() {
    let page = std::fs::read_to_string(root().join("../../docs/faults.md")).expect("the page is there");
    let row = |line: &str| {
        let cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        (cells.len() == 4 && cells[0].starts_with('`')).then_some(cells)
    };
    let documented: Vec<Vec<String>> = page.lines().filter_map(row).collect();
    let so: Vec<Vec<String>> = FaultKind::ALL
        .iter()
        .map(|kind| {
            let target = match kind.aim() {
                Aim::Machine => "machine",
                Aim::Api => "`api`",
                Aim::Tenant => "tenant cluster",
                Aim::Pod => "pod of one",
                Aim::Vm => "virtual machine",
            };
            let setting = kind.setting();
            let setting = setting.map_or("–".to_owned(), |s| format!("`{}` {}–{}, {}", s.name, s.least, s.most, s.default));
            vec![format!("`{kind}`"), target.to_owned(), setting, kind.about().to_owned()]
        })
        .collect();
    let table: String = so.iter().map(|cells| format!("| {} |\n", cells.join(" | "))).collect();
    assert_eq!(documented, so, "the table should be:\n{table}");
    let script: String = page.lines().filter(|line| line.starts_with("after ")).map(|line| format!("{line}\n")).collect();
    let layout = sim::Layout::new("site1", 4, 4, 1).expect("a site of the usual size");
    assert_eq!(sim::parse_script(&script, &layout).expect("the page's script can be played").len(), 3);
}
