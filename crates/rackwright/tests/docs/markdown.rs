//! As much of Markdown as the pages use: fenced blocks with the remarks before them, headings, links, code in a sentence.

/// A part of a page that means something to the test, in the order of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// `<!-- word: rest -->` on a line of its own.
    Remark {
        line: usize,
        word: String,
        rest: String,
    },
    Block(Block),
}

/// A fenced block. Lines are counted from 1, as editors do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The line of the opening fence.
    pub line: usize,
    pub language: String,
    pub lines: Vec<String>,
}

/// The parts of a page, or what cannot be understood about it.
pub fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let (mut before, mut is_list) = ("", false);
    while let Some((number, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let mut inside = Vec::new();
            loop {
                match lines.next() {
                    None => return Err(format!("{number}: the block is not closed")),
                    Some((_, "```")) => break,
                    Some((_, line)) => inside.push(line.to_owned()),
                }
            }
            parts.push(Part::Block(Block { line: number, language: language.to_owned(), lines: inside }));
        } else if line.trim_start().starts_with("```") {
            return Err(format!("{number}: a fence begins at the margin"));
        } else if let Some(remark) = line.strip_prefix("<!-- ") {
            parts.push(remark_of(number, remark)?);
        } else if line.starts_with("    ") && before.trim().is_empty() && !is_list {
            return Err(format!(
                "{number}: an indented block does not say what it is; put it between ```console, ```sh or ```text and ```"
            ));
        }
        if !line.trim().is_empty() {
            is_list = is_item(line) || (is_list && line.starts_with(' '));
        }
        before = line;
    }
    Ok(parts)
}

fn remark_of(number: usize, remark: &str) -> Result<Part, String> {
    let remark = remark.strip_suffix(" -->").ok_or_else(|| format!("{number}: a remark ends on its own line"))?;
    let (word, rest) = remark.split_once(": ").unwrap_or((remark, ""));
    Ok(Part::Remark { line: number, word: word.to_owned(), rest: rest.to_owned() })
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ")
        || line.split_once(". ").is_some_and(|(number, _)| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// The lines that are prose, numbered: what stands in no block.
pub fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut prose = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside;
        } else if !inside && !line.starts_with("<!-- ") {
            prose.push((index + 1, line));
        }
    }
    prose
}

/// What stands between backticks in the prose. A span may go on in the next line.
pub fn code_spans(text: &str) -> Vec<(usize, String)> {
    let mut spans = Vec::new();
    for paragraph in paragraphs(text) {
        let (first, joined) = paragraph;
        let mut rest = joined.as_str();
        while let Some((ticks, inside, after)) = next_span(rest) {
            let line = first + joined[..joined.len() - rest.len() + ticks].matches('\n').count();
            spans.push((line, inside.replace('\n', " ")));
            rest = after;
        }
    }
    spans
}

/// Where the next span begins, what is in it, and what follows.
fn next_span(text: &str) -> Option<(usize, &str, &str)> {
    let begin = text.find('`')?;
    let fence = text[begin..].chars().take_while(|c| *c == '`').count();
    let inside = &text[begin + fence..];
    let end = inside.find(&"`".repeat(fence))?;
    Some((begin, &inside[..end], &inside[end + fence..]))
}

fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let mut follows = 0;
    for (number, line) in prose(text) {
        match paragraphs.last_mut() {
            Some((_, paragraph)) if follows == number && !line.trim().is_empty() && !line.starts_with('|') => {
                paragraph.push('\n');
                paragraph.push_str(line);
            }
            _ => paragraphs.push((number, line.to_owned())),
        }
        follows = number + 1;
    }
    paragraphs
}

/// The targets of the links in the prose.
pub fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let mut rest = line;
        while let Some(begin) = rest.find("](") {
            let target = &rest[begin + 2..];
            let Some(end) = target.find(')') else { break };
            links.push((number, target[..end].to_owned()));
            rest = &target[end..];
        }
    }
    links
}

/// The anchors that the headings of a page make, as GitHub makes them.
pub fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect();
        let twins = anchors.iter().filter(|known| **known == anchor).count();
        anchors.push(if twins == 0 { anchor } else { format!("{anchor}-{twins}") });
    }
    anchors
}

#[test]
fn remarks_and_blocks_are_found_and_what_is_indented_is_refused() {
    let page = "# A\n\n<!-- setting: up --racks 1 -->\n```console\n$ x\n    y\n```\n- item\n\n    more of it\n";
    let remark = Part::Remark { line: 3, word: "setting".to_owned(), rest: "up --racks 1".to_owned() };
    let block = Block { line: 4, language: "console".to_owned(), lines: vec!["$ x".to_owned(), "    y".to_owned()] };
    assert_eq!(parts(page), Ok(vec![remark, Part::Block(block)]));
    for (page, problem) in [("a\n\n    b\n", "3: an indented"), ("```sh\n", "1: the block"), ("<!-- a\n-->\n", "1: a remark")] {
        assert!(parts(page).unwrap_err().starts_with(problem), "{page}");
    }
}

#[test]
fn code_links_and_anchors_are_found_in_the_prose_only() {
    let page = "# What `--check` does\n\nSee [a](b.md#c) and `one\ntwo`, ``x`y``.\n```text\n`no` [no](no)\n```\n## What `--check` does\n";
    let spans = [(1, "--check"), (3, "one two"), (4, "x`y"), (8, "--check")];
    assert_eq!(code_spans(page), spans.map(|(line, span)| (line, span.to_owned())));
    assert_eq!(links(page), [(3, "b.md#c".to_owned())]);
    assert_eq!(anchors(page), ["what---check-does", "what---check-does-1"]);
}
