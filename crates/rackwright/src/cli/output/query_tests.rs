//! Expressions as people mistype them, and as nobody should type them.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::query::{QUERY_LENGTH_MAX, Query, RESULT_DEPTH_MAX};
use crate::cli::screen::tests::captured;
use crate::cli::trouble::{Exit, Trouble};

/// How many arbitrary expressions are tried: about three seconds' worth, and half of them are understood.
const TRIED: u32 = 3_000;

fn told(trouble: &Trouble) -> String {
    let (mut screen, _, err) = captured();
    screen.trouble(trouble);
    err.text()
}

#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot reads best by value")]
fn check(text: &str, expected: Expect) {
    let trouble = Query::parse(text).unwrap_err();
    assert_eq!(trouble.exit, Exit::Usage);
    expected.assert_eq(&told(&trouble));
}

fn refused(text: &str) -> String {
    let trouble = Query::parse(text).unwrap_err();
    assert_eq!(trouble.exit, Exit::Usage);
    trouble.message
}

#[test]
fn a_wrong_expression_shows_where() {
    check(
        "[?name=='m1'",
        expect![[r#"
            error: the `--query` is not understood: Expected ']', but it ends here
              [?name=='m1'
                          ^
            hint: for example `--query "[?properties.powerState=='Off'].name"`; https://jmespath.org explains the language
        "#]],
    );
    check(
        "[].näme é",
        expect![[r#"
        error: the `--query` is not understood: Invalid character: ä
          [].näme é
              ^
        hint: for example `--query "[?properties.powerState=='Off'].name"`; https://jmespath.org explains the language
    "#]],
    );
    check(
        "sort_bi(@, &name)",
        expect![[r#"
        error: the `--query` is refused: there is no function `sort_bi`
          sort_bi(@, &name)
                 ^
        hint: did you mean `sort_by`?
    "#]],
    );
    check(
        &format!("{}[", "a.".repeat(100)),
        expect![[r#"
            error: the `--query` is not understood: a value is missing, but it ends here
              .a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.[
                                                                          ^
            hint: for example `--query "[?properties.powerState=='Off'].name"`; https://jmespath.org explains the language
        "#]],
    );
}

#[test]
fn what_does_not_fit_the_answer_is_wrong_usage_too() {
    let trouble = Query::parse("length(name)").unwrap().apply(&json!({ "name": 1 })).unwrap_err();
    assert_eq!(trouble.exit, Exit::Usage);
    expect![[r#"
        error: the `--query` does not fit the answer: Argument 0 expects type array|object|string, given number
          length(name)
                ^
        hint: for example `--query "[?properties.powerState=='Off'].name"`; https://jmespath.org explains the language
    "#]]
    .assert_eq(&told(&trouble));
    let trouble = Query::parse("&name").unwrap().apply(&json!({})).unwrap_err();
    assert!(trouble.message.contains("yields an expression"), "{trouble:?}");
}

#[test]
fn every_limit_is_named() {
    assert!(refused(&"a".repeat(QUERY_LENGTH_MAX + 1)).contains("longer than 2000 bytes"));
    assert!(refused(&vec!["[@,@]"; 40].join("|")).contains("more than 100000 times as large"));
    assert!(refused(&format!("{}@{}", "to_string([".repeat(40), "])".repeat(40))).contains("times as large"));
    assert!(refused(&format!("{}@{}", "join(".repeat(9), ",@)".repeat(9))).contains("times as large"));
    assert!(refused("[1::2147483647]").contains("an index is at most 1000000000"));
    assert!(refused("[-2147483647]").contains("an index is at most"));
    let deep = Query::parse(&vec!["[@]"; RESULT_DEPTH_MAX + 1].join("|")).unwrap();
    assert!(deep.apply(&json!(1)).unwrap_err().message.contains("more than 100 deep"));
    assert!(Query::parse(&vec!["[@]"; RESULT_DEPTH_MAX].join("|")).unwrap().apply(&json!(1)).is_ok());
}

#[test]
fn an_expression_that_nests_with_every_byte_overflows_nothing() {
    for (unit, end) in [
        ("(", ""),
        ("[", ""),
        ("!", "a"),
        ("&", "a"),
        ("a.", "a"),
        ("a|", "a"),
        ("a||", "a"),
        ("*.", "a"),
        ("[]", ""),
        ("{a:", ""),
        ("[?", ""),
    ] {
        let text = unit.repeat((QUERY_LENGTH_MAX - end.len()) / unit.len()) + end;
        if let Ok(query) = Query::parse(&text) {
            let _ = query.apply(&json!({ "a": { "a": [1, [2], {}] } }));
        }
    }
    let depth = QUERY_LENGTH_MAX / 2;
    for text in [format!("{}a{}", "(".repeat(depth - 1), ")".repeat(depth - 1)), format!("{}a{}", "[".repeat(90), "]".repeat(90))] {
        Query::parse(&text).unwrap().apply(&json!({ "a": 1 })).unwrap();
    }
}

const LEAVES: [&str; 19] = [
    "a",
    "b",
    "\"ä b\"",
    "@",
    "*",
    "[]",
    "[*]",
    "[0]",
    "[-1]",
    "[::-1]",
    "[1::2]",
    "[-5:1000000000]",
    "[999999999]",
    "`1`",
    "`-0.0`",
    "`[1, null]`",
    "`{\"a\": \"x\"}`",
    "'s'",
    "''",
];

const FUNCTIONS: [&str; 22] = [
    "length",
    "sort",
    "join",
    "to_string",
    "to_number",
    "merge",
    "keys",
    "values",
    "not_null",
    "reverse",
    "sum",
    "avg",
    "contains",
    "starts_with",
    "ends_with",
    "type",
    "abs",
    "ceil",
    "floor",
    "max",
    "min",
    "to_array",
];

const BY: [&str; 3] = ["sort_by", "max_by", "min_by"];

const SIGNS: [&str; 7] = [" | ", " && ", " || ", " == ", " != ", " < ", " >= "];

/// Expressions that are right as far as their grammar goes.
fn right_expressions() -> impl Strategy<Value = String> + Clone {
    let select = |texts: &'static [&'static str]| prop::sample::select(texts);
    select(&LEAVES).prop_map(str::to_owned).prop_recursive(5, 24, 3, move |inner| {
        let pair = (inner.clone(), inner.clone()).boxed();
        prop_oneof![
            (pair.clone(), select(&SIGNS)).prop_map(|((x, y), sign)| format!("({x}{sign}{y})")),
            inner.clone().prop_map(|x| format!("!{x}")),
            pair.clone().prop_map(|(x, y)| format!("{x} | [?{y}]")),
            pair.clone().prop_map(|(x, y)| format!("[{x}, {y}]")),
            pair.clone().prop_map(|(x, y)| format!("{{a: {x}, b: {y}}}")),
            inner.clone().prop_map(|x| format!("{x} | [*].a")),
            (select(&FUNCTIONS), inner).prop_map(|(function, x)| format!("{function}({x})")),
            (select(&FUNCTIONS), pair.clone()).prop_map(|(function, (x, y))| format!("{function}({x}, {y})")),
            (select(&BY), pair.clone()).prop_map(|(function, (x, y))| format!("{function}({x}, &{y})")),
            pair.prop_map(|(x, y)| format!("map(&{x}, {y})")),
        ]
    })
}

/// Expressions that are right, and now and then what is none at all.
fn expressions() -> impl Strategy<Value = String> {
    let right = right_expressions();
    let mangled = (right.clone(), any::<prop::sample::Index>(), any::<char>()).prop_map(|(text, at, c)| {
        let mut letters: Vec<char> = text.chars().collect();
        let at = at.index(letters.len());
        letters[at] = c;
        letters.into_iter().collect()
    });
    prop_oneof![6 => right, 2 => mangled, 1 => any::<String>()]
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c]{0,3}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[ab]|ä b", inner, 0..3).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

#[test]
fn no_expression_and_no_answer_makes_it_panic() {
    let mut runner = TestRunner::new(Config { cases: TRIED, failure_persistence: None, ..Config::default() });
    let understood = std::cell::Cell::new(0_u32);
    runner
        .run(&(expressions(), documents()), |(text, document)| {
            if let Ok(query) = Query::parse(&text) {
                understood.set(understood.get() + 1);
                if let Err(trouble) = query.apply(&document) {
                    prop_assert_eq!(trouble.exit, Exit::Usage, "{}", trouble.message);
                }
            }
            Ok(())
        })
        .unwrap();
    assert!(understood.get() > TRIED / 3, "only {} expressions were understood, too few to mean anything", understood.get());
}
