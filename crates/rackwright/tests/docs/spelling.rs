//! Names in the prose: a command, a flag or a file between backticks is one that exists.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::markdown::code_spans;
use crate::pages;

/// Every command of the binary, with the flags that it takes.
type Grammar = BTreeMap<String, BTreeSet<String>>;

/// Reads the help of a command and of all below it.
fn learn(command: &[String], grammar: &mut Grammar) {
    let output = Command::new(env!("CARGO_BIN_EXE_rackwright")).args(command).arg("--help").output().expect("the binary starts");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = help
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '|' | '<' | '>' | '`' | '=' | '.'))
        .filter(|word| word.starts_with('-'));
    grammar.insert(command.join(" "), words.map(str::to_owned).collect());
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for line in commands.filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let name = line.split_whitespace().next().unwrap_or_default();
        if name != "help" {
            learn(&[command, &[name.to_owned()]].concat(), grammar);
        }
    }
}

/// What is wrong with code in a sentence, if it names a command or a flag of ours.
fn wrong_command(span: &str, grammar: &Grammar) -> Option<String> {
    let words: Vec<&str> = span.split_whitespace().collect();
    let flag = |word: &str| word.split(['=', '…']).next().unwrap_or_default().to_owned();
    match words[..] {
        ["rackwright", ..] => {
            let names: Vec<&str> = words[1..].iter().copied().take_while(|word| !word.starts_with('-')).collect();
            let longest = (0..=names.len()).rev().map(|end| names[..end].join(" ")).find(|name| grammar.contains_key(name))?;
            let is_group = grammar.keys().any(|name| name.starts_with(format!("{longest} ").trim_start()));
            if is_group && names.len() > longest.split_whitespace().count() {
                return Some("there is no such command".to_owned());
            }
            let unknown =
                words.iter().filter(|word| word.starts_with('-')).map(|word| flag(word)).find(|flag| !grammar[&longest].contains(flag));
            unknown.map(|flag| format!("`rackwright {longest}` takes no {flag}"))
        }
        [first, ..] if first.starts_with("--") => {
            let flag = flag(first);
            (!grammar.values().any(|flags| flags.contains(&flag))).then(|| "no command takes this flag".to_owned())
        }
        _ => None,
    }
}

/// Whether code in a sentence names a file of the repository that is not there.
fn is_missing_file(span: &str) -> bool {
    let is_ours = ["crates/", "docs/", "examples/", "tools/", "deploy/"].iter().any(|folder| span.starts_with(folder));
    is_ours && !span.contains(['*', '…', ' ', '{', '<']) && !pages::root().join(span).exists()
}

#[test]
fn every_command_flag_and_file_that_is_named_exists() {
    let mut grammar = Grammar::new();
    learn(&[], &mut grammar);
    assert!(grammar.contains_key("bmm restart") && grammar["bmm restart"].contains("--no-wait"), "{grammar:?}");
    let mut problems = Vec::new();
    for page in pages::manual() {
        for (line, span) in code_spans(&page.text) {
            let missing = is_missing_file(&span).then(|| "there is no such file".to_owned());
            problems.extend(wrong_command(&span, &grammar).or(missing).map(|problem| format!("{}:{line}: `{span}`: {problem}", page.name)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_misspelt_command_or_flag_is_found() {
    let flags = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect::<BTreeSet<String>>();
    let commands = [("", flags(&[])), ("bmm", flags(&[])), ("bmm restart", flags(&["--no-wait"]))];
    let grammar: Grammar = commands.into_iter().map(|(name, flags)| (name.to_owned(), flags)).collect();
    for right in ["rackwright bmm restart rack1compute01 --no-wait", "rackwright bmm", "rackwright", "--no-wait", "az --x", "…"] {
        assert_eq!(wrong_command(right, &grammar), None, "{right}");
    }
    for wrong in ["rackwright bmm restrt rack1", "rackwright bmn", "rackwright bmm restart --wait", "--wait"] {
        assert!(wrong_command(wrong, &grammar).is_some(), "{wrong}");
    }
    assert!(is_missing_file("crates/nowhere.rs") && !is_missing_file("crates/rackwright/Cargo.toml"));
}
