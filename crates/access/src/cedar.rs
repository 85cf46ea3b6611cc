//! Cedar, which judges: the schema of what it is told, the standing law, and ids in its words.

use std::str::FromStr;

use cedar_policy::{Entity, EntityId, EntityTypeName, EntityUid, PolicySet, Schema};

use crate::scope::Scope;

pub(crate) const SCHEMA: &str = include_str!("cedar/access.cedarschema");
pub(crate) const LAW: &str = include_str!("cedar/access.cedar");

/// The files of this crate cannot be read. A test reads them, so it is a mistake in a build.
#[derive(Debug, thiserror::Error)]
#[error("the access rules of this build cannot be read: {0}")]
pub struct BrokenRules(String);

impl BrokenRules {
    pub(crate) fn new(problem: &impl ToString) -> BrokenRules {
        BrokenRules(problem.to_string())
    }
}

pub(crate) fn schema() -> Result<Schema, BrokenRules> {
    let (schema, _) = Schema::from_cedarschema_str(SCHEMA).map_err(|error| BrokenRules::new(&error))?;
    Ok(schema)
}

pub(crate) fn law() -> Result<PolicySet, BrokenRules> {
    PolicySet::from_str(LAW).map_err(|error| BrokenRules::new(&error))
}

/// The types of entities, parsed once.
#[derive(Debug)]
pub(crate) struct Types {
    pub principal: EntityTypeName,
    pub scope: EntityTypeName,
    pub role: EntityTypeName,
    pub permission: EntityTypeName,
    pub assignment: EntityTypeName,
    pub resource: EntityTypeName,
    pub action: EntityTypeName,
}

impl Types {
    pub fn new() -> Result<Types, BrokenRules> {
        let named = |name: &str| EntityTypeName::from_str(name).map_err(|error| BrokenRules::new(&error));
        Ok(Types {
            principal: named("Principal")?,
            scope: named("Scope")?,
            role: named("Role")?,
            permission: named("Permission")?,
            assignment: named("Assignment")?,
            resource: named("Resource")?,
            action: named("Action")?,
        })
    }

    /// A scope with all that are around it.
    pub fn scopes(&self, scope: &Scope) -> Vec<Entity> {
        let mut outer = None;
        let level = |key: &str| {
            let here = uid(&self.scope, key);
            let parent = outer.replace(here.clone());
            Entity::new_no_attrs(here, parent.into_iter().collect())
        };
        scope.levels().map(level).collect()
    }
}

pub(crate) fn uid(kind: &EntityTypeName, id: impl AsRef<str>) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}

#[cfg(test)]
mod tests {
    use cedar_policy::{ValidationMode, Validator};

    use super::*;

    #[test]
    fn the_law_fits_its_schema() {
        let result = Validator::new(schema().unwrap()).validate(&law().unwrap(), ValidationMode::Strict);
        assert!(result.validation_passed_without_warnings(), "{result}");
        assert!(Types::new().is_ok());
    }
}
