//! What a machine of a SKU is made of: what hardware validation expects.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sku {
    pub name: String,
    /// As BMCs tell it, e.g. `PowerEdge R750`; several where makers differ and the site does not mind.
    #[serde(default)]
    pub models: Vec<String>,
    #[serde(default)]
    pub cpu_sockets: Option<u64>,
    #[serde(default)]
    pub memory_gb: Option<u64>,
    /// By bay, from 0.
    #[serde(default)]
    pub drives: Vec<SkuDrive>,
    #[serde(default)]
    pub ports: Vec<SkuPort>,
    /// The port that the machine boots over the network from.
    #[serde(default)]
    pub boot_port: Option<String>,
    /// The name of the controller's volume that the operating system goes to; `OS` if it is not said.
    #[serde(default)]
    pub os_volume: Option<String>,
    /// The bay of the drive that it goes to instead, on machines whose drives are no part of a volume.
    #[serde(default)]
    pub os_drive: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SkuDrive {
    pub capacity_gb: u64,
    /// `SSD`, `HDD`.
    pub kind: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SkuPort {
    pub name: String,
    /// Whether it is cabled: one that should be down and is up is wrong as well.
    pub link_up: bool,
}
