//! A page as scripts: for each setting that the page names, what is done in it, in order.

use crate::console::{self, Exchange};
use crate::markdown::{Block, Part, parts};
use crate::pages::Page;

/// What is done in one setting of one page.
#[derive(Clone, Debug)]
pub struct Script {
    pub page: String,
    /// What runs before the first step: `none`, `up …` or `sim …`.
    pub setting: String,
    pub steps: Vec<Step>,
    /// The exit code that the page of an error names.
    pub exit_code: Option<i32>,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub line: usize,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    /// A command whose output is compared.
    Show(Exchange),
    /// A command that must succeed.
    Run(String),
    /// A command that is repeated until it succeeds.
    Until(String),
    /// A block that is a file.
    File { name: String, lines: Vec<String> },
    /// What a server that runs comes to say.
    Said(Vec<String>),
    /// The words by which a server was started: Ctrl-C to each that has them, or to all if there are none.
    Stop(String),
    /// A command whose output is what an id of the page stands for.
    Name { id: String, command: String },
    /// A command on a terminal, and the keys that are typed there.
    Keys { command: String, keys: String },
    /// The power goes: every server is killed.
    Kill,
}

/// A block that is not executed.
#[derive(Clone, Debug)]
pub struct NotRun {
    pub page: String,
    pub first_line: String,
}

/// What a page asks for.
#[derive(Debug, Default)]
pub struct Reading {
    pub scripts: Vec<Script>,
    pub not_run: Vec<NotRun>,
    /// With the page and the line of each.
    pub problems: Vec<String>,
}

/// Languages of blocks that are shown and not executed.
const DATA: [&str; 4] = ["text", "toml", "json", "yaml"];

pub fn read(page: &Page) -> Reading {
    let mut reader = Reader { page, reading: Reading::default(), remark: None };
    match parts(&page.text) {
        Ok(parts) => parts.into_iter().for_each(|part| reader.take(part)),
        Err(problem) => reader.reading.problems.push(format!("{}:{problem}", page.name)),
    }
    if let Some((word, _)) = reader.remark {
        reader.reading.problems.push(format!("{}: the last remark `{word}` has no block", page.name));
    }
    reader.reading
}

struct Reader<'a> {
    page: &'a Page,
    reading: Reading,
    /// A remark that speaks of the next block.
    remark: Option<(String, String)>,
}

impl Reader<'_> {
    fn take(&mut self, part: Part) {
        let taken = match part {
            Part::Remark { line, word, rest } => self.take_remark(line, word, rest),
            Part::Block(block) => self.take_block(block),
        };
        if let Err(problem) = taken {
            self.reading.problems.push(format!("{}:{problem}", self.page.name));
        }
    }

    fn take_remark(&mut self, line: usize, word: String, rest: String) -> Result<(), String> {
        match word.as_str() {
            "setting" => {
                let (page, exit_code) = (self.page.name.clone(), exit_code(self.page));
                self.reading.scripts.push(Script { page, setting: rest, steps: Vec::new(), exit_code });
                Ok(())
            }
            "setup" => self.step(line, What::Run(rest)),
            "until" => self.step(line, What::Until(rest)),
            "stop" => self.step(line, What::Stop(rest)),
            "kill" => self.step(line, What::Kill),
            "not run" | "file" | "said" | "keys" => match self.remark.replace((word, rest)) {
                None => Ok(()),
                Some((word, _)) => Err(format!("{line}: the remark `{word}` before it has no block")),
            },
            // Where a benchmark writes its figures.
            "figures" | "end" => Ok(()),
            word if word.starts_with("id ") => self.step(line, What::Name { id: word["id ".len()..].to_owned(), command: rest }),
            word => Err(format!("{line}: `{word}` is no remark that docs/README.md explains")),
        }
    }

    fn take_block(&mut self, block: Block) -> Result<(), String> {
        let line = block.line;
        let (word, rest) = self.remark.take().unwrap_or_default();
        match (word.as_str(), block.language.as_str()) {
            ("not run", "console" | "python" | "sh" | "text") if !rest.is_empty() => {
                let first_line = block.lines.first().cloned().unwrap_or_default();
                self.reading.not_run.push(NotRun { page: self.page.name.clone(), first_line });
                Ok(())
            }
            ("not run", _) => Err(format!("{line}: a block that is not run says why, and is console, python, sh or text")),
            ("file", language) if language != "console" => self.step(line, What::File { name: rest, lines: block.lines }),
            ("said", "text") => self.step(line, What::Said(block.lines)),
            ("keys", "sh") => {
                commands(&block).into_iter().try_for_each(|(line, command)| self.step(line, What::Keys { command, keys: rest.clone() }))
            }
            ("", "console") => {
                console::exchanges(&block)?.into_iter().try_for_each(|exchange| self.step(exchange.line, What::Show(exchange)))
            }
            ("", "sh") => commands(&block).into_iter().try_for_each(|(line, command)| self.step(line, What::Run(command))),
            ("", "text") if block.lines.iter().any(|line| is_of_a_command(line)) => {
                Err(format!("{line}: a command and what it says are shown in a console or sh block, or marked `not run`"))
            }
            ("", language) if DATA.contains(&language) => Ok(()),
            (word, language) => {
                Err(format!("{line}: a block of `{language}` after the remark `{word}` is not explained in docs/README.md"))
            }
        }
    }

    fn step(&mut self, line: usize, what: What) -> Result<(), String> {
        let script = self.reading.scripts.last_mut().ok_or_else(|| format!("{line}: no setting is named before it"))?;
        script.steps.push(Step { line, what });
        Ok(())
    }
}

/// What may not hide in a block that is not executed.
fn is_of_a_command(line: &str) -> bool {
    ["$ ", "error: ", "rackwright "].iter().any(|begin| line.starts_with(begin))
}

/// The commands of an `sh` block.
fn commands(block: &Block) -> Vec<(usize, String)> {
    let mut commands: Vec<(usize, String)> = Vec::new();
    let mut is_continued = false;
    for (index, line) in block.lines.iter().enumerate() {
        let text = line.trim_end_matches('\\').trim();
        match commands.last_mut() {
            Some((_, command)) if is_continued => *command = format!("{command} {text}"),
            _ if text.is_empty() || text.starts_with('#') => {}
            _ => commands.push((block.line + 1 + index, text.to_owned())),
        }
        is_continued = line.ends_with('\\');
    }
    commands
}

/// The page of an error says which exit code its command has: `HTTP status 409 · exit code 4`.
fn exit_code(page: &Page) -> Option<i32> {
    let line = page.text.lines().find(|line| line.starts_with("HTTP status "))?;
    line.split_once("exit code ")?.1.trim().parse().ok()
}

#[test]
fn a_block_that_says_nothing_about_itself_is_a_problem() {
    let problems = |text: &str| read(&Page { name: "p.md".to_owned(), text: text.to_owned() }).problems;
    for (text, problem) in [
        ("```\nls\n```\n", "p.md:1: a block of ``"),
        ("```sh\nls\n```\n", "p.md:2: no setting is named"),
        ("```text\n$ ls\n```\n", "p.md:1: a command and what it says"),
        ("```text\nrackwright status\n```\n", "p.md:1: a command and what it says"),
        ("```mermaid\na\n```\n", "p.md:1: a block of `mermaid`"),
        ("<!-- seting: up -->\n", "p.md:1: `seting` is no remark"),
        ("<!-- said -->\n", "p.md: the last remark `said` has no block"),
        ("<!-- not run -->\n```sh\nls\n```\n", "p.md:2: a block that is not run says why"),
    ] {
        assert!(problems(text)[0].starts_with(problem), "{:?}", problems(text));
    }
    assert!(problems("<!-- setting: none -->\n```sh\nls\n```\n").is_empty());
}
