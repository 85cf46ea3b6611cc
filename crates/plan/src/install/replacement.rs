//! What a replace is told of the hardware: whether it can be so, and that the machine keeps its name.

use model::{Refusal, Replacement, Rule, is_unprintable};

use crate::guard::Guarded;

/// Characters of a serial number, as in Azure.
pub const SERIAL_NUMBER_MAX: usize = 64;

/// What is wrong with a replacement, and the field that it is about, as the request names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacementFlaw {
    pub field: &'static str,
    pub message: String,
}

/// Whether these can be the identifiers of a machine.
pub fn check_replacement(replacement: &Replacement) -> Result<(), ReplacementFlaw> {
    let flaw = |field, message: Option<String>| message.map_or(Ok(()), |message| Err(ReplacementFlaw { field, message }));
    flaw("serialNumber", replacement.serial_number.as_deref().and_then(flaw_of_serial))?;
    flaw("bmcMacAddress", replacement.bmc_mac.as_deref().and_then(flaw_of_mac))?;
    flaw("bootMacAddress", replacement.boot_mac.as_deref().and_then(flaw_of_mac))?;
    let name = replacement.machine_name.as_deref().and_then(|name| model::MachineName::new(name).err());
    flaw("machineName", name.map(|invalid| invalid.to_string()))
}

fn flaw_of_serial(serial: &str) -> Option<String> {
    let length = serial.chars().count();
    if length == 0 || length > SERIAL_NUMBER_MAX {
        return Some(format!("a serial number has 1 to {SERIAL_NUMBER_MAX} characters; this one has {length}"));
    }
    let is_bad = serial.chars().any(is_unprintable) || serial.trim() != serial;
    is_bad.then(|| "a serial number has no control characters, and no blanks around it".to_owned())
}

/// Six pairs of hexadecimal digits with colons or hyphens between.
fn flaw_of_mac(mac: &str) -> Option<String> {
    let is_pair = |pair: &str| pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit());
    let pairs: Vec<&str> = mac.split([':', '-']).collect();
    let is_mac = pairs.len() == 6 && pairs.into_iter().all(is_pair);
    let shown = || mac.chars().filter(|c| !is_unprintable(*c)).take(40).collect::<String>();
    (!is_mac).then(|| format!("`{}` is no MAC address: six pairs of hexadecimal digits are meant, as in 04:0a:0b:0c:0d:0e", shown()))
}

impl Guarded<'_> {
    /// Hardware comes and goes; the machine stays the one that its slot, its node and its workloads know.
    pub(crate) fn keeps_name(&self, replacement: Option<&Replacement>) -> Result<(), Refusal> {
        let name = &self.machine.name;
        let told = replacement.and_then(|replacement| replacement.machine_name.as_deref());
        let Some(told) = told.filter(|told| !told.eq_ignore_ascii_case(name.as_str())) else { return Ok(()) };
        self.refuse(
            Rule::MachineNameKept,
            vec![format!("the request calls it `{}`", model::cleaned(told, model::NAME_MAX))],
            format!("leave the machine's name out, or say `{name}`: a replaced machine keeps its name"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flaw_names_the_field_that_it_is_about() {
        let told = |change: fn(&mut Replacement)| {
            let mut replacement = Replacement::default();
            change(&mut replacement);
            check_replacement(&replacement).err().map(|flaw| format!("{}: {}", flaw.field, flaw.message))
        };
        assert_eq!(told(|_| {}), None);
        assert_eq!(told(|new| new.serial_number = Some("7XK2Q03".into())), None);
        assert_eq!(told(|new| new.bmc_mac = Some("04-0A-0b-0c-0d-0e".into())), None);
        let long = "serialNumber: a serial number has 1 to 64 characters; this one has 65".to_owned();
        assert_eq!(told(|new| new.serial_number = Some("x".repeat(65))), Some(long));
        let empty = "serialNumber: a serial number has 1 to 64 characters; this one has 0".to_owned();
        assert_eq!(told(|new| new.serial_number = Some(String::new())), Some(empty));
        let blank = "serialNumber: a serial number has no control characters, and no blanks around it".to_owned();
        assert_eq!(told(|new| new.serial_number = Some("a\n".into())), Some(blank));
        let mac = "is no MAC address: six pairs of hexadecimal digits are meant, as in 04:0a:0b:0c:0d:0e";
        assert_eq!(told(|new| new.bmc_mac = Some("04:0a:0b:0c:0d".into())), Some(format!("bmcMacAddress: `04:0a:0b:0c:0d` {mac}")));
        assert_eq!(told(|new| new.boot_mac = Some("040a0b0c0d0e".into())), Some(format!("bootMacAddress: `040a0b0c0d0e` {mac}")));
        assert!(told(|new| new.machine_name = Some("a_b".into())).unwrap().starts_with("machineName: "));
    }
}
