//! What one row of the route table looks like from outside.

use http::Method;

use crate::schema::Model;

/// A description of one method on one path.
#[derive(Clone, Debug)]
pub(super) struct Described {
    pub method: Method,
    /// With the names of its values in braces.
    pub path: String,
    pub id: String,
    pub group: &'static str,
    pub summary: String,
    pub queries: Vec<Query>,
    pub body: Option<Body>,
    pub answers: Vec<Answer>,
    /// Statuses of the errors that a client should expect.
    pub refusals: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    Whole {
        model: &'static Model,
        required: bool,
    },
    /// Of the model, what can be written; nothing of it must be there.
    Change(&'static Model),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub status: u16,
    pub about: &'static str,
    pub content: Content,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    Nothing,
    One(&'static Model),
    /// A page of a list, with the link to the next.
    Page(&'static Model),
    /// JSON of a kind that is described elsewhere.
    Document,
    /// Something else than JSON, of this type.
    Bytes(&'static str),
}

/// A parameter beside the path's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query {
    pub name: &'static str,
    pub place: Place,
    pub kind: &'static str,
    pub required: bool,
    pub about: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Query,
    Header,
}

/// A read that is answered with 200.
pub(super) fn get(group: &'static str, id: &str, path: impl Into<String>, summary: &str, content: Content) -> Described {
    Described::new(Method::GET, group, id, path, summary).answered(200, "As it is now.", content)
}

impl Described {
    pub fn new(method: Method, group: &'static str, id: &str, path: impl Into<String>, summary: &str) -> Described {
        Described {
            method,
            path: path.into(),
            id: id.to_owned(),
            group,
            summary: summary.to_owned(),
            queries: Vec::new(),
            body: None,
            answers: Vec::new(),
            refusals: Vec::new(),
        }
    }

    pub fn answered(mut self, status: u16, about: &'static str, content: Content) -> Described {
        self.answers.push(Answer { status, about, content });
        self
    }

    pub fn refused(mut self, statuses: &[u16]) -> Described {
        self.refusals.extend(statuses);
        self
    }

    pub fn queries(mut self, queries: &[Query]) -> Described {
        self.queries.extend(queries);
        self
    }

    pub fn body(mut self, model: &'static Model, required: bool) -> Described {
        self.body = Some(Body::Whole { model, required });
        self
    }

    pub fn change(mut self, model: &'static Model) -> Described {
        self.body = Some(Body::Change(model));
        self
    }
}
