//! Key sets: who may log in to machines, and who to their BMCs.
//!
//! Users of machines come with the first-boot configuration of the next installation; users of BMCs are made, changed and removed
//! through the account services. Whether a user is in the group of a directory is not judged: there is no directory to ask.

mod accounts;
mod check;
mod ssh_key;
mod status;
mod upkeep;
mod writing;

pub(crate) use accounts::{board_of, converge};
pub use check::{KeySetFlaw, check_key_set, check_key_set_change};
pub use status::{KeySetDetail, KeySetStatus, UserStanding, UserStatus, is_key_set_valid, key_set_status};
pub(crate) use upkeep::{note_installed, plan_upkeep};
pub(crate) use writing::{delete, put, update};
