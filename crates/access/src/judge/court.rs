//! Where Cedar is asked: the few entities that a question is about, and the standing law.

use cedar_policy::{Authorizer, Context, Decision, Entities, Entity, EntityUid, PolicySet, Request, RestrictedExpression};

use crate::assignment::RoleAssignment;
use crate::cedar::{BrokenRules, Types, law, uid};
use crate::guid::PrincipalId;
use crate::permission::Permission;
use crate::roles;
use crate::scope::Scope;

#[derive(Debug)]
pub(super) struct Court {
    authorizer: Authorizer,
    law: PolicySet,
    types: Types,
    action: EntityUid,
}

/// A question in Cedar's words.
struct Question {
    principal: EntityUid,
    permission: EntityUid,
    scope: EntityUid,
}

impl Court {
    pub fn new() -> Result<Court, BrokenRules> {
        let types = Types::new()?;
        Ok(Court { authorizer: Authorizer::new(), law: law()?, action: uid(&types.action, "use"), types })
    }

    /// Whether one of the assignments permits it. What Cedar cannot judge is not permitted.
    pub fn permits(&self, principal: PrincipalId, permission: &Permission, scope: &Scope, candidates: &[&RoleAssignment]) -> bool {
        if candidates.is_empty() {
            return false;
        }
        let question = Question {
            principal: uid(&self.types.principal, principal.to_string()),
            permission: uid(&self.types.permission, permission.key()),
            scope: uid(&self.types.scope, scope.key()),
        };
        let Some(entities) = self.entities(&question, permission, scope, candidates) else { return false };
        candidates.iter().any(|assignment| self.is_permitted_by(assignment, &question, &entities))
    }

    /// Cedar has no "there is one among them", so it is asked for each: a handful, as few have more than one role at one place.
    fn is_permitted_by(&self, assignment: &RoleAssignment, question: &Question, entities: &Entities) -> bool {
        let reference = |uid: EntityUid| RestrictedExpression::new_entity_uid(uid);
        let context = Context::from_pairs([
            ("permission".to_owned(), reference(question.permission.clone())),
            ("assignment".to_owned(), reference(uid(&self.types.assignment, assignment.id.to_string()))),
        ]);
        let Ok(context) = context else { return false };
        let request = Request::new(question.principal.clone(), self.action.clone(), question.scope.clone(), context, None);
        let Ok(request) = request else { return false };
        self.authorizer.is_authorized(&request, &self.law, entities).decision() == Decision::Allow
    }

    /// The scope with all that are around it, the permission with the roles that grant it, and the assignments.
    fn entities(&self, question: &Question, permission: &Permission, scope: &Scope, candidates: &[&RoleAssignment]) -> Option<Entities> {
        let mut entities = self.types.scopes(scope);
        let granting = candidates.iter().filter(|assignment| roles::find(assignment.role).is_some_and(|role| role.grants(permission)));
        let roles = granting.map(|assignment| uid(&self.types.role, assignment.role.to_string())).collect();
        entities.push(Entity::new_no_attrs(question.permission.clone(), roles));
        for assignment in candidates {
            entities.push(self.entity_of(assignment)?);
        }
        Entities::from_entities(entities, None).ok()
    }

    fn entity_of(&self, assignment: &RoleAssignment) -> Option<Entity> {
        let reference = |kind, id: &str| RestrictedExpression::new_entity_uid(uid(kind, id));
        let facts = [
            ("principal".to_owned(), reference(&self.types.principal, &assignment.principal.to_string())),
            ("role".to_owned(), reference(&self.types.role, &assignment.role.to_string())),
            ("scope".to_owned(), reference(&self.types.scope, assignment.scope.key())),
        ];
        Entity::new_with_tags(uid(&self.types.assignment, assignment.id.to_string()), facts, [], []).ok()
    }
}
