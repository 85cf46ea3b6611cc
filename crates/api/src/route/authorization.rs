//! What is administered at a scope: `{scope}/providers/Microsoft.Authorization/{collection}[/{name}]`.
//!
//! A scope has any number of segments, so these paths are no rows of the table. Which scopes there can be is `access`'s to say; here one
//! is only what stands before the last provider.

use std::borrow::Cow;

use http::Method;

use super::Route;

pub(crate) const NAMESPACE: &str = "Microsoft.Authorization";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collection {
    Locks,
    PolicyAssignments,
    RoleAssignments,
    RoleDefinitions,
}

/// What is done with one of a collection, or with all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    List,
    Show(String),
    Put(String),
    Delete(String),
}

impl Collection {
    pub const ALL: [Collection; 4] =
        [Collection::Locks, Collection::PolicyAssignments, Collection::RoleAssignments, Collection::RoleDefinitions];

    pub fn arm_type(self) -> &'static str {
        match self {
            Collection::Locks => "locks",
            Collection::PolicyAssignments => "policyAssignments",
            Collection::RoleAssignments => "roleAssignments",
            Collection::RoleDefinitions => "roleDefinitions",
        }
    }

    /// The type as a resource names it.
    pub fn full_type(self) -> String {
        format!("{NAMESPACE}/{}", self.arm_type())
    }

    /// Roles are built in.
    fn is_written(self) -> bool {
        self != Collection::RoleDefinitions
    }
}

/// What such a path is there for; nothing if it is no such path, and nothing in it if it leads nowhere.
pub(super) fn rows_of(segments: &[Cow<'_, str>]) -> Option<Vec<(&'static Method, Route)>> {
    let at = segments.iter().rposition(|segment| segment.eq_ignore_ascii_case("providers"))?;
    let (scope, rest) = segments.split_at(at);
    let [_, namespace, rest @ ..] = rest else { return None };
    // Anything else of the provider itself, such as its registration, is a row of the table.
    if !namespace.eq_ignore_ascii_case(NAMESPACE) || rest.is_empty() {
        return None;
    }
    let of = Collection::ALL.into_iter().find(|known| known.arm_type().eq_ignore_ascii_case(&rest[0]))?;
    // What is escaped is part of a segment: it must not become a boundary between two.
    let scope = format!("/{}", scope.iter().map(|segment| segment.replace('/', "%2F")).collect::<Vec<_>>().join("/"));
    let route = |errand| Route::Authorization { scope: scope.clone(), of, errand };
    Some(match &rest[1..] {
        [] => vec![(&Method::GET, route(Errand::List))],
        [name] if of.is_written() => vec![
            (&Method::GET, route(Errand::Show(name.to_string()))),
            (&Method::PUT, route(Errand::Put(name.to_string()))),
            (&Method::DELETE, route(Errand::Delete(name.to_string()))),
        ],
        [name] => vec![(&Method::GET, route(Errand::Show(name.to_string())))],
        _ => Vec::new(),
    })
}

/// These paths at scopes of each kind, that of everything among them, for tests that hold something against every path there is.
#[cfg(test)]
pub(crate) fn patterns() -> impl Iterator<Item = (&'static Method, String)> {
    let scopes = ["", "subscriptions/{}/", "subscriptions/{}/resourcegroups/{}/", "subscriptions/{}/resourcegroups/{}/providers/{}/{}/{}/"];
    scopes.into_iter().flat_map(|scope| {
        Collection::ALL.into_iter().flat_map(move |of| {
            let list = format!("{scope}providers/microsoft.authorization/{}", of.arm_type().to_ascii_lowercase());
            let methods: &[&Method] = if of.is_written() { &[&Method::GET, &Method::PUT, &Method::DELETE] } else { &[&Method::GET] };
            let one = format!("{list}/{{}}");
            [(&Method::GET, list)].into_iter().chain(methods.iter().map(move |method| (*method, one.clone())))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(method: &Method, path: &str) -> String {
        match Route::find(method, path) {
            Ok(Route::Authorization { scope, of, errand }) => format!("{scope} {of:?} {errand:?}"),
            Ok(other) => other.kind_name().to_owned(),
            Err(refused) => refused.code().to_owned(),
        }
    }

    #[test]
    fn the_last_provider_of_a_path_says_what_it_is_about() {
        let table = [
            ("/providers/Microsoft.Authorization/roleDefinitions", "/ RoleDefinitions List"),
            ("/subscriptions/s/providers/microsoft.authorization/LOCKS", "/subscriptions/s Locks List"),
            (
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.NetworkCloud//racks/r/providers/Microsoft.Authorization/locks/keep",
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.NetworkCloud/racks/r Locks Show(\"keep\")",
            ),
            (
                "/subscriptions/s/providers/Microsoft.Authorization/locks/a/providers/Microsoft.Authorization/locks/b",
                "/subscriptions/s/providers/Microsoft.Authorization/locks/a Locks Show(\"b\")",
            ),
            ("/subscriptions/a%2Fb/providers/Microsoft.Authorization/locks", "/subscriptions/a%2Fb Locks List"),
            ("/subscriptions/s/providers/Microsoft.Authorization", "Provider"),
            ("/subscriptions/s/providers/Microsoft.Authorization/toasters", "InvalidResourceType"),
            ("/subscriptions/s/providers/Microsoft.Authorization/locks/a/b", "InvalidResourceType"),
            ("/subscriptions/s/providers/Microsoft.Authorization/locks/a/providers/Microsoft.NetworkCloud/racks", "InvalidResourceType"),
        ];
        for (path, expected) in table {
            assert_eq!(found(&Method::GET, path), expected, "{path}");
        }
    }

    #[test]
    fn only_what_can_be_written_is_written() {
        let at = |rest: &str| format!("/subscriptions/s/providers/Microsoft.Authorization/{rest}");
        assert_eq!(found(&Method::HEAD, &at("locks")), "/subscriptions/s Locks List");
        assert_eq!(found(&Method::DELETE, &at("locks/keep")), "/subscriptions/s Locks Delete(\"keep\")");
        for (method, rest) in [(Method::PUT, "locks"), (Method::PATCH, "locks/keep"), (Method::PUT, "roleDefinitions/x")] {
            assert_eq!(found(&method, &at(rest)), "MethodNotAllowed", "{method} {rest}");
        }
        assert_eq!(Route::methods_of(&at("locks/keep")).unwrap(), [&Method::GET, &Method::PUT, &Method::DELETE]);
    }
}
