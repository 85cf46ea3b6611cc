//! What is asked of tenants' virtual machines and clusters, and showing several of them.

use std::slice;

use serde_json::Value;

use super::act::{FollowArgs, see_through};
use super::answer::command_of;
use super::preview::{ActArgs, confirm, show_preview};
use super::render::{Table, vm_table};
use super::screen::{Screen, Sheet, Tone};
use super::session::{Kind, Session};
use super::session_workloads::Query;
use super::trouble::Trouble;

/// How a request is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum How {
    /// An action, and its body.
    Post(&'static str, Value),
    Put(Value),
    Delete,
}

/// A request that becomes an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    pub kind: Kind,
    pub name: String,
    /// What the operation is on, as it is told.
    pub about: String,
    pub verb: &'static str,
    /// Asked on a terminal before anything is sent, if it disrupts.
    pub question: Option<String>,
    pub how: How,
}

impl Asking {
    /// Shows what it would do, or does it.
    pub async fn preview_or_run(&self, session: &Session, screen: &mut Screen, args: ActArgs) -> Result<(), Trouble> {
        if !args.preview {
            return self.run(session, screen, args.follow).await;
        }
        show_preview(session, screen, &self.load_preview(session).await?)
    }

    async fn load_preview(&self, session: &Session) -> Result<Value, Trouble> {
        self.send(session, Some(("preview", "true"))).await
    }

    /// What the server answers to an action or a deletion; what is made has its own answer.
    async fn send(&self, session: &Session, query: Query) -> Result<Value, Trouble> {
        match &self.how {
            How::Post(verb, body) => session.post(self.kind, &self.name, verb, query, body).await,
            How::Delete => session.delete(self.kind, &self.name, query).await,
            How::Put(_) => session.get(self.kind, &self.name).await,
        }
    }

    /// Sends it, and follows its operation unless told otherwise.
    pub async fn run(&self, session: &Session, screen: &mut Screen, args: FollowArgs) -> Result<(), Trouble> {
        if let Some(question) = &self.question
            && screen.can_ask()
            && !args.consent.yes
        {
            confirm(screen, self.load_preview(session).await, question)?;
        }
        let operation = match &self.how {
            How::Post(..) | How::Delete => self.send(session, None).await?["name"].as_str().map(str::to_owned),
            How::Put(body) => {
                let (made, operation) = session.put(self.kind, &self.name, body).await?;
                if operation.is_none() {
                    let said = || Sheet::of(Tone::Plain, format!("`{}` is there already, and as described", self.name));
                    return session.showing.one(screen, &made, said, || vm_table(slice::from_ref(&made)));
                }
                operation
            }
        };
        see_through(session, screen, operation.as_deref(), &self.about, command_of(self.verb), args).await
    }
}

/// Several resources: one after the other for people, a list for scripts; of a single one, that one.
pub fn show_several(
    session: &Session,
    screen: &mut Screen,
    found: &[Value],
    sheet: impl Fn(&Value) -> Sheet,
    table: impl Fn(&[Value]) -> Table,
) -> Result<(), Trouble> {
    if let [only] = found {
        return session.showing.one(screen, only, || sheet(only), || table(found));
    }
    session.showing.list(screen, &Value::from(found), || table(found))
}
