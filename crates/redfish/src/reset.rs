//! Which Redfish reset type carries out a power request.

use model::PowerRequest;

/// The reset type to send, in the BMC's own spelling; nothing if it offers none that will do.
///
/// `offered` is what the BMC says it accepts; a BMC that says nothing is asked for the usual type.
/// `PushPowerButton` and the restart types never stand in: what they do depends on the state that the machine is in
/// when they arrive, which may not be the state that was looked at.
pub(crate) fn choose_reset_type(request: PowerRequest, offered: Option<&[String]>) -> Option<String> {
    let acceptable: &[&str] = match request {
        PowerRequest::GracefulOff => &["GracefulShutdown"],
        PowerRequest::ForceOff => &["ForceOff"],
        PowerRequest::On => &["On", "ForceOn"],
    };
    match offered {
        None => acceptable.first().map(ToString::to_string),
        Some(offered) => acceptable.iter().find_map(|wanted| offered.iter().find(|offer| offer.eq_ignore_ascii_case(wanted)).cloned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(request: PowerRequest, offered: Option<&str>, expected: Option<&str>) {
        let offered: Option<Vec<String>> = offered.map(|text| text.split_whitespace().map(str::to_owned).collect());
        assert_eq!(choose_reset_type(request, offered.as_deref()).as_deref(), expected, "{request:?} of {offered:?}");
    }

    #[test]
    fn the_reset_type_is_the_first_acceptable_one_that_is_offered() {
        let all = Some("On ForceOff GracefulShutdown GracefulRestart ForceRestart ForceOn PushPowerButton");
        check(PowerRequest::On, all, Some("On"));
        check(PowerRequest::On, Some("ForceOn ForceOff"), Some("ForceOn"));
        check(PowerRequest::On, Some("PushPowerButton ForceRestart"), None);
        check(PowerRequest::ForceOff, all, Some("ForceOff"));
        check(PowerRequest::ForceOff, Some("PushPowerButton GracefulShutdown"), None);
        check(PowerRequest::GracefulOff, all, Some("GracefulShutdown"));
        check(PowerRequest::GracefulOff, Some("ForceOff"), None);
    }

    #[test]
    fn a_bmc_that_says_nothing_is_asked_for_the_usual_type() {
        check(PowerRequest::On, None, Some("On"));
        check(PowerRequest::ForceOff, None, Some("ForceOff"));
        check(PowerRequest::GracefulOff, None, Some("GracefulShutdown"));
    }

    #[test]
    fn the_bmc_is_answered_in_its_own_spelling() {
        check(PowerRequest::ForceOff, Some("on forceoff"), Some("forceoff"));
    }
}
