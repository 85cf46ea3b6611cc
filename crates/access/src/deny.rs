//! Policies that deny: what nobody may make, whatever role they have. `RequestDisallowedByPolicy` is told by whoever asks.
//!
//! A policy holds at its scope and below, and denies what meets all its conditions. Each becomes a `forbid` of Cedar.

mod compile;
mod condition;

use std::collections::BTreeMap;

use cedar_policy::{Authorizer, Context, Entities, Entity, EntityUid, PolicyId, PolicySet, Request, RestrictedExpression, Schema};
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

/// Characters of what a policy is called for people.
pub const DISPLAY_NAME_MAX: usize = 128;

/// Characters of a policy's id.
pub const POLICY_ID_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DenyPolicy {
    /// Its name, of which there is one at a scope.
    pub id: String,
    pub scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What whoever is denied something reads.
    pub reason: String,
    /// All of them must be met.
    pub conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPolicy {
    #[error("`{0}` cannot be a policy's id: 1 to 64 letters, digits, hyphens and underscores are meant")]
    Id(String),
    #[error("there are two policies `{0}` at one scope")]
    Twice(String),
    #[error("the display name of policy `{0}` must have 1 to {DISPLAY_NAME_MAX} characters, all of which can be seen")]
    DisplayName(String),
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
    schema: Schema,
}

impl DenyPolicy {
    /// What tells it from every other: its own place, without case.
    pub fn key(&self) -> String {
        DenyPolicy::key_of(&self.scope, &self.id)
    }

    pub fn key_of(scope: &Scope, id: &str) -> String {
        format!("{}/providers/microsoft.authorization/policyassignments/{}", scope.key(), id.to_ascii_lowercase())
    }

    pub fn check(&self) -> Result<(), InvalidPolicy> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !(1..=POLICY_ID_MAX).contains(&self.id.len()) || !self.id.bytes().all(is_plain) {
            return Err(InvalidPolicy::Id(model::cleaned(&self.id, POLICY_ID_MAX)));
        }
        let is_text = |text: &str, max: usize| (1..=max).contains(&text.chars().count()) && !text.chars().any(model::is_unprintable);
        if !self.display_name.as_deref().is_none_or(|name| is_text(name, DISPLAY_NAME_MAX)) {
            return Err(InvalidPolicy::DisplayName(self.id.clone()));
        }
        if !is_text(&self.reason, REASON_MAX) {
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
        let mut all = Policies { policies: BTreeMap::new(), set: PolicySet::new(), authorizer: Authorizer::new(), types, schema };
        for policy in policies {
            if all.policies.contains_key(&policy.key()) {
                return Err(InvalidPolicy::Twice(policy.id));
            }
            all.put(policy)?;
        }
        Ok(all)
    }

    /// Takes in a policy, in the place of the one of its name at its scope. One that cannot stand changes nothing.
    pub fn put(&mut self, policy: DenyPolicy) -> Result<(), InvalidPolicy> {
        policy.check()?;
        let key = policy.key();
        if self.policies.len() >= POLICIES_MAX && !self.policies.contains_key(&key) {
            return Err(InvalidPolicy::TooMany);
        }
        let compiled = compile::compile(&policy, &self.schema)?;
        self.remove(&key);
        self.set.add(compiled).map_err(|_| InvalidPolicy::Twice(policy.id.clone()))?;
        self.policies.insert(key, policy);
        Ok(())
    }

    /// Forgets the policy with a key, if there is one.
    pub fn remove(&mut self, key: &str) {
        if self.policies.remove(key).is_some() {
            // It was added under this id, so it is there.
            let _ = self.set.remove_static(PolicyId::new(key));
        }
    }

    /// Whether a policy may be made beside those that there are.
    pub fn check(&self, policy: &DenyPolicy) -> Result<(), InvalidPolicy> {
        policy.check()?;
        compile::compile(policy, &self.schema)?;
        let is_new = !self.policies.contains_key(&policy.key());
        if is_new && self.policies.len() >= POLICIES_MAX { Err(InvalidPolicy::TooMany) } else { Ok(()) }
    }

    pub fn get(&self, key: &str) -> Option<&DenyPolicy> {
        self.policies.get(key)
    }

    /// All of them, those at the outermost scopes first.
    pub fn iter(&self) -> impl Iterator<Item = &DenyPolicy> {
        self.policies.values()
    }

    /// The policy that denies a proposal; the outermost if several do, and of these the first by its id. One that fails while it is judged denies as well.
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
