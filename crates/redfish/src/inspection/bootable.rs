//! What the machine starts from by its own order, and which port it boots over the network from.

use model::{BootDeviceSeen, Fault};
use serde_json::Value;

use crate::bmc::{Bmc, System};
use crate::document::{self, field, flag, text, texts};
use crate::line::Deadline;
use crate::listing::{Member, is_absence};

impl Bmc {
    pub(super) async fn inspect_boot(&self, system: &System) -> Result<Option<BootDeviceSeen>, Fault> {
        let boot = field(system.document(), "Boot");
        let options = match self.whole_part(boot, "BootOptions", Deadline::of_call()).await {
            Err(fault) if is_absence(&fault) => None,
            outcome => outcome?,
        };
        let attributes = match document::linked(system.document(), "Bios") {
            Some(path) => self.read_if_there(&path, Deadline::of_call()).await?.map(|bios| field(&bios, "Attributes").clone()),
            None => None,
        };
        let seen = read_boot_device(boot, options.as_deref(), &attributes.unwrap_or_default());
        Ok((seen != BootDeviceSeen::default()).then_some(seen))
    }
}

/// A setting of the BIOS tells of network boot where there is one; else the boot options do.
fn read_boot_device(boot: &Value, options: Option<&[Member]>, bios: &Value) -> BootDeviceSeen {
    let order = texts(field(boot, "BootOrder")).unwrap_or_default();
    let options = options.unwrap_or_default();
    let of_reference =
        |wanted: &String| options.iter().find(|option| text(&option.document, "BootOptionReference").as_ref() == Some(wanted));
    let first = order.first().and_then(of_reference);
    let pxe = order.iter().filter_map(of_reference).chain(options).find(|option| is_pxe(&option.document));
    let device = first.map(name_of).or_else(|| order.first().cloned());
    let is_switched_on = text(bios, "PxeDev1EnDis").map(|state| state.eq_ignore_ascii_case("Enabled"));
    BootDeviceSeen {
        device,
        is_enabled: first.and_then(|option| flag(&option.document, "BootOptionEnabled")),
        pxe_port: text(bios, "PxeDev1Interface").or_else(|| pxe.map(port_of)),
        is_pxe_enabled: is_switched_on.or_else(|| pxe.and_then(|option| flag(&option.document, "BootOptionEnabled"))),
    }
}

fn is_pxe(option: &Value) -> bool {
    let is_alias = text(option, "Alias").is_some_and(|alias| alias.eq_ignore_ascii_case("Pxe"));
    is_alias || text(option, "DisplayName").is_some_and(|name| name.to_ascii_uppercase().contains("PXE"))
}

/// The port that it is about, by its own name; or else as the option is called.
fn port_of(option: &Member) -> String {
    let related = document::all_linked(&option.document, "RelatedItem").into_iter().next();
    let port = related.as_deref().and_then(|path| path.trim_end_matches('/').rsplit('/').next()).map(str::to_owned);
    port.unwrap_or_else(|| name_of(option))
}

fn name_of(option: &Member) -> String {
    let told = ["DisplayName", "Name", "BootOptionReference"].iter().find_map(|name| text(&option.document, name));
    told.unwrap_or_else(|| option.path.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn option(document: Value) -> Member {
        Member { path: "/b/1".into(), document }
    }

    #[test]
    fn the_first_of_the_order_is_the_device_and_network_boot_is_known_by_its_alias_or_name() {
        let options = [
            option(json!({"BootOptionReference": "Boot0001", "DisplayName": "PXE Device 1", "BootOptionEnabled": false,
                "RelatedItem": [{"@odata.id": "/redfish/v1/Systems/1/EthernetInterfaces/NIC.Embedded.1-1-1"}]})),
            option(json!({"BootOptionReference": "Boot0003", "DisplayName": "RAID Controller", "BootOptionEnabled": true})),
        ];
        let boot = json!({"BootOrder": ["Boot0003", "Boot0001"]});
        let seen = BootDeviceSeen {
            device: Some("RAID Controller".into()),
            is_enabled: Some(true),
            pxe_port: Some("NIC.Embedded.1-1-1".into()),
            is_pxe_enabled: Some(false),
        };
        assert_eq!(read_boot_device(&boot, Some(&options), &Value::Null), seen);
        let bios = json!({"PxeDev1Interface": "NIC.Slot.3-1-1", "PxeDev1EnDis": "Enabled"});
        let by_bios = BootDeviceSeen { pxe_port: Some("NIC.Slot.3-1-1".into()), is_pxe_enabled: Some(true), ..seen };
        assert_eq!(read_boot_device(&boot, Some(&options), &bios), by_bios);
    }

    #[test]
    fn without_options_only_the_order_is_known_and_without_either_nothing() {
        let ordered = read_boot_device(&json!({"BootOrder": ["HardDisk.List.1-1"]}), None, &Value::Null);
        assert_eq!(ordered, BootDeviceSeen { device: Some("HardDisk.List.1-1".into()), ..BootDeviceSeen::default() });
        assert_eq!(read_boot_device(&json!({}), None, &Value::Null), BootDeviceSeen::default());
    }
}
