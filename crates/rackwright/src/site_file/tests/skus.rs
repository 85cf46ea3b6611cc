use model::{SkuDrive, SkuPort};

use super::*;

const SKU: &str = r#"
[[sku]]
name = "PowerEdge R750"
models = "PowerEdge R750"
cpu-sockets = 2
memory-gb = 512
boot-port = "NIC.1"
os-volume = "System"
[[sku.drive]]
count = 2
capacity-gb = 480
kind = "SSD"
[[sku.drive]]
capacity-gb = 3840
kind = "HDD"
[[sku.port]]
name = "NIC.1"
link-up = true
"#;
