//! `rackwright bmm update`: the tags and the details that people write on a machine.

use std::collections::BTreeMap;

use clap::Args;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use super::answer::text_of;
use super::args::NameArgs;
use super::did_you_mean::near_hint;
use super::render::machine_table;
use super::screen::{Screen, Sheet, Tone};
use super::session::{Kind, Session};
use super::trouble::{Exit, Trouble};

#[derive(Args, Clone, Debug)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true).args(["tags", "add_tags", "remove_tags", "machine_details"]))]
pub struct UpdateArgs {
    #[command(flatten)]
    name: NameArgs,

    /// Replaces all its tags by these, as in `az`; `--tags ''` takes all away.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., value_parser = parse_tag, conflicts_with_all = ["add_tags", "remove_tags"])]
    tags: Vec<Tag>,

    /// Adds these tags, or gives them another value; the others stay.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., value_parser = parse_tag)]
    add_tags: Vec<Tag>,

    /// Takes these tags away; the others stay.
    #[arg(long, value_name = "KEY", num_args = 1..)]
    remove_tags: Vec<String>,

    /// What is to be known of it, such as its asset number; an empty text takes it away.
    #[arg(long, value_name = "TEXT")]
    machine_details: Option<String>,

    /// Change it only if its etag is still this one; `rackwright bmm show NAME --query etag -o tsv` tells it.
    #[arg(long, value_name = "ETAG", value_parser = parse_etag)]
    if_match: Option<HeaderValue>,
}

/// Tags that replace all that there are.
#[derive(Args, Clone, Debug)]
pub struct TagsArgs {
    /// Its tags from now on, as in `az`; `--tags ''` takes all away.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., value_parser = parse_tag)]
    tags: Vec<Tag>,
}

impl TagsArgs {
    pub fn is_given(&self) -> bool {
        !self.tags.is_empty()
    }

    pub fn by_key(&self) -> Result<BTreeMap<String, String>, Trouble> {
        by_key(&self.tags)
    }
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

/// Shells eat quotes, and JSON adds some, so an etag may lack them or have more of them.
pub fn parse_etag(text: &str) -> Result<HeaderValue, String> {
    let bare = text.trim().trim_matches(['"', '\\']);
    if bare.is_empty() || !bare.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"') {
        return Err("it is not an etag such as `\"3\"`".to_owned());
    }
    let quoted = if bare == "*" || bare.starts_with("W/") { bare.to_owned() } else { format!("\"{bare}\"") };
    HeaderValue::from_str(&quoted).map_err(|_| "it is not an etag".to_owned())
}

/// What was typed, each key once.
fn by_key(tags: &[Tag]) -> Result<BTreeMap<String, String>, Trouble> {
    let mut by_key = BTreeMap::new();
    for (key, value) in tags.iter().flatten() {
        if by_key.insert(key.clone(), value.clone()).is_some() {
            return Err(Trouble::new(Exit::Usage, format!("the tag `{key}` is given twice")));
        }
    }
    Ok(by_key)
}

impl UpdateArgs {
    /// Whether the tags that it has must be known first.
    fn changes_some_tags(&self) -> bool {
        !self.add_tags.is_empty() || !self.remove_tags.is_empty()
    }

    /// The tags that it has from now on, if some of them change. As in Azure, a key is the same in any case of letters.
    fn tags_after(&self, machine: &Value) -> Result<BTreeMap<String, String>, Trouble> {
        let has = machine.get("tags").and_then(Value::as_object).into_iter().flatten();
        let mut tags: BTreeMap<String, String> = has.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
        for key in &self.remove_tags {
            let Some(known) = tags.keys().find(|known| known.eq_ignore_ascii_case(key)).cloned() else {
                let trouble = Trouble::new(Exit::NotFound, format!("`{}` has no tag `{}`", self.name.get(), text_of(key)));
                return Err(match near_hint(key, tags.keys().map(String::as_str)) {
                    Some(near) => trouble.hint(near),
                    None => trouble,
                });
            };
            tags.remove(&known);
        }
        for (key, value) in by_key(&self.add_tags)? {
            tags.retain(|known, _| !known.eq_ignore_ascii_case(&key));
            tags.insert(key, value);
        }
        Ok(tags)
    }

    fn body(&self) -> Result<Value, Trouble> {
        let mut body = json!({});
        if !self.tags.is_empty() {
            body["tags"] = json!(by_key(&self.tags)?);
        }
        if let Some(details) = &self.machine_details {
            body["properties"] = json!({ "machineDetails": details });
        }
        Ok(body)
    }
}

pub async fn run(session: &Session, screen: &mut Screen, args: &UpdateArgs) -> Result<(), Trouble> {
    let name = args.name.get();
    let machine = match change(session, args).await {
        // Somebody else wrote between our reading and our writing; the second time both are right.
        Err(trouble) if is_outrun(&trouble) && args.changes_some_tags() && args.if_match.is_none() => change(session, args).await?,
        changed => changed?,
    };
    let said = || Sheet::of(Tone::Plain, format!("`{name}` was updated"));
    session.showing.one(screen, &machine, said, || machine_table(std::slice::from_ref(&machine), &[]))
}

/// Writes once. To change some of the tags they are read first, and nobody's write in between is lost.
async fn change(session: &Session, args: &UpdateArgs) -> Result<Value, Trouble> {
    let name = args.name.get();
    let mut body = args.body()?;
    let mut if_match = args.if_match.clone();
    if args.changes_some_tags() {
        let machine = session.get(Kind::Machine, name).await?;
        body["tags"] = json!(args.tags_after(&machine)?);
        if_match = if_match.or_else(|| parse_etag(machine["etag"].as_str()?).ok());
    }
    session.update(name, &body, if_match.as_ref()).await.map_err(|trouble| match trouble {
        Trouble { exit: Exit::Refused, hint: None, .. } if args.if_match.is_some() => {
            trouble.hint(format!("`rackwright bmm show {name} --query etag -o tsv` tells its etag now"))
        }
        other => other,
    })
}

fn is_outrun(trouble: &Trouble) -> bool {
    trouble.exit == Exit::Refused && trouble.details.iter().any(|detail| detail.starts_with("rule precondition-failed"))
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
        assert!(parse(&["--tags", "a=b", "--add-tags", "c=d"]).is_err());
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
        assert_eq!(trouble.hint.as_deref(), Some("`rackwright bmm show m1 --query etag -o tsv` tells its etag now"));
        assert_eq!(rote.header(0, "if-match"), "\"3\"");
        run(&rote.session, &mut screen, &parse(&["--tags", "a=b"]).unwrap()).await.unwrap();
        assert!(out.text().contains("\"m1\""));
    }

    fn outrun() -> Reply {
        let info = json!({ "rule": "precondition-failed", "subject": "`m1` was not changed", "evidence": ["x"], "remedy": "y" });
        let error = json!({ "code": "PreconditionFailed", "message": "x", "additionalInfo": [{ "type": "Refusal", "info": info }] });
        Reply::Json(412, json!({ "error": error }))
    }

    #[tokio::test]
    async fn some_tags_are_changed_and_nobodys_write_in_between_is_lost() {
        let read = |etag: &str, tags: Value| Reply::Json(200, json!({ "name": "m1", "etag": etag, "tags": tags }));
        let replies = vec![
            read("\"3\"", json!({ "a": "1", "Old": "x" })),
            outrun(),
            read("\"4\"", json!({ "a": "1", "Old": "x", "theirs": "y" })),
            read("\"5\"", json!({ "A": "2" })),
        ];
        let rote = Rote::with(replies, Some("g1")).await;
        let (mut screen, _, _) = captured();
        let args = parse(&["--add-tags", "A=2", "b", "--remove-tags", "old"]).unwrap();
        run(&rote.session, &mut screen, &args).await.unwrap();
        assert_eq!((rote.header(1, "if-match"), rote.header(3, "if-match")), ("\"3\"".to_owned(), "\"4\"".to_owned()));
        let tags = |tags: Value| args.tags_after(&json!({ "tags": tags })).map(|tags| json!(tags));
        let after = tags(json!({ "a": "1", "Old": "x", "theirs": "y" })).unwrap();
        assert_eq!(after, json!({ "A": "2", "b": "", "theirs": "y" }));
        let trouble = tags(json!({ "odl": "x" })).unwrap_err();
        assert_eq!((trouble.exit, trouble.hint.as_deref()), (Exit::NotFound, Some("did you mean `odl`?")));
    }

    #[tokio::test]
    async fn one_who_is_outrun_twice_is_told() {
        let read = || Reply::Json(200, json!({ "name": "m1", "etag": "\"3\"", "tags": { "b": "c" } }));
        let rote = Rote::with(vec![read(), outrun(), read(), outrun()], Some("g1")).await;
        let (mut screen, _, _) = captured();
        let trouble = run(&rote.session, &mut screen, &parse(&["--add-tags", "a=b"]).unwrap()).await.unwrap_err();
        assert_eq!((trouble.exit, rote.paths().len()), (Exit::Refused, 4));
    }

    #[test]
    fn an_etag_is_understood_without_the_quotes_that_a_shell_eats() {
        for (typed, sent) in [("3", "\"3\""), ("\"3\"", "\"3\""), (r#""\"3\"""#, "\"3\""), ("*", "*")] {
            assert_eq!(parse_etag(typed).unwrap(), sent);
        }
        for wrong in ["", "\"\"", "a b", "é", "a\nb"] {
            assert!(parse_etag(wrong).is_err(), "{wrong}");
        }
    }
}
