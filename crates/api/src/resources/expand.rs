//! `$expand` of a list of resources: what is told of each beside what always is. `az resource list` asks for all of it.

use crate::reply::{Refused, shortened};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Expand {
    pub created_time: bool,
    pub changed_time: bool,
    pub provisioning_state: bool,
}

impl Expand {
    pub fn parse(text: &str) -> Result<Expand, Refused> {
        let mut expand = Expand::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let known = [
                ("createdTime", &mut expand.created_time),
                ("changedTime", &mut expand.changed_time),
                ("provisioningState", &mut expand.provisioning_state),
            ];
            match known.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
                Some((_, is_asked_for)) => *is_asked_for = true,
                None => {
                    let message = format!("$expand is of createdTime, changedTime and provisioningState, not of `{}`", shortened(word));
                    return Err(Refused::bad_content(message).target("$expand"));
                }
            }
        }
        Ok(expand)
    }
}
