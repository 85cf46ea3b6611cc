//! `rackwright rest`: any request as it was typed, sent to the server of the context with its token, and the answer as it comes.

use std::path::Path;

use clap::Args;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use serde_json::Value;

use super::answer::trouble_of;
use super::client::Typed;
use super::screen::Screen;
use super::session::Session;
use super::trouble::{Exit, Trouble};

/// Those that some path of the API knows.
const METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

#[derive(Args, Clone, Debug)]
#[command(allow_missing_positional = true)]
pub struct RestArgs {
    /// GET, HEAD, POST, PUT, PATCH or DELETE
    #[arg(value_name = "METHOD", default_value = "GET", value_parser = parse_method)]
    pub method: Method,
    /// The path with its query, sent as it is, or a whole address on the same server
    #[arg(value_name = "PATH")]
    pub path: String,
    /// The body, which is JSON unless a header says otherwise, or @FILE
    #[arg(long, value_name = "JSON")]
    pub body: Option<String>,
    /// A header of the request, such as 'If-Match: "3"'; once for each
    #[arg(long = "header", value_name = "HEADER", value_parser = parse_header)]
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Show the status and the headers of the answer, too
    #[arg(long)]
    pub include: bool,
}

pub async fn run(session: &Session, screen: &mut Screen, args: RestArgs) -> Result<(), Trouble> {
    if !session.showing.is_for_people() {
        return Err(Trouble::new(Exit::Usage, "`rest` shows answers as they come, and knows neither `-o` nor `--query`"));
    }
    let typed = typed(&args)?;
    let response = session.client.ask(&typed).await?;
    if args.include {
        screen.lines(&head(&response))?;
    }
    let status = response.status();
    let mut body = Vec::new();
    let mut rest = response;
    while let Some(chunk) = session.client.next_chunk(&mut rest).await? {
        screen.bytes(&chunk)?;
        if screen.reader_has_gone() {
            return Ok(());
        }
        // What is no error may go on for ever, and nobody needs it again.
        if !status.is_success() {
            body.extend_from_slice(&chunk);
        }
    }
    let is_error = status.is_client_error() || status.is_server_error();
    // The message of an error follows, and on a terminal the prompt.
    if is_error || screen.is_terminal() {
        screen.end_line()?;
    }
    if is_error {
        let envelope: Value = serde_json::from_slice(&body).unwrap_or_default();
        return Err(trouble_of(status.as_u16(), &envelope));
    }
    Ok(())
}

fn typed(args: &RestArgs) -> Result<Typed, Trouble> {
    let body = args.body.as_deref().map(read_body).transpose()?;
    if body.is_some() && matches!(args.method, Method::GET | Method::HEAD) {
        let wrong = format!("a {} has no body", args.method);
        return Err(Trouble::new(Exit::Usage, wrong).hint("name the method before the path, for example `rackwright rest PATCH PATH`"));
    }
    let mut headers = HeaderMap::new();
    if body.is_some() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    for (name, value) in &args.headers {
        if name == AUTHORIZATION {
            return Err(Trouble::new(Exit::Usage, "the token is sent by itself").hint("RACKWRIGHT_TOKEN gives another than the context's"));
        }
        if name == CONTENT_TYPE {
            headers.remove(name);
        }
        headers.append(name, value.clone());
    }
    Ok(Typed { method: args.method.clone(), path: args.path.clone(), headers, body: body.unwrap_or_default() })
}

fn read_body(text: &str) -> Result<Vec<u8>, Trouble> {
    let Some(file) = text.strip_prefix('@') else { return Ok(text.as_bytes().to_vec()) };
    let cannot = |problem: std::io::Error| Trouble::new(Exit::Usage, format!("{} cannot be read: {problem}", Path::new(file).display()));
    std::fs::read(file).map_err(cannot)
}

/// The status and the headers, as they stand before a body.
fn head(response: &Response) -> String {
    let mut head = format!("{:?} {}\n", response.version(), response.status());
    for (name, value) in response.headers() {
        head += &format!("{name}: {}\n", super::answer::text_of(&String::from_utf8_lossy(value.as_bytes())));
    }
    head + "\n"
}

fn parse_method(text: &str) -> Result<Method, String> {
    let known = METHODS.iter().find(|method| method.as_str().eq_ignore_ascii_case(text));
    known.cloned().ok_or_else(|| "it is none of GET, HEAD, POST, PUT, PATCH and DELETE".to_owned())
}

fn parse_header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("a header is `NAME: VALUE`")?;
    let name = name.trim().parse().map_err(|_| format!("`{}` is no name of a header", name.trim()))?;
    let value = value.trim().parse().map_err(|_| "the value has characters that no header can have".to_owned())?;
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::*;
    use crate::cli::args::{Cli, Command};
    use crate::cli::output::{Output, Showing};
    use crate::cli::screen::tests::captured;
    use crate::cli::session_tests::{Reply, Rote};

    fn parse(words: &[&str]) -> Result<RestArgs, String> {
        let cli = Cli::try_parse_from([&["rackwright", "rest"], words].concat()).map_err(|error| error.to_string())?;
        match cli.command {
            Some(Command::Rest(args)) => Ok(args),
            other => panic!("{other:?}"),
        }
    }

    /// What is said on stdout, how it ends, and the server.
    async fn ask(reply: Reply, words: &[&str]) -> (String, Result<(), Trouble>, Rote) {
        let mut rote = Rote::with(vec![reply], None).await;
        rote.session.showing = Showing::new(Output::Table, None).unwrap();
        let (mut screen, out, _) = captured();
        let ended = run(&rote.session, &mut screen, parse(words).unwrap()).await;
        (out.text(), ended, rote)
    }

    #[test]
    fn the_method_may_be_left_out() {
        assert_eq!(parse(&["/x"]).unwrap().method, Method::GET);
        let patch = parse(&["patch", "/x", "--body", "{}"]).unwrap();
        assert_eq!((patch.method, patch.path.as_str()), (Method::PATCH, "/x"));
        assert!(parse(&["FETCH", "/x"]).unwrap_err().contains("none of GET"));
        assert!(parse(&[]).is_err());
    }

    #[test]
    fn what_cannot_be_sent_is_wrong_usage() {
        for words in
            [&["/x", "--body", "{}"][..], &["POST", "/x", "--body", "@/nowhere/at/all"], &["/x", "--header", "authorization: Bearer x"]]
        {
            assert_eq!(typed(&parse(words).unwrap()).unwrap_err().exit, Exit::Usage, "{words:?}");
        }
        assert!(parse(&["/x", "--header", "nothing"]).is_err() && parse(&["/x", "--header", "a b: c"]).is_err());
    }

    #[tokio::test]
    async fn the_path_is_sent_and_the_answer_shown_as_they_are() {
        let (said, ended, rote) = ask(Reply::Json(200, json!({"b": 1, "a": [ 2 ]})), &["/a/b?c=d%20e&$top=5"]).await;
        assert_eq!((said.as_str(), ended), (r#"{"b":1,"a":[2]}"#, Ok(())));
        assert_eq!(rote.paths(), ["/a/b?c=d%20e&$top=5"]);
    }

    #[tokio::test]
    async fn headers_and_a_body_go_along_and_come_back() {
        let words = ["POST", "/x", "--body", "{}", "--header", "If-Match: \"3\"", "--include"];
        let (said, ended, rote) = ask(Reply::Json(202, json!([])), &words).await;
        assert_eq!(ended, Ok(()));
        assert!(
            said.starts_with("HTTP/1.1 202 Accepted\n") && said.contains("\ncontent-length: 2\n") && said.ends_with("\n\n[]"),
            "{said}"
        );
        assert_eq!((rote.header(0, "if-match"), rote.header(0, "content-type")), ("\"3\"".to_owned(), "application/json".to_owned()));
        let (_, _, rote) = ask(Reply::Json(200, json!([])), &["POST", "/x", "--body", "a", "--header", "content-type: text/plain"]).await;
        assert_eq!(rote.header(0, "content-type"), "text/plain");
    }

    #[tokio::test]
    async fn an_error_is_shown_as_it_came_and_ends_as_any_command_does() {
        let envelope = json!({"error": {"code": "ResourceNotFound", "message": "there is nothing"}});
        let (said, ended, _) = ask(Reply::Json(404, envelope.clone()), &["/x"]).await;
        assert_eq!(said, format!("{envelope}\n"));
        assert_eq!(ended.unwrap_err(), Trouble::new(Exit::NotFound, "there is nothing"));
        let (said, ended, _) = ask(Reply::Json(500, json!("broken")), &["/x"]).await;
        assert_eq!((said.as_str(), ended.unwrap_err().message.as_str()), ("\"broken\"\n", "the server answered 500"));
    }

    #[tokio::test]
    async fn another_server_is_not_asked() {
        for path in ["https://example.com/x", "//example.com/x", "x"] {
            let (_, ended, rote) = ask(Reply::HangUp, &[path]).await;
            assert_eq!(ended.unwrap_err().exit, Exit::Usage, "{path}");
            assert!(rote.paths().is_empty());
        }
    }
}
