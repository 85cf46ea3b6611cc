//! The tokens of an installation: derived from the cluster's install key and from what they are for, so that nothing of them is
//! stored, and whoever has the key can check one.
//!
//! A token is good for one purpose of one attempt. That the attempt is still the current one is not judged here.

mod join;
mod key;
mod path;

pub use join::JoinToken;
pub use key::{InstallKey, KEY_BYTES, Purpose};
pub use path::{PREFIX, exchange_path, http_path, image_path, media_path, pxe_path, without_secret};
