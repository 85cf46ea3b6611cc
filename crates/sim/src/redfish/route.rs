//! What a path means to a BMC, and who may do what there. The table itself is in `routes.rs`.

use http::Method;

use super::answer::Answer;
use super::call::{Call, Privilege};
use super::profile::Profile;
use super::routes::ROUTES;

pub(super) type Handler = fn(&Call<'_>) -> Result<Answer, Answer>;

/// What can be done without a login, as the standard asks for what leads to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Nothing,
    Reading,
    Creating,
}

/// One resource or action, and what can be done with it.
pub(super) struct Route {
    /// Segments below `/redfish/v1`. A name in braces is the vendor's id of that part; `{}` is any one segment.
    pattern: &'static str,
    pub get: Option<Handler>,
    post: Option<(Privilege, Handler)>,
    patch: Option<(Privilege, Handler)>,
    delete: Option<(Privilege, Handler)>,
    open: Open,
    is_offered: fn(&Profile) -> bool,
}

/// A route and what stood in the place of its `{}`.
pub(super) struct Located {
    pub route: &'static Route,
    pub id: String,
}

pub(super) const fn route(pattern: &'static str) -> Route {
    Route { pattern, get: None, post: None, patch: None, delete: None, open: Open::Nothing, is_offered: |_| true }
}

impl Route {
    pub const fn get(mut self, handler: Handler) -> Route {
        self.get = Some(handler);
        self
    }

    pub const fn post(mut self, privilege: Privilege, handler: Handler) -> Route {
        self.post = Some((privilege, handler));
        self
    }

    pub const fn patch(mut self, privilege: Privilege, handler: Handler) -> Route {
        self.patch = Some((privilege, handler));
        self
    }

    pub const fn delete(mut self, privilege: Privilege, handler: Handler) -> Route {
        self.delete = Some((privilege, handler));
        self
    }

    pub const fn open(mut self, open: Open) -> Route {
        self.open = open;
        self
    }

    pub const fn only_if(mut self, is_offered: fn(&Profile) -> bool) -> Route {
        self.is_offered = is_offered;
        self
    }

    /// What a method needs and does here; nothing if it is not allowed.
    pub fn handler(&self, method: &Method) -> Option<(Privilege, Handler)> {
        match *method {
            Method::GET | Method::HEAD => self.get.map(|handler| (Privilege::Login, handler)),
            Method::POST => self.post,
            Method::PATCH => self.patch,
            Method::DELETE => self.delete,
            _ => None,
        }
    }

    pub fn is_open(&self, method: &Method) -> bool {
        match self.open {
            Open::Nothing => false,
            Open::Reading => [Method::GET, Method::HEAD].contains(method),
            Open::Creating => *method == Method::POST,
        }
    }

    pub fn allow(&self) -> String {
        let methods = [Method::GET, Method::HEAD, Method::POST, Method::PATCH, Method::DELETE];
        let allowed: Vec<&str> = methods.iter().filter(|method| self.handler(method).is_some()).map(Method::as_str).collect();
        allowed.join(", ")
    }

    /// The segment in the place of `{}`, or nothing to remember; `None` if the path is another one.
    fn matches<'p>(&self, path: &[&'p str], profile: &Profile) -> Option<&'p str> {
        let mut id = "";
        let mut given = path.iter();
        for wanted in self.pattern.split('/').filter(|segment| !segment.is_empty()) {
            let given = *given.next()?;
            let is_same = match wanted {
                "{}" => {
                    id = given;
                    true
                }
                "{system}" => given == profile.system_id,
                "{manager}" => given == profile.manager_id,
                "{chassis}" => given == profile.chassis_id,
                "{log}" => given == profile.log_id,
                "{storage}" => given == profile.storage_id,
                plain => given == plain,
            };
            if !is_same {
                return None;
            }
        }
        given.next().is_none().then_some(id)
    }
}

/// Finds what a path means. A trailing slash makes no difference, and creating in a collection's `Members` is creating
/// in the collection.
pub(super) fn locate(method: &Method, path: &str, profile: &Profile) -> Option<Located> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let path = if *method == Method::POST { path.strip_suffix("/Members").unwrap_or(path) } else { path };
    let rest = path.strip_prefix("/redfish/v1")?;
    let segments: Vec<&str> = match rest.strip_prefix('/') {
        Some(segments) => segments.split('/').collect(),
        None if rest.is_empty() => Vec::new(),
        None => return None,
    };
    let offered = ROUTES.iter().filter(|route| (route.is_offered)(profile));
    offered.into_iter().find_map(|route| route.matches(&segments, profile).map(|id| Located { route, id: id.to_owned() }))
}

#[cfg(test)]
mod tests {
    use world::Vendor;

    use super::*;

    fn found(path: &str) -> Option<(&'static str, String)> {
        locate(&Method::GET, path, Profile::of(Vendor::Dell)).map(|located| (located.route.pattern, located.id))
    }

    #[test]
    fn a_trailing_slash_makes_no_difference() {
        assert_eq!(found("/redfish/v1"), Some(("", String::new())));
        assert_eq!(found("/redfish/v1/"), Some(("", String::new())));
        assert_eq!(found("/redfish/v1/Systems/"), Some(("Systems", String::new())));
        assert_eq!(found("/redfish/v12"), None);
    }

    #[test]
    fn only_the_vendors_own_ids_exist() {
        assert_eq!(found("/redfish/v1/Systems/System.Embedded.1"), Some(("Systems/{system}", String::new())));
        assert_eq!(found("/redfish/v1/Systems/1"), None);
        let entry = found("/redfish/v1/Managers/iDRAC.Embedded.1/LogServices/Lclog/Entries/7");
        assert_eq!(entry, Some(("Managers/{manager}/LogServices/{log}/Entries/{}", "7".to_owned())));
        assert_eq!(found("/elsewhere"), None);
    }

    #[test]
    fn no_two_routes_of_a_vendor_mean_the_same_path() {
        for vendor in [Vendor::Dell, Vendor::Hpe, Vendor::Lenovo, Vendor::Supermicro] {
            let offered = ROUTES.iter().filter(|route| (route.is_offered)(Profile::of(vendor)));
            let mut patterns: Vec<&str> = offered.map(|route| route.pattern).collect();
            patterns.sort_unstable();
            let count = patterns.len();
            patterns.dedup();
            assert_eq!(patterns.len(), count, "{vendor:?}");
        }
    }
}
