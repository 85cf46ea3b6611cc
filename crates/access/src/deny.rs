//! Policies that deny: what nobody may make, whatever role they have. `RequestDisallowedByPolicy` is told by whoever asks.
//!
//! A policy holds at its scope and below, and denies what meets all its conditions. Each becomes a `forbid` of Cedar.

mod compile;
mod condition;

use std::collections::BTreeMap;

use cedar_policy::{Authorizer, Context, Entities, Entity, EntityUid, PolicySet, Request, RestrictedExpression};
use serde::{Deserialize, Serialize};

use crate::cedar::{BrokenRules, Types, schema, uid};
use crate::permission::Permission;
use crate::scope::Scope;
pub use condition::{Condition, Field, Test};

/// Policies in all: each request that changes something is held against them.
pub const POLICIES_MAX: usize = 200;

/// Conditions of one policy.
pub const CONDITIONS_MAX: usize = 16;

/// Texts that one condition compares with.
pub const CHOICES_MAX: usize = 64;

/// Characters of what a policy says to whom it denies something.
pub const REASON_MAX: usize = 512;

/// Characters of a policy's id.
pub const POLICY_ID_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DenyPolicy {
    pub id: String,
    pub scope: Scope,
    /// What whoever is denied something reads.
    pub reason: String,
    /// All of them must be met.
    pub conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPolicy {
    #[error("`{0}` cannot be a policy's id: 1 to 64 letters, digits, hyphens and underscores are meant")]
    Id(String),
    #[error("there are two policies `{0}`")]
    Twice(String),
    #[error("policy `{0}` must say why it denies something, in at most {REASON_MAX} characters that can be seen")]
    Reason(String),
    #[error("policy `{0}` must have 1 to {CONDITIONS_MAX} conditions, or it would deny everything")]
    Conditions(String),
    #[error("a condition of policy `{0}` must compare with 1 to {CHOICES_MAX} texts")]
    Choices(String),
    #[error("there are more than {POLICIES_MAX} policies")]
    TooMany,
    #[error("policy `{id}` cannot be judged: {problem}")]
    NotJudged { id: String, problem: String },
}

/// What is about to be done, and what would be there afterwards.
#[derive(Clone, Debug)]
pub struct Proposal<'a> {
    pub permission: &'a Permission,
    pub scope: &'a Scope,
    /// `Microsoft.NetworkCloud/virtualMachines`.
    pub kind: &'a str,
    pub location: Option<&'a str>,
    pub tags: &'a BTreeMap<String, String>,
}

/// All policies, ready to be asked.
#[derive(Debug)]
pub struct Policies {
    policies: BTreeMap<String, DenyPolicy>,
    set: PolicySet,
    authorizer: Authorizer,
    types: Types,
}

impl DenyPolicy {
    pub fn check(&self) -> Result<(), InvalidPolicy> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !(1..=POLICY_ID_MAX).contains(&self.id.len()) || !self.id.bytes().all(is_plain) {
            return Err(InvalidPolicy::Id(model::cleaned(&self.id, POLICY_ID_MAX)));
        }
        let length = self.reason.chars().count();
        if !(1..=REASON_MAX).contains(&length) || self.reason.chars().any(model::is_unprintable) {
            return Err(InvalidPolicy::Reason(self.id.clone()));
        }
        if !(1..=CONDITIONS_MAX).contains(&self.conditions.len()) {
            return Err(InvalidPolicy::Conditions(self.id.clone()));
        }
        let has_choices = self.conditions.iter().all(|condition| condition.test.choices().is_none_or(|n| (1..=CHOICES_MAX).contains(&n)));
        if has_choices { Ok(()) } else { Err(InvalidPolicy::Choices(self.id.clone())) }
    }
}

impl Policies {
    /// One policy that cannot stand makes all unusable: to leave it out would permit what it denies.
    pub fn new(policies: impl IntoIterator<Item = DenyPolicy>) -> Result<Policies, InvalidPolicy> {
        let broken = |problem: BrokenRules| InvalidPolicy::NotJudged { id: "-".into(), problem: problem.to_string() };
        let (types, schema) = (Types::new().map_err(broken)?, schema().map_err(broken)?);
        let mut all = Policies { policies: BTreeMap::new(), set: PolicySet::new(), authorizer: Authorizer::new(), types };
        for policy in policies {
            policy.check()?;
            if all.policies.len() >= POLICIES_MAX {
                return Err(InvalidPolicy::TooMany);
            }
            let compiled = compile::compile(&policy, &schema)?;
            all.set.add(compiled).map_err(|_| InvalidPolicy::Twice(policy.id.clone()))?;
            all.policies.insert(policy.id.clone(), policy);
        }
        Ok(all)
    }

    /// The policy that denies a proposal; the first by id if several do. One that fails while it is judged denies as well.
    pub fn find_denial(&self, proposal: &Proposal<'_>) -> Option<&DenyPolicy> {
        if self.policies.is_empty() {
            return None;
        }
        let Some((request, entities)) = self.question(proposal) else { return self.policies.values().next() };
        let response = self.authorizer.is_authorized(&request, &self.set, &entities);
        let diagnostics = response.diagnostics();
        let failed = diagnostics.errors().map(|cedar_policy::AuthorizationError::PolicyEvaluationError(error)| error.policy_id());
        let first = diagnostics.reason().chain(failed).map(AsRef::<str>::as_ref).min()?;
        self.policies.get(first)
    }

    fn question(&self, proposal: &Proposal<'_>) -> Option<(Request, Entities)> {
        let resource = uid(&self.types.resource, proposal.scope.key());
        let mut entities = self.types.scopes(proposal.scope);
        entities.push(self.resource(&resource, proposal)?);
        let permission = RestrictedExpression::new_string(proposal.permission.key().to_owned());
        let context = Context::from_pairs([("permission".to_owned(), permission)]).ok()?;
        let (anybody, action) = (uid(&self.types.principal, ""), uid(&self.types.action, compile::ACTION));
        let request = Request::new(anybody, action, resource, context, None).ok()?;
        Some((request, Entities::from_entities(entities, None).ok()?))
    }

    /// Texts are in lower case, as in policies: Azure compares without case.
    fn resource(&self, resource: &EntityUid, proposal: &Proposal<'_>) -> Option<Entity> {
        let text = |text: &str| RestrictedExpression::new_string(text.to_lowercase());
        let name = proposal.scope.name().unwrap_or_default();
        let fields = [("type".to_owned(), text(proposal.kind)), ("name".to_owned(), text(name))];
        let location = proposal.location.map(|location| ("location".to_owned(), text(location)));
        let tags: BTreeMap<String, RestrictedExpression> =
            proposal.tags.iter().map(|(name, value)| (name.to_lowercase(), text(value))).collect();
        let parent = uid(&self.types.scope, proposal.scope.key());
        Entity::new_with_tags(resource.clone(), fields.into_iter().chain(location), [parent], tags).ok()
    }
}

#[cfg(test)]
mod tests;
