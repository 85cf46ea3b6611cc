//! `rackwright bmm update`: the tags and the details that people write on a machine.

use std::collections::BTreeMap;

use clap::Args;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use super::args::NameArgs;
use super::render::machine_table;
use super::screen::{Screen, Sheet, Tone};
use super::session::Session;
use super::trouble::{Exit, Trouble};

#[derive(Args, Clone, Debug)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true).args(["tags", "machine_details"]))]
pub struct UpdateArgs {
    #[command(flatten)]
    name: NameArgs,

    /// Its tags from now on, instead of those it has; `--tags ''` takes all away.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., value_parser = parse_tag)]
    tags: Vec<Tag>,

    /// What is to be known of it, such as its asset number; an empty text takes it away.
    #[arg(long, value_name = "TEXT")]
    machine_details: Option<String>,

    /// Change it only if its etag is still this one; `bmm show NAME --query etag` tells it.
    #[arg(long, value_name = "ETAG", value_parser = parse_etag)]
    if_match: Option<HeaderValue>,
}

/// A tag as it is typed, or the empty text that stands for none at all.
type Tag = Option<(String, String)>;

/// As in `az`: a key without a value has an empty one.
fn parse_tag(text: &str) -> Result<Tag, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.split_once('=').unwrap_or((text, "")) {
        ("", _) => Err("a tag is KEY=VALUE, and this one has no key".to_owned()),
        (key, value) => Ok(Some((key.to_owned(), value.to_owned()))),
    }
}

/// Shells eat quotes, so an etag may lack them.
fn parse_etag(text: &str) -> Result<HeaderValue, String> {
    let bare = text.trim().trim_matches('"');
    if bare.is_empty() || !bare.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"') {
        return Err("it is not an etag such as `\"3\"`".to_owned());
    }
    let quoted = if bare == "*" || bare.starts_with("W/") { bare.to_owned() } else { format!("\"{bare}\"") };
    HeaderValue::from_str(&quoted).map_err(|_| "it is not an etag".to_owned())
}

impl UpdateArgs {
    fn body(&self) -> Result<Value, Trouble> {
        let mut body = json!({});
        if !self.tags.is_empty() {
            let mut tags = BTreeMap::new();
            for (key, value) in self.tags.iter().flatten() {
                if tags.insert(key, value).is_some() {
                    return Err(Trouble::new(Exit::Usage, format!("the tag `{key}` is given twice")));
                }
            }
            body["tags"] = json!(tags);
        }
        if let Some(details) = &self.machine_details {
            body["properties"] = json!({ "machineDetails": details });
        }
        Ok(body)
    }
}

pub async fn run(session: &Session, screen: &mut Screen, args: &UpdateArgs) -> Result<(), Trouble> {
    let name = args.name.get();
    let updated = session.update(name, &args.body()?, args.if_match.as_ref()).await;
    let machine = updated.map_err(|trouble| match trouble {
        Trouble { exit: Exit::Refused, hint: None, .. } if args.if_match.is_some() => {
            trouble.hint(format!("`rackwright bmm show {name} --query etag` tells its etag now"))
        }
        other => other,
    })?;
    let said = || Sheet::of(Tone::Plain, format!("`{name}` was updated"));
    session.showing.one(screen, &machine, said, || machine_table(std::slice::from_ref(&machine), &[]))
}

#[cfg(test)]
mod tests {
    use super::super::args::{Cli, Command};
    use super::super::bmm::BmmCommand;
    use super::super::screen::tests::captured;
    use super::super::session_tests::{Reply, Rote};
    use super::*;
    use clap::Parser;

    fn parse(words: &[&str]) -> Result<UpdateArgs, clap::Error> {
        let cli = Cli::try_parse_from([&["rackwright", "bmm", "update", "m1"], words].concat())?;
        match cli.command {
            Some(Command::Bmm(BmmCommand::Update(args))) => Ok(args),
            other => panic!("{other:?}"),
        }
    }

    fn body(words: &[&str]) -> Value {
        parse(words).unwrap().body().unwrap()
    }

    #[test]
    fn only_what_is_given_is_sent() {
        assert_eq!(body(&["--tags", "a=b", "c=d=e", "f"]), json!({ "tags": { "a": "b", "c": "d=e", "f": "" } }));
        assert_eq!(body(&["--tags", ""]), json!({ "tags": {} }));
        assert_eq!(body(&["--machine-details", ""]), json!({ "properties": { "machineDetails": "" } }));
        assert_eq!(
            body(&["--tags", "a=b", "--machine-details", "rack 4"]),
            json!({ "tags": { "a": "b" }, "properties": { "machineDetails": "rack 4" } })
        );
    }

    #[test]
    fn what_changes_nothing_or_contradicts_itself_is_refused() {
        assert!(parse(&[]).is_err());
        assert!(parse(&["--if-match", "3"]).is_err());
        assert!(parse(&["--tags", "=b"]).is_err());
        assert_eq!(parse(&["--tags", "a=1", "a=2"]).unwrap().body().unwrap_err().exit, Exit::Usage);
    }

    #[tokio::test]
    async fn a_machine_that_has_changed_meanwhile_is_left_alone_and_its_etag_told_where() {
        let stale = json!({ "error": { "code": "PreconditionFailed", "message": "`m1` has changed: its etag is \"4\"" } });
        let rote = Rote::with(vec![Reply::Json(412, stale), Reply::Json(200, json!({ "name": "m1" }))], Some("g1")).await;
        let (mut screen, out, _) = captured();
        let args = parse(&["--tags", "a=b", "--if-match", "3"]).unwrap();
        let trouble = run(&rote.session, &mut screen, &args).await.unwrap_err();
        assert_eq!((trouble.exit, out.text().as_str()), (Exit::Refused, ""));
        assert_eq!(trouble.hint.as_deref(), Some("`rackwright bmm show m1 --query etag` tells its etag now"));
        assert_eq!(rote.header(0, "if-match"), "\"3\"");
        run(&rote.session, &mut screen, &parse(&["--tags", "a=b"]).unwrap()).await.unwrap();
        assert!(out.text().contains("\"m1\""));
    }

    #[test]
    fn an_etag_is_understood_without_the_quotes_that_a_shell_eats() {
        for (typed, sent) in [("3", "\"3\""), ("\"3\"", "\"3\""), ("*", "*")] {
            assert_eq!(parse_etag(typed).unwrap(), sent);
        }
        for wrong in ["", "\"\"", "a b", "é", "a\nb"] {
            assert!(parse_etag(wrong).is_err(), "{wrong}");
        }
    }
}
