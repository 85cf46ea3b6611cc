//! What previews say, each from a site and its tenants in a few lines.

mod dead;
mod duration;
mod pages;
mod placing;
mod returning;
mod stage;
