//! Virtual machines and tenant clusters: their own small rig and language, so that a case is ten readable lines.

mod actions;
mod crash;
mod create;
mod documents;
mod faults;
mod guards;
mod kubevirt;
mod properties;
mod rig;
mod script;
mod settings;
mod tenant_nodes;
mod words;
