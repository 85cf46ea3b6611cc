//! What is administered at scopes, as Azure's clients know it. A policy is ours: rule and assignment in one.
//!
//! Here `always` of a field that is settled means that nothing can be made without it, too.

use super::Access::{Fixed, Within};
use super::Shape::{Flag, Instant, List, Object, OneOf, Text};
use super::{Field, Model, SYSTEM_DATA, Shape, TEXTS, always, sometimes, unserved};

const WRITTEN: super::Access = Fixed("is written as a whole");

const fn required(name: &'static str, shape: Shape) -> Field {
    always(name, shape).access(WRITTEN)
}

const fn possible(name: &'static str, shape: Shape) -> Field {
    sometimes(name, shape).access(WRITTEN)
}

pub(crate) const LOCK: Model = Model {
    name: "ManagementLock",
    about: "What keeps even an owner from deleting or changing something by mistake.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("systemData", Object(&SYSTEM_DATA)),
        always("properties", Object(&LOCK_PROPERTIES)).access(Within),
    ],
};

const LOCK_PROPERTIES: Model = Model {
    name: "ManagementLockProperties",
    about: "How far a lock goes, and why it is there.",
    fields: &[required("level", OneOf(&["CanNotDelete", "ReadOnly"])), possible("notes", Text), unserved("owners")],
};

pub(crate) const ROLE_DEFINITION: Model = Model {
    name: "RoleDefinition",
    about: "A role. All are built in.",
    fields: &[always("id", Text), always("name", Text), always("type", Text), always("properties", Object(&ROLE_PROPERTIES))],
};

const ROLE_PROPERTIES: Model = Model {
    name: "RoleDefinitionProperties",
    about: "What whoever has the role may do.",
    fields: &[
        always("roleName", Text),
        always("type", OneOf(&["BuiltInRole"])),
        always("description", Text),
        always("assignableScopes", TEXTS),
        always("permissions", List(&Object(&PERMISSION))),
    ],
};

const PERMISSION: Model = Model {
    name: "RolePermission",
    about: "What is granted: what one of the actions covers and none of the exceptions does.",
    fields: &[always("actions", TEXTS), always("notActions", TEXTS), always("dataActions", TEXTS), always("notDataActions", TEXTS)],
};

pub(crate) const ROLE_ASSIGNMENT: Model = Model {
    name: "RoleAssignment",
    about: "Somebody's role at a scope and below it.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("properties", Object(&ASSIGNMENT_PROPERTIES)).access(Within),
    ],
};

const ASSIGNMENT_PROPERTIES: Model = Model {
    name: "RoleAssignmentProperties",
    about: "Who has which role. None of it can be changed: remove the assignment, and make another.",
    fields: &[
        required("roleDefinitionId", Text),
        required("principalId", Text),
        possible("principalType", OneOf(&["User", "Group", "ServicePrincipal", "ForeignGroup", "Device"])),
        // Taken, so that it can be refused: a role that was meant to be narrower must not be given.
        possible("condition", Text),
        unserved("conditionVersion"),
        unserved("description"),
        unserved("delegatedManagedIdentityResourceId"),
        always("scope", Text),
        always("createdOn", Instant),
        always("updatedOn", Instant),
        always("createdBy", Text),
        always("updatedBy", Text),
    ],
};

pub(crate) const POLICY_ASSIGNMENT: Model = Model {
    name: "PolicyAssignment",
    about: "What nobody may make or do at a scope and below it, whatever role they have.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("properties", Object(&POLICY_PROPERTIES)).access(Within),
    ],
};

const POLICY_PROPERTIES: Model = Model {
    name: "PolicyAssignmentProperties",
    about: "What is denied: whatever meets all the conditions.",
    fields: &[
        possible("displayName", Text),
        required("reason", Text),
        required("conditions", List(&Object(&CONDITION))),
        always("scope", Text),
        always("enforcementMode", OneOf(&["Default"])),
    ],
};

const CONDITION: Model = Model {
    name: "PolicyCondition",
    about: "A field, which is type, action, location, name or tags.NAME, and one test of it. Case makes no difference.",
    fields: &[
        required("field", Text),
        possible("equals", Text),
        possible("notEquals", Text),
        possible("like", Text),
        possible("notLike", Text),
        possible("in", TEXTS),
        possible("notIn", TEXTS),
        possible("exists", Flag),
    ],
};
