//! A `console` block: commands after `$ `, each with the output that follows it.

use crate::markdown::Block;

/// One command of a block. Lines are those of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Where the command stands.
    pub line: usize,
    pub command: String,
    /// Where the output begins.
    pub shown_at: usize,
    pub shown: Vec<String>,
}

/// The commands of a block. A command that ends in a backslash goes on in the next line; a blank line before the next
/// command is only for the eye.
pub fn exchanges(block: &Block) -> Result<Vec<Exchange>, String> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut is_continued = false;
    for (index, line) in block.lines.iter().enumerate() {
        let number = block.line + 1 + index;
        match (line.strip_prefix("$ "), exchanges.last_mut()) {
            (_, Some(last)) if is_continued => {
                last.command.push_str(line.trim_end_matches('\\').trim_start());
                last.shown_at = number + 1;
            }
            (Some(command), _) => exchanges.push(Exchange {
                line: number,
                command: command.trim_end_matches('\\').to_owned(),
                shown_at: number + 1,
                shown: Vec::new(),
            }),
            (None, Some(last)) => last.shown.push(line.clone()),
            (None, None) => return Err(format!("{number}: a console block begins with a command after `$ `")),
        }
        is_continued = line.ends_with('\\') && (is_continued || line.starts_with("$ "));
    }
    for exchange in &mut exchanges {
        while exchange.shown.last().is_some_and(|line| line.is_empty()) {
            exchange.shown.pop();
        }
    }
    Ok(exchanges)
}

#[test]
fn output_belongs_to_the_command_before_it() {
    let lines = ["$ one \\", "    --more", "a", "", "$ two", "b", "", "c"].map(str::to_owned).to_vec();
    let block = Block { line: 10, language: "console".to_owned(), lines };
    let exchange = |line, command: &str, shown_at, shown: &[&str]| Exchange {
        line,
        command: command.to_owned(),
        shown_at,
        shown: shown.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(exchanges(&block), Ok(vec![exchange(11, "one --more", 13, &["a"]), exchange(15, "two", 16, &["b", "", "c"])]));
}
