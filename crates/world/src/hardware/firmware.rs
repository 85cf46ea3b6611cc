//! Which firmware a machine's parts run, and what an image is for.
//!
//! Only what updates have installed is kept here; what a part ran before is its vendor's matter.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A part with firmware of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Component {
    Bmc,
    Bios,
    Raid,
    Nic,
}

impl Component {
    pub const ALL: [Component; 4] = [Component::Bmc, Component::Bios, Component::Raid, Component::Nic];

    pub fn as_str(self) -> &'static str {
        match self {
            Component::Bmc => "BMC",
            Component::Bios => "BIOS",
            Component::Raid => "RAID",
            Component::Nic => "NIC",
        }
    }

    pub fn named(name: &str) -> Option<Component> {
        Component::ALL.into_iter().find(|component| component.as_str().eq_ignore_ascii_case(name))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firmware {
    installed: BTreeMap<Component, String>,
}

impl Firmware {
    /// The version that an update has installed, if one has.
    pub fn installed(&self, component: Component) -> Option<&str> {
        self.installed.get(&component).map(String::as_str)
    }

    pub(crate) fn install(&mut self, component: Component, version: String) {
        self.installed.insert(component, version);
    }
}

/// What an image says about itself by its file's name: `bios-2.16.1.bin` is version 2.16.1 of the BIOS.
///
/// Nothing is downloaded: the simulated site has no images, and a name is enough to tell a right one from a wrong one.
pub(crate) fn read_image_name(image: &str) -> Option<(Component, String)> {
    let path = image.split(['?', '#']).next()?;
    let file = path.rsplit('/').next()?;
    let (component, rest) = file.split_once(['-', '_'])?;
    let version = match rest.rsplit_once('.') {
        Some((stem, extension)) if extension.starts_with(|c: char| c.is_ascii_alphabetic()) => stem,
        _ => rest,
    };
    if version.is_empty() { None } else { Some((Component::named(component)?, version.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_for_what_its_name_says() {
        let read = |image| read_image_name(image).map(|(component, version)| format!("{} {version}", component.as_str()));
        assert_eq!(read("http://images/bios-2.16.1.bin").as_deref(), Some("BIOS 2.16.1"));
        assert_eq!(read("https://images/a/BMC_7.20.00?token=1").as_deref(), Some("BMC 7.20.00"));
        for odd in ["http://images/", "http://images/notes.txt", "http://images/gpu-1.0.bin", "http://images/bios-.bin", ""] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
