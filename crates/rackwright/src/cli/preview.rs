//! `--preview`, and the page that a person sees before a disruptive action is sent.

use clap::Args;
use serde_json::Value;

use super::act::{Action, FollowArgs};
use super::answer::refused;
use super::render::{Clock, preview_sheet, preview_table};
use super::screen::Screen;
use super::session::{Kind, Session};
use super::trouble::{Exit, Trouble};

/// Options of every action that becomes an operation and can be looked at before.
#[derive(Args, Clone, Copy, Debug)]
pub struct ActArgs {
    /// Show what it would do, and do nothing. Exits with 4 if it would be refused.
    #[arg(long)]
    pub preview: bool,

    #[command(flatten)]
    pub follow: FollowArgs,
}

impl Action {
    /// Shows what it would do, or does it.
    pub async fn preview_or_run(&self, session: &Session, screen: &mut Screen, args: ActArgs) -> Result<(), Trouble> {
        if !args.preview {
            return self.run(session, screen, args.follow).await;
        }
        show_preview(session, screen, &self.load_preview(session).await?)
    }

    pub(super) async fn confirm(&self, session: &Session, screen: &mut Screen, question: &str) -> Result<(), Trouble> {
        confirm(screen, self.load_preview(session).await, question)
    }

    pub(super) async fn load_preview(&self, session: &Session) -> Result<Value, Trouble> {
        let machine = session.get(Kind::Machine, &self.machine).await?;
        // A server that knows no previews does not know the parameter either, and would carry the action out. One that knows them
        // tells of every machine what was moved off it.
        if machine.pointer("/rackwright/evacuated").is_none() {
            return Err(Trouble::failed("this server is older than previews").hint("upgrade the server"));
        }
        let mut query = self.query();
        query.push(("preview", "true"));
        session.act(&self.machine, self.verb, &query, &self.body).await
    }
}

/// The page, or the structure; what would be refused ends as a refusal does.
pub fn show_preview(session: &Session, screen: &mut Screen, preview: &Value) -> Result<(), Trouble> {
    session.showing.one(screen, preview, || preview_sheet(preview, Clock::of_process()), || preview_table(preview))?;
    would_be_refused(preview).map_or(Ok(()), Err)
}

/// Shows a person what an action would do and asks. What would be refused is not asked about.
pub fn confirm(screen: &mut Screen, preview: Result<Value, Trouble>, question: &str) -> Result<(), Trouble> {
    match preview {
        Ok(preview) => {
            screen.show(&preview_sheet(&preview, Clock::of_process()));
            if let Some(trouble) = would_be_refused(&preview) {
                return Err(trouble);
            }
        }
        // A question about what does not exist would be a waste of a person's care.
        Err(trouble) if matches!(trouble.exit, Exit::NotFound | Exit::Unreachable) => return Err(trouble),
        Err(trouble) => screen.warn(&format!("what it would do cannot be shown: {trouble}")),
    }
    if screen.ask(question) { Ok(()) } else { Err(Trouble::failed("not confirmed; nothing was sent")) }
}

fn would_be_refused(preview: &Value) -> Option<Trouble> {
    let refusal = preview.get("refusal").filter(|refusal| refusal.is_object())?;
    let mut subject = refusal.clone();
    subject["subject"] = refusal["message"].clone();
    Some(refused(Exit::Refused, &subject))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::screen::tests::captured;
    use crate::cli::session_tests::{Reply, Rote};

    fn machine(more: &Value) -> Value {
        json!({ "id": "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1", "name": "m1", "rackwright": more })
    }

    fn restart() -> Action {
        Action { machine: "m1".into(), verb: "restart", body: json!({}), question: Some("Restart m1?".into()), accepts_outage: true }
    }

    fn args() -> ActArgs {
        let consent = super::super::act::ConsentArgs { yes: false };
        ActArgs { preview: true, follow: FollowArgs { no_wait: false, consent } }
    }

    #[tokio::test]
    async fn a_preview_is_asked_for_with_the_actions_own_parameters_and_shown() {
        let replies =
            vec![Reply::Json(200, machine(&json!({ "evacuated": null }))), Reply::Json(200, json!({ "machine": "m1", "refusal": null }))];
        let rote = Rote::with(replies, Some("g1")).await;
        let (mut screen, out, _) = captured();
        restart().preview_or_run(&rote.session, &mut screen, args()).await.unwrap();
        assert!(out.text().contains("\"machine\": \"m1\""), "{}", out.text());
        let paths = rote.paths();
        assert!(paths[1].contains("/m1/restart?") && paths[1].contains("acceptControlPlaneOutage=true&preview=true"), "{paths:?}");
    }

    #[tokio::test]
    async fn what_speaks_against_an_action_that_was_accepted_is_said_at_once() {
        let accepted = json!({ "name": "8f3c", "properties": { "warnings": ["it has been away for 31d 00h"] } });
        let rote = Rote::with(vec![Reply::Json(202, accepted), Reply::Json(200, json!({ "id": "8f3c" }))], Some("g1")).await;
        let (mut screen, _, err) = captured();
        let follow = FollowArgs { no_wait: true, ..args().follow };
        restart().run(&rote.session, &mut screen, follow).await.unwrap();
        assert_eq!(err.text(), "warning: it has been away for 31d 00h\n");
    }

    #[tokio::test]
    async fn what_would_be_refused_ends_as_a_refusal_does() {
        let refusal = json!({ "rule": "kcp-quorum", "message": "`m1` cannot be restarted", "evidence": ["2 of 3"], "remedy": "wait" });
        let replies = vec![
            Reply::Json(200, machine(&json!({ "evacuated": null }))),
            Reply::Json(200, json!({ "machine": "m1", "refusal": refusal })),
        ];
        let rote = Rote::with(replies, Some("g1")).await;
        let (mut screen, out, _) = captured();
        let trouble = restart().preview_or_run(&rote.session, &mut screen, args()).await.unwrap_err();
        assert_eq!((trouble.exit.code(), trouble.message.as_str()), (4, "`m1` cannot be restarted"));
        assert_eq!((trouble.details, trouble.hint), (vec!["rule kcp-quorum: 2 of 3".to_owned()], Some("wait".to_owned())));
        assert!(out.text().contains("kcp-quorum"));
    }

    /// What a person at a terminal reads who is asked, and what is sent then.
    async fn ask(replies: Vec<Reply>, typed: &'static str) -> (Result<Value, Trouble>, String, usize) {
        let rote = Rote::with(replies, Some("g1")).await;
        let (screen, _, err) = captured();
        let mut screen = screen.with_person(typed);
        let sent = restart().send(&rote.session, &mut screen, args().follow.consent).await;
        (sent, err.text(), rote.paths().len())
    }

    fn known() -> Reply {
        Reply::Json(200, machine(&json!({ "evacuated": null })))
    }

    fn page() -> Reply {
        let vm = json!({ "name": "firewallvnf", "outcome": "stopped" });
        Reply::Json(200, json!({ "machine": "m1", "action": "restart", "refusal": null, "virtualMachines": [vm] }))
    }

    #[tokio::test]
    async fn a_person_sees_what_it_would_do_and_is_asked() {
        let accepted = Reply::Json(202, json!({ "name": "8f3c" }));
        let (sent, said, requests) = ask(vec![known(), page(), accepted], "y\n").await;
        assert_eq!((sent.unwrap()["name"].as_str(), requests), (Some("8f3c"), 3));
        let (shown, asked) = said.split_once("Restart m1? [y/N] ").unwrap();
        assert!(shown.contains("1 virtual machine: firewallvnf") && asked.is_empty(), "{said}");
        let (sent, _, requests) = ask(vec![known(), page()], "\n").await;
        assert_eq!((sent.unwrap_err().message.as_str(), requests), ("not confirmed; nothing was sent", 2));
    }

    #[tokio::test]
    async fn nobody_is_asked_about_what_would_be_refused_or_is_not_there() {
        let refusal = json!({ "rule": "kcp-quorum", "message": "`m1` cannot be restarted", "evidence": [], "remedy": "" });
        let refused = Reply::Json(200, json!({ "machine": "m1", "action": "restart", "refusal": refusal }));
        let (sent, said, _) = ask(vec![known(), refused], "y\n").await;
        assert_eq!(sent.unwrap_err().exit, Exit::Refused);
        assert!(said.contains("kcp-quorum") && !said.contains("[y/N]"), "{said}");
        let missing = || Reply::Json(404, json!({ "error": { "code": "ResourceNotFound", "message": "x" } }));
        let (sent, said, _) = ask(vec![missing(), missing()], "y\n").await;
        assert_eq!((sent.unwrap_err().exit, said.as_str()), (Exit::NotFound, ""));
    }

    #[tokio::test]
    async fn without_a_preview_a_person_is_asked_all_the_same() {
        let old = Reply::Json(200, machine(&json!({ "holds": [] })));
        let (sent, said, requests) = ask(vec![old], "no\n").await;
        assert_eq!((sent.unwrap_err().exit, requests), (Exit::Failed, 1));
        assert_eq!(said, "warning: what it would do cannot be shown: this server is older than previews\nRestart m1? [y/N] ");
    }

    #[tokio::test]
    async fn a_server_that_would_carry_it_out_is_not_asked() {
        let rote = Rote::with(vec![Reply::Json(200, machine(&json!({ "holds": [] })))], Some("g1")).await;
        let (mut screen, _, _) = captured();
        let trouble = restart().preview_or_run(&rote.session, &mut screen, args()).await.unwrap_err();
        assert_eq!(trouble.message, "this server is older than previews");
        assert_eq!(rote.paths().len(), 1);
    }
}
