//! BIOS settings: what there is to set, what is set, and what will be set at the next boot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BiosValue {
    Number(i64),
    Text(String),
}

impl From<&str> for BiosValue {
    fn from(text: &str) -> Self {
        BiosValue::Text(text.to_owned())
    }
}

/// What values an attribute takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BiosRange {
    OneOf(&'static [&'static str]),
    Between(i64, i64),
    /// Text of at most so many bytes.
    UpTo(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct BiosAttribute {
    pub name: &'static str,
    pub range: BiosRange,
}

const SWITCH: BiosRange = BiosRange::OneOf(&["Enabled", "Disabled"]);

/// What there is to set. The first value of a list, and the least number, is how the machine leaves the factory.
pub const BIOS_ATTRIBUTES: [BiosAttribute; 7] = [
    BiosAttribute { name: "BootMode", range: BiosRange::OneOf(&["Uefi", "LegacyBios"]) },
    BiosAttribute { name: "HyperThreading", range: SWITCH },
    BiosAttribute { name: "PowerRestoreDelaySeconds", range: BiosRange::Between(0, 600) },
    BiosAttribute { name: "SriovGlobalEnable", range: SWITCH },
    BiosAttribute { name: "SystemProfile", range: BiosRange::OneOf(&["MaxPerformance", "Balanced", "MinPower"]) },
    BiosAttribute { name: "Virtualization", range: SWITCH },
    BiosAttribute { name: "AssetTag", range: BiosRange::UpTo(63) },
];

impl BiosAttribute {
    pub fn named(name: &str) -> Option<&'static BiosAttribute> {
        BIOS_ATTRIBUTES.iter().find(|attribute| attribute.name == name)
    }

    pub fn factory(&self) -> BiosValue {
        match self.range {
            BiosRange::OneOf(values) => values.first().copied().unwrap_or_default().into(),
            BiosRange::Between(least, _) => BiosValue::Number(least),
            BiosRange::UpTo(_) => "".into(),
        }
    }

    pub fn admits(&self, value: &BiosValue) -> bool {
        match (self.range, value) {
            (BiosRange::OneOf(values), BiosValue::Text(text)) => values.contains(&text.as_str()),
            (BiosRange::Between(least, most), BiosValue::Number(number)) => (least..=most).contains(number),
            (BiosRange::UpTo(length), BiosValue::Text(text)) => text.len() <= length,
            _ => false,
        }
    }
}

/// What pending changes start from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Basis {
    #[default]
    Present,
    Factory,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bios {
    /// Only what differs from the factory's settings.
    set: BTreeMap<String, BiosValue>,
    pending: BTreeMap<String, BiosValue>,
    basis: Basis,
}

/// Why a setting is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BiosRefusal {
    Unknown { name: String },
    Value { name: String },
}

impl Bios {
    /// Every attribute as it is now.
    pub fn present(&self) -> impl Iterator<Item = (&'static str, BiosValue)> {
        BIOS_ATTRIBUTES
            .iter()
            .map(|attribute| (attribute.name, self.set.get(attribute.name).cloned().unwrap_or_else(|| attribute.factory())))
    }

    /// Every attribute as it will be after the next boot.
    pub fn future(&self) -> impl Iterator<Item = (&'static str, BiosValue)> {
        BIOS_ATTRIBUTES.iter().map(|attribute| {
            let present = if self.basis == Basis::Present { self.set.get(attribute.name) } else { None };
            let value = self.pending.get(attribute.name).or(present).cloned();
            (attribute.name, value.unwrap_or_else(|| attribute.factory()))
        })
    }

    pub fn has_pending(&self) -> bool {
        !self.pending.is_empty() || self.basis == Basis::Factory
    }

    /// All or nothing: one bad value and nothing is pending that was not before.
    pub(crate) fn propose(&mut self, changes: BTreeMap<String, BiosValue>) -> Result<(), BiosRefusal> {
        for (name, value) in &changes {
            let attribute = BiosAttribute::named(name).ok_or_else(|| BiosRefusal::Unknown { name: name.clone() })?;
            if !attribute.admits(value) {
                return Err(BiosRefusal::Value { name: name.clone() });
            }
        }
        self.pending.extend(changes);
        Ok(())
    }

    pub(crate) fn propose_factory(&mut self) {
        self.pending.clear();
        self.basis = Basis::Factory;
    }

    /// A boot makes what is pending so.
    pub(crate) fn apply(&mut self) {
        let differing = self.future().filter(|(name, value)| BiosAttribute::named(name).is_some_and(|known| known.factory() != *value));
        self.set = differing.map(|(name, value)| (name.to_owned(), value)).collect();
        self.pending.clear();
        self.basis = Basis::Present;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, value: impl Into<BiosValue>) -> BTreeMap<String, BiosValue> {
        BTreeMap::from([(name.to_owned(), value.into())])
    }

    fn of(values: impl Iterator<Item = (&'static str, BiosValue)>, name: &str) -> BiosValue {
        values.into_iter().find(|(known, _)| *known == name).unwrap().1
    }

    #[test]
    fn a_setting_waits_for_a_boot() {
        let mut bios = Bios::default();
        bios.propose(one("HyperThreading", "Disabled")).unwrap();
        assert_eq!(of(bios.present(), "HyperThreading"), "Enabled".into());
        assert_eq!(of(bios.future(), "HyperThreading"), "Disabled".into());
        bios.apply();
        assert_eq!(of(bios.present(), "HyperThreading"), "Disabled".into());
        assert!(!bios.has_pending());
    }

    #[test]
    fn the_factory_settings_come_back_and_what_is_set_after_asking_for_them_holds() {
        let mut bios = Bios::default();
        bios.propose(one("SystemProfile", "MinPower")).unwrap();
        bios.apply();
        bios.propose_factory();
        bios.propose(one("Virtualization", "Disabled")).unwrap();
        bios.apply();
        assert_eq!(of(bios.present(), "SystemProfile"), "MaxPerformance".into());
        assert_eq!(of(bios.present(), "Virtualization"), "Disabled".into());
    }

    #[test]
    fn one_bad_value_changes_nothing() {
        let mut bios = Bios::default();
        let mut changes = one("HyperThreading", "Disabled");
        changes.extend(one("PowerRestoreDelaySeconds", "soon"));
        assert_eq!(bios.propose(changes), Err(BiosRefusal::Value { name: "PowerRestoreDelaySeconds".to_owned() }));
        assert_eq!(bios.propose(one("Turbo", "Enabled")), Err(BiosRefusal::Unknown { name: "Turbo".to_owned() }));
        assert!(!bios.has_pending());
    }
}
