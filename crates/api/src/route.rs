//! The router: one table of paths. Segments are matched without case, and empty ones do not count, as Azure's clients need.

use http::Method;

use crate::reply::Refused;

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Health,
    Ready,
    Metrics,
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
    Backup,
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
    (Method::HEAD, "healthz", |_| Some(Route::Health)),
    (Method::GET, "readyz", |_| Some(Route::Ready)),
    (Method::HEAD, "readyz", |_| Some(Route::Ready)),
    (Method::GET, "metrics", |_| Some(Route::Metrics)),
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
    (Method::POST, "rackwright/v1/backup", |_| Some(Route::Backup)),
];

impl Route {
    /// ARM paths must name an `api-version`; ours carry their version in the path.
    pub fn needs_api_version(&self) -> bool {
        !matches!(
            self,
            Route::Health
                | Route::Ready
                | Route::Metrics
                | Route::SiteStatus
                | Route::Operations
                | Route::Operation { .. }
                | Route::CancelOperation { .. }
                | Route::Backup
        )
    }

    /// The kind of route without its values, for counting: `Show`.
    pub fn kind_name(&self) -> String {
        let shown = format!("{self:?}");
        shown.chars().take_while(|c| c.is_alphanumeric()).collect()
    }

    pub fn find(method: &Method, path: &str) -> Result<Route, Refused> {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let mut allowed: Vec<&Method> = Vec::new();
        for (row_method, pattern, make) in TABLE {
            let Some(values) = matched(pattern, &segments) else { continue };
            let Some(route) = make(&values) else { continue };
            if row_method == method {
                return Ok(route);
            }
            allowed.push(row_method);
        }
        if allowed.is_empty() { Err(Refused::no_such_path(path)) } else { Err(Refused::method_not_allowed(method, &allowed)) }
    }
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
    fn the_name_of_a_kind_carries_no_value() {
        let route = Route::Operation { id: "8f3c".into() };
        assert_eq!((route.kind_name().as_str(), Route::Health.kind_name().as_str()), ("Operation", "Health"));
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
