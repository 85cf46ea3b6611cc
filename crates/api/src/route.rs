//! The router: one table of paths. Segments are matched without case, and empty ones do not count, as Azure's clients need.

use std::borrow::Cow;

use http::Method;
use percent_encoding::percent_decode_str;

use crate::reply::Refused;

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Health,
    Subscriptions,
    Subscription { subscription: String },
    List { kind: Kind, subscription: String, group: Option<String> },
    Show { kind: Kind, subscription: String, group: String, name: String },
    Act { subscription: String, group: String, machine: String, verb: String },
    OperationStatus { id: String },
    OperationResult { id: String },
    SiteStatus,
    Operations,
    Operation { id: String },
    CancelOperation { id: String },
    Events,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Clusters,
    Racks,
    Machines,
}

impl Kind {
    pub fn arm_type(self) -> &'static str {
        match self {
            Kind::Clusters => "clusters",
            Kind::Racks => "racks",
            Kind::Machines => "bareMetalMachines",
        }
    }

    fn parse(text: &str) -> Option<Kind> {
        [Kind::Clusters, Kind::Racks, Kind::Machines].into_iter().find(|kind| kind.arm_type().eq_ignore_ascii_case(text))
    }
}

/// One row: the method, the path with `{}` for a value, and what it means.
type Row = (Method, &'static str, fn(&[&str]) -> Option<Route>);

fn owned(text: &str) -> String {
    text.to_owned()
}

/// Every path there is.
const TABLE: &[Row] = &[
    (Method::GET, "healthz", |_| Some(Route::Health)),
    (Method::GET, "subscriptions", |_| Some(Route::Subscriptions)),
    (Method::GET, "subscriptions/{}", |v| Some(Route::Subscription { subscription: owned(v[0]) })),
    (Method::GET, "subscriptions/{}/providers/microsoft.networkcloud/{}", |v| {
        Some(Route::List { kind: Kind::parse(v[1])?, subscription: owned(v[0]), group: None })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/{}", |v| {
        Some(Route::List { kind: Kind::parse(v[2])?, subscription: owned(v[0]), group: Some(owned(v[1])) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/{}/{}", |v| {
        Some(Route::Show { kind: Kind::parse(v[2])?, subscription: owned(v[0]), group: owned(v[1]), name: owned(v[3]) })
    }),
    (Method::POST, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/baremetalmachines/{}/{}", |v| {
        Some(Route::Act { subscription: owned(v[0]), group: owned(v[1]), machine: owned(v[2]), verb: owned(v[3]) })
    }),
    (Method::GET, "subscriptions/{}/providers/microsoft.networkcloud/locations/{}/operationstatuses/{}", |v| {
        Some(Route::OperationStatus { id: owned(v[2]) })
    }),
    (Method::GET, "subscriptions/{}/providers/microsoft.networkcloud/locations/{}/operationresults/{}", |v| {
        Some(Route::OperationResult { id: owned(v[2]) })
    }),
    (Method::GET, "rackwright/v1/status", |_| Some(Route::SiteStatus)),
    (Method::GET, "rackwright/v1/operations", |_| Some(Route::Operations)),
    (Method::GET, "rackwright/v1/operations/{}", |v| Some(Route::Operation { id: owned(v[0]) })),
    (Method::POST, "rackwright/v1/operations/{}/cancel", |v| Some(Route::CancelOperation { id: owned(v[0]) })),
    (Method::GET, "rackwright/v1/events", |_| Some(Route::Events)),
];

impl Route {
    /// ARM paths must name an `api-version`; ours carry their version in the path.
    pub fn needs_api_version(&self) -> bool {
        !matches!(
            self,
            Route::Health | Route::SiteStatus | Route::Operations | Route::Operation { .. } | Route::CancelOperation { .. } | Route::Events
        )
    }

    /// What a path means, as it was sent. Its segments are told apart before they are decoded: a `%2F` is part of a name.
    pub fn find(method: &Method, path: &str) -> Result<Route, Refused> {
        let mut allowed: Vec<&Method> = Vec::new();
        for (row_method, route) in rows_of(path)? {
            if row_method == method {
                return Ok(route);
            }
            allowed.push(row_method);
        }
        if allowed.is_empty() { Err(Refused::no_such_path(path)) } else { Err(Refused::method_not_allowed(method, &allowed)) }
    }

    /// The methods that a path is there for.
    pub fn methods_of(path: &str) -> Result<Vec<&'static Method>, Refused> {
        let methods: Vec<&Method> = rows_of(path)?.into_iter().map(|(method, _)| method).collect();
        if methods.is_empty() { Err(Refused::no_such_path(path)) } else { Ok(methods) }
    }
}

fn rows_of(path: &str) -> Result<Vec<(&'static Method, Route)>, Refused> {
    let segments = path.split('/').filter(|segment| !segment.is_empty()).map(decode).collect::<Result<Vec<_>, Refused>>()?;
    let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
    let rows = TABLE.iter().filter_map(|(method, pattern, make)| Some((method, make(&matched(pattern, &segments)?)?)));
    Ok(rows.collect())
}

/// One segment's text. Broken escapes stay as they are: they match nothing, and the answer says so.
fn decode(segment: &str) -> Result<Cow<'_, str>, Refused> {
    let text = percent_decode_str(segment).decode_utf8().map_err(|_| Refused::bad_content("the path is not UTF-8"))?;
    if text.chars().any(char::is_control) {
        return Err(Refused::bad_content("the path has a control character"));
    }
    Ok(text)
}

fn matched<'a>(pattern: &str, segments: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut values = Vec::new();
    let mut parts = pattern.split('/');
    for segment in segments {
        match parts.next()? {
            "{}" => values.push(*segment),
            literal if literal.eq_ignore_ascii_case(segment) => {}
            _ => return None,
        }
    }
    parts.next().is_none().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_match_without_case_and_with_doubled_slashes() {
        let path = "/SUBSCRIPTIONS/s1/resourcegroups//RG1/providers/microsoft.networkCloud/BareMetalMachines/rack1compute01";
        let expected = Route::Show { kind: Kind::Machines, subscription: "s1".into(), group: "RG1".into(), name: "rack1compute01".into() };
        assert_eq!(Route::find(&Method::GET, path).unwrap(), expected);
    }

    #[test]
    fn an_escaped_slash_is_part_of_a_name_and_not_a_path() {
        let machines = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines";
        let name = |path: &str| match Route::find(&Method::GET, path).unwrap() {
            Route::Show { name, .. } => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(name(&format!("{machines}/a%2Fb")), "a/b");
        assert_eq!(name(&format!("{machines}/%2E%2e")), "..");
        assert_eq!(name(&format!("{machines}/a%zz%")), "a%zz%");
        let posted = Route::find(&Method::POST, &format!("{machines}/m1%2Frestart")).unwrap_err();
        assert_eq!(posted.code(), "MethodNotAllowed", "it is one name, not a machine and a verb");
        for path in ["/%00", "/a%0Ab", "/%c3%28", "/%ff", "/%7f"] {
            assert_eq!(Route::find(&Method::GET, path).unwrap_err().code(), "InvalidRequestContent", "{path}");
        }
    }

    #[test]
    fn an_unknown_path_and_a_wrong_method_are_told_apart() {
        assert_eq!(Route::find(&Method::GET, "/nowhere").unwrap_err().code(), "InvalidResourceType");
        assert_eq!(Route::find(&Method::PUT, "/subscriptions").unwrap_err().code(), "MethodNotAllowed");
        assert_eq!(
            Route::find(&Method::GET, "/subscriptions/s/providers/Microsoft.NetworkCloud/toasters").unwrap_err().code(),
            "InvalidResourceType"
        );
    }
}
