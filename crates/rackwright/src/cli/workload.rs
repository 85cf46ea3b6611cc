//! What is asked of tenants' virtual machines and clusters, and showing several of them.

use std::slice;

use serde_json::Value;

use super::act::{FollowArgs, see_through};
use super::answer::command_of;
use super::render::{Table, vm_table};
use super::screen::{Screen, Sheet, Tone};
use super::session::{Kind, Session};
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
    /// Sends it, and follows its operation unless told otherwise.
    pub async fn run(&self, session: &Session, screen: &mut Screen, args: FollowArgs) -> Result<(), Trouble> {
        if let Some(question) = &self.question
            && screen.can_ask()
            && !args.consent.yes
        {
            // A question about what does not exist would be a waste of a person's care.
            session.get(self.kind, &self.name).await?;
            if !screen.ask(question) {
                return Err(Trouble::failed("not confirmed; nothing was sent"));
            }
        }
        let operation = match &self.how {
            How::Post(verb, body) => session.post(self.kind, &self.name, verb, body).await?["name"].as_str().map(str::to_owned),
            How::Delete => session.delete(self.kind, &self.name).await?["name"].as_str().map(str::to_owned),
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
