//! `--preview`, and the page that a person sees before a disruptive action is sent.

use clap::Args;
use serde_json::Value;

use super::act::{Action, FollowArgs};
use super::answer::refused;
use super::render::{Clock, preview_sheet, preview_table};
use super::screen::Screen;
use super::session::{Kind, Session};
use super::trouble::{Exit, Trouble};

/// Options of every action of a machine that becomes an operation.
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
        let preview = self.load_preview(session).await?;
        session.showing.one(screen, &preview, || preview_sheet(&preview, Clock::of_process()), || preview_table(&preview))?;
        would_be_refused(&preview).map_or(Ok(()), Err)
    }

    /// Shows a person what it would do and asks. What would be refused is not asked about.
    pub(super) async fn confirm(&self, session: &Session, screen: &mut Screen, question: &str) -> Result<(), Trouble> {
        match self.load_preview(session).await {
            Ok(preview) => {
                screen.show(&preview_sheet(&preview, Clock::of_process()));
                if let Some(trouble) = would_be_refused(&preview) {
                    return Err(trouble);
                }
            }
            // A question about a machine that does not exist would be a waste of a person's care.
            Err(trouble) if matches!(trouble.exit, Exit::NotFound | Exit::Unreachable) => return Err(trouble),
            Err(trouble) => screen.warn(&format!("what it would do cannot be shown: {trouble}")),
        }
        if screen.ask(question) { Ok(()) } else { Err(Trouble::failed("not confirmed; nothing was sent")) }
    }

    async fn load_preview(&self, session: &Session) -> Result<Value, Trouble> {
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

    fn machine(more: Value) -> Value {
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
            vec![Reply::Json(200, machine(json!({ "evacuated": null }))), Reply::Json(200, json!({ "machine": "m1", "refusal": null }))];
        let rote = Rote::with(replies, Some("g1")).await;
        let (mut screen, out, _) = captured();
        restart().preview_or_run(&rote.session, &mut screen, args()).await.unwrap();
        assert!(out.text().contains("\"machine\": \"m1\""), "{}", out.text());
        let paths = rote.paths();
        assert!(paths[1].contains("/m1/restart?") && paths[1].contains("acceptControlPlaneOutage=true&preview=true"), "{paths:?}");
    }

    #[tokio::test]
    async fn what_would_be_refused_ends_as_a_refusal_does() {
        let refusal = json!({ "rule": "kcp-quorum", "message": "`m1` cannot be restarted", "evidence": ["2 of 3"], "remedy": "wait" });
        let replies =
            vec![Reply::Json(200, machine(json!({ "evacuated": null }))), Reply::Json(200, json!({ "machine": "m1", "refusal": refusal }))];
        let rote = Rote::with(replies, Some("g1")).await;
        let (mut screen, out, _) = captured();
        let trouble = restart().preview_or_run(&rote.session, &mut screen, args()).await.unwrap_err();
        assert_eq!((trouble.exit.code(), trouble.message.as_str()), (4, "`m1` cannot be restarted"));
        assert_eq!((trouble.details, trouble.hint), (vec!["rule kcp-quorum: 2 of 3".to_owned()], Some("wait".to_owned())));
        assert!(out.text().contains("kcp-quorum"));
    }

    #[tokio::test]
    async fn a_server_that_would_carry_it_out_is_not_asked() {
        let rote = Rote::with(vec![Reply::Json(200, machine(json!({ "holds": [] })))], Some("g1")).await;
        let (mut screen, _, _) = captured();
        let trouble = restart().preview_or_run(&rote.session, &mut screen, args()).await.unwrap_err();
        assert_eq!(trouble.message, "this server is older than previews");
        assert_eq!(rote.paths().len(), 1);
    }
}
