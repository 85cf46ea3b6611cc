//! `rackwright` with nothing after it: whether a server is there, and what to type next.

use std::time::Duration;

use serde_json::Value;

use super::answer::{field_or_dash, items};
use super::args::GlobalArgs;
use super::client::Target;
use super::context::Home;
use super::screen::{Screen, Sheet, Tone};
use super::session::Session;
use super::trouble::Trouble;

/// Somebody who has typed nothing but the name does not want to wait.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

const WITH_SERVER: [(&str, &str); 4] = [
    ("rackwright status", "what runs and what waits, and why"),
    ("rackwright bmm list", "every machine"),
    ("rackwright vm list", "what tenants run, and on which machine"),
    ("rackwright top", "all of it, live"),
];

const WITHOUT_SERVER: [(&str, &str); 3] = [
    ("rackwright up", "a simulated site on this computer, to try everything"),
    ("rackwright serve --config FILE", "the control plane of a site of your own"),
    ("rackwright context list", "the servers that this computer knows"),
];

pub async fn run(home: &Home, global: &GlobalArgs, screen: &mut Screen) -> Result<(), Trouble> {
    let status = match Session::open(global, home) {
        Ok(session) => match tokio::time::timeout(ANSWER_TIMEOUT, session.client.get(&Target::own(["status"]))).await {
            Ok(Ok(status)) => Ok((session.client.name().to_owned(), status)),
            Ok(Err(trouble)) => Err(trouble.message),
            Err(_) => Err(format!("{} does not answer", session.client.name())),
        },
        Err(trouble) => Err(trouble.message),
    };
    screen.sheet(&page(status.as_ref().map(|(server, status)| (server.as_str(), status)).map_err(String::as_str)))
}

fn page(status: Result<(&str, &Value), &str>) -> Sheet {
    let mut sheet = Sheet::of(Tone::Strong, concat!("Rackwright ", env!("CARGO_PKG_VERSION"), ", a control plane for bare-metal sites"));
    sheet.gap();
    let next = match status {
        Ok((server, status)) => {
            sheet.line(Tone::Plain, format!("{server} answers:"));
            for cluster in items(status, "/clusters") {
                sheet.line(Tone::Plain, format!("  {}", in_one_line(cluster)));
            }
            WITH_SERVER.as_slice()
        }
        Err(why) => {
            sheet.line(Tone::Plain, format!("No server: {why}."));
            &WITHOUT_SERVER
        }
    };
    sheet.gap();
    sheet.line(Tone::Plain, if status.is_ok() { "Next:" } else { "Start one, or choose one:" });
    let width = next.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    for (command, what) in next {
        sheet.line(Tone::Plain, format!("  {command:width$}  {what}"));
    }
    sheet.gap();
    sheet.line(Tone::Plain, "`rackwright --help` names every command.");
    sheet
}

fn in_one_line(cluster: &Value) -> String {
    let text = |pointer| field_or_dash(cluster, pointer);
    format!(
        "{} is {} and {}: {} of {} machines ready, {} running, {} waiting",
        text("/name"),
        text("/detailedStatus"),
        text("/connection"),
        text("/machines/ready"),
        text("/machines/total"),
        text("/operationCount"),
        text("/waitCount"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixtures;
    use expect_test::expect;

    #[test]
    fn a_server_that_answers_is_told_in_a_line_with_the_next_commands() {
        expect![[r#"
            Rackwright 0.1.0, a control plane for bare-metal sites

            http://127.0.0.1:7225 answers:
              cluster1 is Running and Connected: 37 of 40 machines ready, 1 running, 1 waiting

            Next:
              rackwright status    what runs and what waits, and why
              rackwright bmm list  every machine
              rackwright vm list   what tenants run, and on which machine
              rackwright top       all of it, live

            `rackwright --help` names every command.
        "#]]
        .assert_eq(&page(Ok(("http://127.0.0.1:7225", &fixtures::busy_status()))).plain());
    }

    #[test]
    fn without_a_server_it_says_how_to_start_one() {
        expect![[r#"
            Rackwright 0.1.0, a control plane for bare-metal sites

            No server: nothing answers at http://127.0.0.1:7225.

            Start one, or choose one:
              rackwright up                   a simulated site on this computer, to try everything
              rackwright serve --config FILE  the control plane of a site of your own
              rackwright context list         the servers that this computer knows

            `rackwright --help` names every command.
        "#]]
        .assert_eq(&page(Err("nothing answers at http://127.0.0.1:7225")).plain());
    }
}
