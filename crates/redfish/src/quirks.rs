//! How BMCs differ where they do not say so themselves, as data.
//!
//! Most differences can be read: which actions a resource offers, where a link leads, which methods it allows. What
//! is here is the rest, keyed by the name that the machine gives of its maker.

/// What a maker's BMCs want that no document of theirs tells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// Names that the maker's machines give, in lower case; each is looked for within what they say.
    makers: &'static [&'static str],
    /// The boot targets that start a CD in virtual media, best first.
    pub cd_targets: &'static [&'static str],
    pub boot_mode: BootMode,
    /// Slots for accounts that look empty but cannot be used.
    pub reserved_account_slots: &'static [&'static str],
    /// How the ids of the media slots begin that take an image by URL where no slot offers an action for it; nothing if
    /// any slot does.
    pub patched_slots: Option<&'static str>,
}

/// Whether a change of the boot source repeats the mode (UEFI or legacy) that the machine is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BootMode {
    Omitted,
    /// Without it these fall back to legacy, and find nothing to boot.
    Repeated,
}

/// A BMC that keeps to the standard.
const ORDINARY: Quirks =
    Quirks { makers: &[], cd_targets: &["Cd"], boot_mode: BootMode::Omitted, reserved_account_slots: &[], patched_slots: None };

const TABLE: &[Quirks] = &[
    // An iDRAC keeps its first account slot for anonymous IPMI.
    Quirks { makers: &["dell"], reserved_account_slots: &["1"], ..ORDINARY },
    // Beside the EXT slots an XCC lists RDOC slots, which take uploads only, and Remote slots of its viewer.
    Quirks { makers: &["lenovo"], patched_slots: Some("EXT"), ..ORDINARY },
    // Virtual media is a USB drive to the firmware of a Supermicro.
    Quirks { makers: &["supermicro", "super micro"], cd_targets: &["UsbCd", "Cd"], boot_mode: BootMode::Repeated, ..ORDINARY },
];

impl Quirks {
    /// The quirks of a machine that says these things of its maker.
    pub fn of<'a>(told: impl IntoIterator<Item = &'a str>) -> &'static Quirks {
        let told: Vec<String> = told.into_iter().map(str::to_ascii_lowercase).collect();
        let known = TABLE.iter().find(|quirks| quirks.makers.iter().any(|maker| told.iter().any(|told| told.contains(maker))));
        known.unwrap_or(&ORDINARY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maker_is_known_by_what_its_machines_say() {
        let table = [
            (&["Dell Inc."][..], &["1"][..], &["Cd"][..]),
            (&["DELL"], &["1"], &["Cd"]),
            (&["HPE"], &[], &["Cd"]),
            (&["Supermicro"], &[], &["UsbCd", "Cd"]),
            (&["Contoso", "Super Micro Computer, Inc."], &[], &["UsbCd", "Cd"]),
            (&[], &[], &["Cd"]),
        ];
        for (told, reserved, targets) in table {
            let quirks = Quirks::of(told.iter().copied());
            assert_eq!((quirks.reserved_account_slots, quirks.cd_targets), (reserved, targets), "{told:?}");
        }
        assert_eq!(Quirks::of(["Lenovo"]).patched_slots, Some("EXT"));
    }
}
