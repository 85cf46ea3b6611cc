//! What previews say, each from a site and its tenants in a few lines.

mod dead;
mod duration;
mod pages;
mod placing;
mod quorums;
mod returning;
mod stage;
mod told;
