//! One answer in every format.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use crate::cli::screen::Tone;
use crate::cli::screen::tests::captured;

fn machines() -> Value {
    json!([
        { "name": "m1", "properties": { "powerState": "On", "rackSlot": 4 }, "tags": { "team": "a\tb\nc" } },
        { "name": "m2", "properties": { "rackSlot": 5 }, "tags": {} },
    ])
}

fn table() -> Table {
    let mut table = Table::new(&["NAME", "POWER"]);
    table.row(Tone::Plain, ["m1".to_owned(), "On".to_owned()]);
    table.row(Tone::Plain, ["m2".to_owned(), "-".to_owned()]);
    table
}

fn shown(output: Output, query: Option<&str>) -> String {
    let (mut screen, out, err) = captured();
    Showing::new(output, query).unwrap().list(&mut screen, &machines(), table).unwrap();
    format!("{}{}", out.text(), err.text())
}

#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot reads best by value")]
fn check(output: Output, query: Option<&str>, expected: Expect) {
    expected.assert_eq(&shown(output, query));
}

#[test]
fn people_see_our_table_and_scripts_its_cells() {
    check(
        Output::Table,
        None,
        expect![[r#"
            NAME  POWER
            m1    On
            m2    -
        "#]],
    );
    assert_eq!(shown(Output::Tsv, None), "m1\tOn\nm2\t-\n");
}

#[test]
fn json_is_the_answer_itself_and_yaml_says_the_same() {
    assert_eq!(serde_json::from_str::<Value>(&shown(Output::Json, None)).unwrap(), machines());
    assert_eq!(serde_saphyr::from_str::<Value>(&shown(Output::Yaml, None)).unwrap(), machines());
    check(
        Output::Yaml,
        Some("[].{name: name, team: tags.team}"),
        expect![[r#"
            - name: m1
              team: |-
                a	b
                c
            - name: m2
              team: null
        "#]],
    );
}

#[test]
fn what_yaml_could_mistake_comes_back_as_it_was() {
    let tricky = json!({
        "no": "no", "null": "null", "number": "0x1f", "date": "2026-11-15", "colon": "a: b", "hash": "a # b", "dash": "- a",
        "empty": "", "lines": "a\n b\n\nc\n", "escape": "\u{1b}[2J", "quote": "it's \"so\"", "tilde": "~", "float": 1.5, "list": [[], {}],
        "%": "%a", "@": "@a", "`": "`", "space": " a ", "tab": "\t", "emoji": "🜁", "bang": "!x", "amp": "&x", "star": "*x",
    });
    let (mut screen, out, _) = captured();
    Showing::new(Output::Yaml, None).unwrap().list(&mut screen, &tricky, table).unwrap();
    assert_eq!(serde_saphyr::from_str::<Value>(&out.text()).unwrap(), tricky, "{}", out.text());
    assert!(!out.text().contains('\u{1b}'), "a terminal is not steered");
}

#[test]
fn queried_values_keep_the_order_in_which_they_were_typed() {
    let query = Some("[].{slot: properties.rackSlot, name: name, power: properties.powerState}");
    assert_eq!(shown(Output::Tsv, query), "4\tm1\tOn\n5\tm2\tNone\n");
    check(
        Output::Table,
        query,
        expect![[r#"
            Slot  Name  Power
            4     m1    On
            5     m2
        "#]],
    );
    check(
        Output::Table,
        Some("[].[name, properties.rackSlot]"),
        expect![[r#"
            Column1  Column2
            m1       4
            m2       5
        "#]],
    );
    check(
        Output::Table,
        Some("[].name"),
        expect![[r#"
            Result
            m1
            m2
        "#]],
    );
}

#[test]
fn a_value_never_breaks_its_line_or_its_column() {
    assert_eq!(shown(Output::Tsv, Some("[].[name, tags.team, tags, @]")), "m1\ta b c\t\t\nm2\tNone\t\t\n");
    assert_eq!(shown(Output::Tsv, Some("[0].tags.team")), "a b c\n");
    assert_eq!(shown(Output::Tsv, Some("[@[0].name, length(@), `true`]")), "m1\n2\ntrue\n");
    assert_eq!(shown(Output::Tsv, Some("[[name, `[1, 2]`]]")), "None\t2\n");
    assert!(shown(Output::Table, Some("[].tags.team")).contains('\u{fffd}'));
}

#[test]
fn nothing_is_nothing() {
    assert_eq!(shown(Output::Tsv, Some("nobody")), "");
    assert_eq!(shown(Output::Table, Some("nobody")), "");
    assert_eq!(shown(Output::Json, Some("[?name=='m9']")), "[]\n");
    assert_eq!(shown(Output::Table, Some("[].{all: tags}")), "hint: the result has nothing that fits into a table; `-o json` shows it\n");
}

#[test]
fn what_is_whole_is_shown_whole() {
    for (query, expected) in [("sum([`40`, `2`])", "42\n"), ("floor(`1.5`)", "1\n"), ("avg([`1`, `2`])", "1.5\n"), ("abs(`-3`)", "3\n")] {
        assert_eq!(shown(Output::Tsv, Some(query)), expected, "{query}");
    }
}

#[test]
fn a_mistyped_field_is_asked_about() {
    assert_eq!(
        shown(Output::Json, Some("[].propertes.powerState")),
        "[]\nhint: nothing in the answer has a field `propertes`; did you mean `properties`?\n"
    );
    assert_eq!(shown(Output::Json, Some("[].{n: name} | [?n=='m9'].n")), "[]\n", "a name of its own is no mistake");
}

#[test]
fn a_record_of_a_stream_is_one_line() {
    let record = |output, query| {
        let (mut screen, out, _) = captured();
        let showing = Showing::new(output, query).unwrap();
        showing.record(&mut screen, &json!({ "a": [1, 2] }), || Sheet::of(Tone::Plain, "for people"), table).unwrap();
        out.text()
    };
    assert_eq!(record(Output::Json, None), "{\"a\":[1,2]}\n");
    assert_eq!(record(Output::Json, Some("a[1]")), "2\n");
    assert_eq!(record(Output::Yaml, None), "---\na:\n- 1\n- 2\n");
    assert_eq!(record(Output::Table, None), "for people\n");
    assert_eq!(record(Output::Table, Some("a[1]")), "2\n");
}
