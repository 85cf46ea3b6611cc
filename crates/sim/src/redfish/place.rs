//! The resources of a BMC by path. A trailing slash makes no difference.

use http::Method;

use super::profile::Profile;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Versions,
    Root,
    Odata,
    Metadata,
    SessionService,
    Sessions,
    Session(String),
    Systems,
    System,
    Reset,
    Managers,
    Manager,
    LogServices,
    LogService,
    Entries,
    Entry(u64),
    ChassisCollection,
    Chassis,
}

impl Place {
    pub fn locate(path: &str, profile: &Profile) -> Option<Place> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        let rest = match segments[..] {
            ["redfish"] => return Some(Place::Versions),
            ["redfish", "v1", ref rest @ ..] => rest,
            _ => return None,
        };
        match *rest {
            [] => Some(Place::Root),
            ["odata"] => Some(Place::Odata),
            ["$metadata"] => Some(Place::Metadata),
            ["SessionService"] => Some(Place::SessionService),
            ["SessionService", "Sessions"] => Some(Place::Sessions),
            ["SessionService", "Sessions", id] => Some(Place::Session(id.to_owned())),
            ["Systems"] => Some(Place::Systems),
            ["Systems", id, ref rest @ ..] if id == profile.system_id => match *rest {
                [] => Some(Place::System),
                ["Actions", "ComputerSystem.Reset"] => Some(Place::Reset),
                _ => None,
            },
            ["Managers"] => Some(Place::Managers),
            ["Managers", id, ref rest @ ..] if id == profile.manager_id => Place::locate_log(rest, profile),
            ["Chassis"] => Some(Place::ChassisCollection),
            ["Chassis", id] if id == profile.chassis_id => Some(Place::Chassis),
            _ => None,
        }
    }

    fn locate_log(rest: &[&str], profile: &Profile) -> Option<Place> {
        match *rest {
            [] => Some(Place::Manager),
            ["LogServices"] => Some(Place::LogServices),
            ["LogServices", id, ref rest @ ..] if id == profile.log_id => match *rest {
                [] => Some(Place::LogService),
                ["Entries"] => Some(Place::Entries),
                ["Entries", number] => number.parse().ok().map(Place::Entry),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn methods(&self) -> &'static [Method] {
        match self {
            Place::Sessions => &[Method::GET, Method::HEAD, Method::POST],
            Place::Session(_) => &[Method::GET, Method::HEAD, Method::DELETE],
            Place::Reset => &[Method::POST],
            _ => &[Method::GET, Method::HEAD],
        }
    }

    pub fn allow(&self) -> &'static str {
        match self {
            Place::Sessions => "GET, HEAD, POST",
            Place::Session(_) => "GET, HEAD, DELETE",
            Place::Reset => "POST",
            _ => "GET, HEAD",
        }
    }

    /// What the standard leaves open to everybody: finding the service, and logging in.
    pub fn is_open(&self, method: &Method) -> bool {
        match self {
            Place::Versions | Place::Root | Place::Odata | Place::Metadata => true,
            Place::Sessions => *method == Method::POST,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use world::Vendor;

    use super::*;

    fn locate(path: &str) -> Option<Place> {
        Place::locate(path, Profile::of(Vendor::Dell))
    }

    #[test]
    fn a_trailing_slash_makes_no_difference() {
        assert_eq!(locate("/redfish"), Some(Place::Versions));
        assert_eq!(locate("/redfish/v1"), Some(Place::Root));
        assert_eq!(locate("/redfish/v1/"), Some(Place::Root));
        assert_eq!(locate("/redfish/v1/Systems/"), Some(Place::Systems));
    }

    #[test]
    fn only_the_vendors_own_ids_exist() {
        assert_eq!(locate("/redfish/v1/Systems/System.Embedded.1"), Some(Place::System));
        assert_eq!(locate("/redfish/v1/Systems/1"), None);
        assert_eq!(locate("/redfish/v1/Managers/iDRAC.Embedded.1/LogServices/Lclog/Entries/7"), Some(Place::Entry(7)));
        assert_eq!(locate("/redfish/v1/Managers/iDRAC.Embedded.1/LogServices/Lclog/Entries/seven"), None);
        assert_eq!(locate("/elsewhere"), None);
    }
}
