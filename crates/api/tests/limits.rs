//! `docs/limits.md`, `docs/events.md` and `docs/activity-log.md` tell the limits as they are.

use std::path::PathBuf;

use access::attempts::Pace;

fn page(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

/// 32768 as `32,768`.
fn written(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).expect("digits are text")).collect();
    groups.join(",")
}

#[test]
fn every_limit_is_documented_as_it_is() {
    let page = page("limits.md");
    // What a site may have is the keeper's to tell.
    let (of_clients, _) = page.split_once("\n## ").expect("a second part");
    let paced = |pace: Pace| format!("{} at once, one every {} s", pace.burst, pace.every.to_std().as_secs());
    let Pace { burst, every } = access::attempts::REQUESTS_OF_CALLER;
    let requests = format!("{} at once, {} a second", written(burst as usize), 1_000 / every.to_std().as_millis());
    let rows = [
        ("connections at once", written(api::MAX_CONNECTIONS)),
        ("request line and headers together", format!("{} bytes", written(api::HEADER_BYTES_MAX))),
        ("headers of a request", written(api::HEADERS_MAX)),
        ("path and query together", format!("{} bytes", written(api::URI_MAX))),
        ("correlation id and client request id", format!("{} characters", written(api::IDENTITY_MAX))),
        ("time for the request line and headers", format!("{} s", api::HEADERS_TIMEOUT.to_std().as_secs())),
        ("a connection without a request", format!("{} s", api::HEADERS_TIMEOUT.to_std().as_secs())),
        ("body of a request", format!("{} bytes", written(api::BODY_MAX))),
        ("time for the body", format!("{} s", api::BODY_TIMEOUT.to_std().as_secs())),
        ("a client that reads nothing of its answer", format!("{} s", api::READ_NOTHING_TIMEOUT.to_std().as_secs())),
        ("requests of a cluster that wait for a verdict", written(api::MAX_PENDING)),
        ("operations that run in a cluster", written(plan::MAX_RUNNING_OPERATIONS)),
        ("items on a page", written(api::PAGE_MAX)),
        ("a `$filter`", format!("{} bytes", written(api::FILTER_MAX))),
        ("pods that a preview lists", written(plan::PREVIEW_PODS_MAX)),
        ("queries of the [activity log](activity-log.md)", written(api::MAX_LOG_READERS)),
        (
            "clients that listen to [events](events.md)",
            format!("{}, and {} of a caller", written(api::MAX_LISTENERS), written(api::MAX_LISTENERS_OF_CALLER)),
        ),
        ("requests of a caller", requests),
        ("logins of a principal that fail", paced(access::attempts::LOGINS_OF_PRINCIPAL)),
        ("logins from an address that fail", paced(access::attempts::LOGINS_FROM_ADDRESS)),
        ("lists that are being answered", format!("{}, and {} to a caller", written(plan::LISTS_MAX), written(plan::LISTS_OF_CALLER_MAX))),
        ("answers beside which a list is answered", written(plan::LISTS_BELOW)),
        ("answers beside which something is read", written(plan::READS_BELOW)),
        ("lines of the log about what one was denied", paced(access::attempts::NOTICES)),
    ];
    assert_table(of_clients, &rows);
}

#[test]
fn the_limits_of_access_are_documented_as_they_are() {
    let page = page("access.md");
    let (_, of_access) = page.split_once("\n## Limits\n").expect("a part about limits");
    let characters = |number: usize| format!("{} characters", written(number));
    let begun = gate::DEVICE_BEGINNINGS;
    let rows = [
        ("service principals", written(gate::PRINCIPALS_MAX)),
        ("secrets of one", written(access::principal::SECRETS_MAX)),
        ("certificates of one", written(access::principal::CERTIFICATES_MAX)),
        ("the name of one, or of a secret", characters(access::principal::DISPLAY_NAME_MAX)),
        ("issuers of people", written(gate::ISSUERS_MAX)),
        ("the name of an issuer", characters(gate::ISSUER_NAME_MAX)),
        ("the address of an issuer", characters(gate::ISSUER_URL_MAX)),
        ("what an issuer calls us by", written(gate::AUDIENCES_MAX)),
        ("devices that wait to be approved", written(gate::DEVICES_MAX)),
        ("devices that begin at one address", format!("{}, then {} a minute", begun.burst, 60 / begun.every.to_std().as_secs())),
        ("a login, with all that is made of it", format!("{} hours", gate::SESSION_LIFE.to_std().as_secs() / 3_600)),
        ("role assignments", written(access::assignment::ASSIGNMENTS_MAX)),
        ("role assignments of one principal", written(access::assignment::ASSIGNMENTS_OF_ONE_MAX)),
        ("locks", written(access::lock::LOCKS_MAX)),
        ("the name of a lock", characters(access::lock::LOCK_NAME_MAX)),
        ("notes of a lock", characters(access::lock::NOTES_MAX)),
        ("policies", written(access::deny::POLICIES_MAX)),
        ("conditions of a policy", written(access::deny::CONDITIONS_MAX)),
        ("texts that a condition compares with", written(access::deny::CHOICES_MAX)),
        ("the reason of a policy", characters(access::deny::REASON_MAX)),
        ("the display name of a policy", characters(access::deny::DISPLAY_NAME_MAX)),
        ("the name of a policy", characters(access::deny::POLICY_ID_MAX)),
        ("a limit of a quota", written(usize::try_from(access::quota::LIMIT_MAX).expect("it fits"))),
    ];
    assert_table(of_access, &rows);
}

#[test]
fn the_limits_of_key_sets_are_documented_as_they_are() {
    let page = page("limits.md");
    let (_, of_key_sets) = page.split_once("\n## Key sets\n").expect("a part about key sets");
    let (of_key_sets, _) = of_key_sets.split_once("\n## ").expect("another part after it");
    let rows = [
        ("key sets of a kind in a cluster", written(model::KEY_SETS_MAX)),
        ("users of all key sets for BMCs", written(model::BMC_USERS_MAX)),
        ("users of all key sets for machines", written(model::MACHINE_USERS_MAX)),
        ("keys of all users of machines together", format!("{} bytes", written(model::MACHINE_KEYS_MAX))),
        ("a key with its comment", format!("{} bytes", written(model::SSH_KEY_MAX))),
        ("jump hosts of a key set", written(model::JUMP_HOSTS_MAX)),
        ("the name of a key set", format!("{} characters", model::KEY_SET_NAME_MAX)),
        ("`azureUserName`", format!("{} characters", model::KEY_SET_USER_MAX)),
        ("`osGroupName`", format!("{} characters", model::OS_GROUP_MAX)),
        ("other texts of a key set", format!("{} characters", model::KEY_SET_TEXT_MAX)),
        ("how far ahead a key set for BMCs may expire", format!("{} days", model::BMC_EXPIRATION_MAX.to_std().as_secs() / 86_400)),
    ];
    assert_table(of_key_sets, &rows);
}

/// Shows that the text has one table, with these rows and no others.
#[track_caller]
fn assert_table(text: &str, rows: &[(&str, String)]) {
    for (what, limit) in rows {
        let row = text.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>()).find(|cells| cells.get(1) == Some(what));
        assert_eq!(row.unwrap_or_else(|| panic!("`{what}` is not on the page"))[2], limit, "{what}");
    }
    let table = text.lines().filter(|line| line.starts_with("| ")).count();
    assert_eq!(table, rows.len() + 1, "the page has no other limits");
}

#[test]
fn the_page_of_the_activity_log_tells_its_limits() {
    let page = page("activity-log.md");
    let kept = store::Retention::default();
    let (days, entries) = (kept.record_age.to_std().as_secs() / 86_400, usize::try_from(kept.records).expect("it is a count"));
    let rows = [
        ("entries that are kept", format!("{days} days, at most {}", written(entries))),
        ("a client's own words in an entry", format!("{} characters", written(model::ACTIVITY_TEXT_MAX))),
        ("`$filter`", format!("{} bytes", written(api::FILTER_MAX))),
        (
            "refusals that no keeper saw and that have an entry each; more are counted (`rackwright_refusals_unlogged_total`)",
            format!("{} at once, {} a minute", written(api::REJECTIONS_BURST), written(api::REJECTIONS_PER_MINUTE)),
        ),
    ];
    assert_table(page.split_once("## Limits").expect("the page has limits").1, &rows);
    let scanned = format!("at most {} entries are looked through", written(api::SCAN_MAX));
    assert!(page.contains(&scanned), "{scanned}");
}

#[test]
fn the_page_of_installing_tells_its_limits() {
    let page = page("installing.md");
    let parts = model::INVENTORY_PARTS_MAX;
    let bytes = |number: usize| format!("{} bytes", written(number));
    let rows = [
        ("requests that are answered at once", written(api::MAX_IN_FLIGHT)),
        ("path and query together", bytes(api::URI_MAX)),
        ("request line and headers together", bytes(api::HEADER_BYTES_MAX)),
        ("a TLS handshake", format!("{} s", api::HANDSHAKE_TIMEOUT.to_std().as_secs())),
        ("body of a request", bytes(api::REPORT_BODY_MAX)),
        ("an inventory", format!("{}, {parts} disks, {parts} ports", bytes(api::INVENTORY_MAX))),
        (
            "an agent's log",
            format!("{}; {} at once, then one every {} s", bytes(api::LOG_MAX), api::LOGS_BURST, api::LOGS_EVERY.to_std().as_secs()),
        ),
        ("time for the body", format!("{} s", api::REPORT_BODY_TIMEOUT.to_std().as_secs())),
        ("an agent's nonce", format!("{} to {} bytes", api::NONCE_MIN, api::NONCE_MAX)),
        ("reports of an attempt", format!("{} at once, then one every {} ms", api::REPORTS_BURST, api::REPORTS_EVERY.to_std().as_millis())),
        ("image that machines are started from", bytes(usize::try_from(api::BOOT_IMAGE_MAX).expect("it fits into memory"))),
        ("such images in memory", written(api::IMAGES_MAX)),
        ("an origin of images that says nothing", format!("{} s", api::FETCH_IDLE_TIMEOUT.as_secs())),
        ("an agent that asks for an image on its way", format!("{} s", api::IMAGE_HOLD.as_secs())),
    ];
    assert_table(page.split_once("## Limits").expect("the page has limits").1, &rows);
}

#[test]
fn the_page_of_runtimes_tells_its_limits() {
    let page = page("runtimes.md").replace('\n', " ");
    let texts = [
        format!("to {} characters", api::TEXT_MAX),
        format!("to {} GiB", api::OS_IMAGE_MAX >> 30),
        format!("to {} MiB", api::BOOT_IMAGE_MAX >> 20),
        format!("to {} of them", api::FIRMWARE_MAX),
        format!("area of {} bytes", api::AREA_BYTES),
        format!("the line `{}`", api::MARKER.trim_end()),
        format!("at most {} KiB. A template has at most {} KiB", api::USER_DATA_MAX >> 10, api::TEMPLATE_MAX >> 10),
    ];
    for text in texts {
        assert!(page.contains(&text), "{text}");
    }
}

#[test]
fn the_page_of_events_tells_what_is_kept() {
    let page = page("events.md").replace('\n', " ");
    let texts = [
        format!("The latest {} events are kept", written(api::TAIL_EVENTS_MAX)),
        format!("at most {} MiB", api::TAIL_BYTES_MAX / 1024 / 1024),
        format!("At most {} clients listen", api::MAX_LISTENERS),
        format!("every {} seconds", api::HEARTBEAT_EVERY.to_std().as_secs()),
    ];
    for text in texts {
        assert!(page.contains(&text), "{text}");
    }
}
