//! The descriptions of what is administered: at scopes as Azure has it, and under paths of our own.

use http::Method;

use super::described::Content::{Document, Nothing, One, Page};
use super::described::{Described, Query, get};
use super::paths::{ARM, GROUP, OURS, PAGES, SUBSCRIPTION, query};
use crate::schema::{self, Model};

const FILTER_PLACES: Query = query("$filter", "`atScope()` for what holds for all of the scope, `atExactScope()` for what was made at it.");
const FILTER_PRINCIPALS: Query = query("$filter", "`atScope()`, `principalId eq '…'`, `assignedTo('…')`, joined by `and`.");
const FILTER_ROLES: Query = query("$filter", "`roleName eq '…'` and `type eq 'BuiltInRole'`.");

/// What stands against whatever is administered.
const WRITING: [u16; 4] = [400, 404, 409, 503];

pub(super) fn all() -> Vec<Described> {
    let resource = format!("{GROUP}/providers/{{resourceProviderNamespace}}/{{resourceType}}/{{resourceName}}");
    let scopes = [("AtRoot", ""), ("AtSubscription", SUBSCRIPTION), ("AtResourceGroup", GROUP), ("AtResource", resource.as_str())];
    let at_scopes = scopes.into_iter().flat_map(|(id, scope)| at_scope(id, scope));
    at_scopes.chain(principals()).chain(subscriptions()).collect()
}

fn at_scope(at: &str, scope: &str) -> Vec<Described> {
    let list = |collection: &str| format!("{scope}/providers/Microsoft.Authorization/{collection}");
    let locks = Written { noun: "Lock", of: list("locks"), name: "lockName", model: &schema::LOCK, filter: FILTER_PLACES };
    let policies = Written {
        noun: "PolicyAssignment",
        of: list("policyAssignments"),
        name: "policyAssignmentName",
        model: &schema::POLICY_ASSIGNMENT,
        filter: FILTER_PLACES,
    };
    let roles = Written {
        noun: "RoleAssignment",
        of: list("roleAssignments"),
        name: "roleAssignmentName",
        model: &schema::ROLE_ASSIGNMENT,
        filter: FILTER_PRINCIPALS,
    };
    let definitions = list("roleDefinitions");
    let one = format!("{definitions}/{{roleDefinitionId}}");
    let built_in = [
        get(ARM, &format!("listRoleDefinitions{at}"), definitions, "The roles that there are.", Page(&schema::ROLE_DEFINITION))
            .queries(&PAGES)
            .queries(&[FILTER_ROLES])
            .refused(&[400]),
        get(ARM, &format!("getRoleDefinition{at}"), one, "A role.", One(&schema::ROLE_DEFINITION)).refused(&[400, 404]),
    ];
    [locks, policies, roles].into_iter().flat_map(|written| written.described(at)).chain(built_in).collect()
}

/// A collection that clients write.
struct Written {
    noun: &'static str,
    of: String,
    name: &'static str,
    model: &'static Model,
    filter: Query,
}

impl Written {
    fn described(self, at: &str) -> Vec<Described> {
        let Written { noun, of, name, model, filter } = self;
        let one = format!("{of}/{{{name}}}");
        let write = |method, verb: &str, about: &str| Described::new(method, ARM, &format!("{verb}{noun}{at}"), one.clone(), about);
        vec![
            get(ARM, &format!("list{noun}s{at}"), of, "Those that concern the scope, as far as they may be seen.", Page(model))
                .queries(&PAGES)
                .queries(&[filter])
                .refused(&[400]),
            get(ARM, &format!("get{noun}{at}"), one.clone(), "One that was made at the scope.", One(model)).refused(&[400, 404]),
            write(Method::PUT, "write", "Make it, or write it anew.")
                .body(model, true)
                .answered(200, "Written; as it is now.", One(model))
                .answered(201, "It is made.", One(model))
                .refused(&WRITING),
            write(Method::DELETE, "delete", "Remove it.")
                .answered(200, "It is removed.", Document)
                .answered(204, "There was none.", Nothing)
                .refused(&[400, 409, 503]),
        ]
    }
}

fn principals() -> Vec<Described> {
    const ALL: &str = "/rackwright/v1/principals";
    const ONE: &str = "/rackwright/v1/principals/{principalId}";
    let post = |id: &str, path: String, about: &str| Described::new(Method::POST, OURS, id, path, about).refused(&WRITING);
    let delete = |id: &str, path: String, about: &str| Described::new(Method::DELETE, OURS, id, path, about).refused(&WRITING);
    let now = "Done; the principal as it is now.";
    let principal = One(&schema::PRINCIPAL);
    vec![
        get(OURS, "listPrincipals", ALL, "Who logs in with a secret or a certificate.", Page(&schema::PRINCIPAL))
            .queries(&PAGES)
            .refused(&[400]),
        post("createPrincipal", ALL.to_owned(), "Make a service principal, without any role.").body(&schema::NEW_PRINCIPAL, true).answered(
            201,
            "It is made.",
            principal,
        ),
        get(OURS, "getPrincipal", ONE, "A service principal.", principal).refused(&[404]),
        delete("deletePrincipal", ONE.to_owned(), "Remove a service principal with all its roles.").answered(
            204,
            "It is removed.",
            Nothing,
        ),
        post("addSecret", format!("{ONE}/secrets"), "Give a service principal a secret, which nobody can read again.")
            .body(&schema::NEW_SECRET, false)
            .answered(201, "It is made.", One(&schema::SHOWN_SECRET)),
        delete("removeSecret", format!("{ONE}/secrets/{{secretId}}"), "Take a secret away.").answered(200, now, principal),
        post("addCertificate", format!("{ONE}/certificates"), "Let a service principal log in with a certificate's key.")
            .body(&schema::NEW_CERTIFICATE, true)
            .answered(200, now, principal),
        delete("removeCertificate", format!("{ONE}/certificates/{{thumbprint}}"), "Take a certificate away, by its SHA-256.")
            .answered(200, now, principal),
        post("disablePrincipal", format!("{ONE}/disable"), "Let a service principal do nothing from now on.").answered(200, now, principal),
        post("enablePrincipal", format!("{ONE}/enable"), "Let a service principal in again.").answered(200, now, principal),
        Described::new(Method::POST, OURS, "rotateSigningKeys", "/rackwright/v1/signingKeys/rotate", "Sign tokens with a new key.")
            .answered(200, "Done; the public keys. Tokens that there are stay good.", Document)
            .refused(&[503]),
    ]
}

fn subscriptions() -> Vec<Described> {
    let own = |rest: &str| format!("/rackwright/v1/subscriptions/{{subscriptionId}}/{rest}");
    let provider = |rest: &str| format!("{SUBSCRIPTION}/providers/{{namespace}}/{rest}");
    let state = |id: &str, rest: &str, about: &str| {
        Described::new(Method::POST, OURS, id, own(rest), about)
            .answered(200, "Done; its state.", One(&schema::SUBSCRIPTION_STATE))
            .refused(&[404, 503])
    };
    let register = |id: &str, rest: &str, about: &str| {
        Described::new(Method::POST, ARM, id, provider(rest), about)
            .answered(200, "Done; the provider as it is now.", One(&schema::PROVIDER))
            .refused(&[404, 409, 503])
    };
    vec![
        get(OURS, "getQuota", own("quotas"), "The limits of a subscription, and what there is.", One(&schema::QUOTA)).refused(&[404]),
        Described::new(Method::PUT, OURS, "setQuota", own("quotas"), "Set the limits of a subscription, all of them.")
            .body(&schema::QUOTA, true)
            .answered(200, "Set.", One(&schema::QUOTA))
            .refused(&[400, 404, 503]),
        state("disableSubscription", "disable", "Let nothing be changed in a subscription."),
        state("enableSubscription", "enable", "Open a subscription again."),
        register("registerProvider", "register", "Let a subscription use a provider."),
        register("unregisterProvider", "unregister", "Let a subscription use a provider no more."),
    ]
}
