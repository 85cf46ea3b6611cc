//! What filters mean, and that no text makes the parser stumble.

use proptest::prelude::*;

use super::*;

/// The filter as its table spells it.
fn print(filter: &Filter) -> String {
    let clauses = filter.clauses.iter().map(|clause| match clause {
        Clause::Time { operator, at } => format!("{TIME} {} '{at}'", operator.word()),
        Clause::Is { key, value } => {
            let name = NAMES.iter().find(|name| name.key == *key).expect("every key has a name");
            format!("{} eq '{}'", name.word, value.replace('\'', "''"))
        }
    });
    clauses.collect::<Vec<_>>().join(" and ")
}

fn problem(text: &str) -> String {
    let refused = Filter::parse(text).expect_err("this is no filter");
    refused.body()["error"]["message"].as_str().expect("an error has a message").to_owned()
}

#[test]
fn the_filters_of_azures_own_clients_are_understood() {
    let az =
        "eventTimestamp ge 2026-11-15T08:00:00.000000 and eventTimestamp le 2026-11-15T14:00:00.000000 and resourceGroupName eq 'site1'";
    let quoted = "EventTimestamp GE '2026-11-15T08:00:00Z'  AND eventtimestamp le '2026-11-15T14:00:00Z' and RESOURCEGROUPNAME eq 'site1'";
    let filter = Filter::parse(az).unwrap();
    assert_eq!(filter, Filter::parse(quoted).unwrap());
    let at = |text| Timestamp::parse(text);
    assert_eq!(filter.range(), (at("2026-11-15T08:00:00Z"), at("2026-11-15T14:00:00Z")));
    let strict =
        Filter::parse("eventTimestamp gt 2026-11-15 and eventTimestamp ge 2026-11-14 and eventTimestamp lt 2026-11-16T00:00:00Z").unwrap();
    assert_eq!(strict.range(), (at("2026-11-15T00:00:00.001Z"), at("2026-11-15T23:59:59.999Z")));
    assert_eq!(Filter::parse("  ").unwrap(), Filter::default());
}

#[test]
fn a_quote_in_a_value_is_written_twice() {
    let filter = Filter::parse("caller eq 'o''brien'").unwrap();
    assert_eq!(filter.clauses, [Clause::Is { key: Key::Caller, value: "o'brien".into() }]);
    assert_eq!(print(&filter), "caller eq 'o''brien'");
}

#[test]
fn what_the_log_does_not_know_is_named() {
    let known =
        "eventTimestamp, resourceId, resourceUri, resourceGroupName, correlationId, status, caller, resourceProvider and levels are known";
    let cases = [
        ("colour eq 'red'", format!("1: there is no `colour`; {known}")),
        ("status ne 'Failed'", "8: `status` can be compared with eq, not with `ne`".to_owned()),
        ("eventTimestamp eq 2026-11-15", "16: `eventTimestamp` can be compared with ge, gt, le and lt, not with `eq`".to_owned()),
        ("eventTimestamp ge 'yesterday'", "19: `yesterday` is not a time; 2026-11-15T14:00:00Z is".to_owned()),
    ];
    for (text, expected) in cases {
        assert_eq!(problem(text), format!("`$filter`, character {expected}"));
    }
}

#[test]
fn the_log_is_searched_by_the_rarest_label() {
    let label = |text: &str| Filter::parse(text).unwrap().label("S1");
    let id = "/subscriptions/S1/resourcegroups/G1/providers/microsoft.networkcloud/baremetalmachines/Rack1";
    assert_eq!(label(""), "subscription/s1");
    assert_eq!(label("status eq 'failed'"), "failed/s1");
    assert_eq!(label(&format!("status eq failed and resourceUri eq '{id}'")), "machine/s1/g1/rack1");
    assert_eq!(label(&format!("resourceId eq '{id}' and correlationId eq 'A-B'")), "correlation/a-b");
    assert_eq!(label("resourceId eq '/nowhere'"), "subscription/s1", "which then passes nothing");
}

fn instant() -> impl Strategy<Value = Timestamp> {
    (0_i64..253_402_300_799_000).prop_map(Timestamp::from_millis)
}

fn any_clause() -> impl Strategy<Value = Clause> {
    let time = (prop::sample::select(TIMES), instant()).prop_map(|(operator, at)| Clause::Time { operator, at });
    let is = (1..NAMES.len(), "\\PC{0,20}").prop_map(|(n, value)| Clause::Is { key: NAMES[n].key, value });
    prop_oneof![time, is]
}

/// Texts that are nearly filters, and texts that are anything.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("eventTimestamp"),
        Just("status"),
        Just("eq"),
        Just("ge"),
        Just("and"),
        Just("or"),
        Just("'"),
        Just("''"),
        Just(" "),
        Just("2026-11-15T14:00:00"),
        Just("9999-99-99"),
        Just("("),
        Just("\u{2028}"),
        Just("ü"),
        Just("-009999-01-01T00:00:00Z"),
    ];
    prop_oneof![prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat()), ".{0,200}"]
}

proptest! {
    // About three seconds each without optimization.
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read_as_it_was(clauses in prop::collection::vec(any_clause(), 0..8)) {
        let filter = Filter { clauses };
        let text = print(&filter);
        prop_assume!(text.len() <= odata::FILTER_MAX);
        prop_assert_eq!(Filter::parse(&text).expect("a printed filter is one"), filter);
    }

    #[test]
    fn no_text_makes_the_parser_stumble(text in any_text()) {
        match Filter::parse(&text) {
            Ok(filter) => {
                filter.range();
                filter.label("s");
                prop_assert_eq!(Filter::parse(&print(&filter)).expect("a printed filter is one"), filter);
            }
            Err(refused) => prop_assert_eq!(&refused.body()["error"]["target"], "$filter"),
        }
    }
}
