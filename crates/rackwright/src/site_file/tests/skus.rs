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

#[test]
fn a_sku_says_what_machines_of_it_are_made_of() {
    let loaded = Desk::new(&format!("{SITE}{SKU}")).load().unwrap();
    let [sku] = &loaded.site().skus[..] else { panic!("one is described") };
    assert_eq!((sku.name.as_str(), &sku.models[..]), ("PowerEdge R750", &["PowerEdge R750".to_owned()][..]));
    assert_eq!((sku.cpu_sockets, sku.memory_gb, sku.os_volume.as_deref()), (Some(2), Some(512), Some("System")));
    let drive = |capacity_gb, kind: &str| SkuDrive { capacity_gb, kind: kind.to_owned() };
    assert_eq!(sku.drives, [drive(480, "SSD"), drive(480, "SSD"), drive(3840, "HDD")]);
    assert_eq!(sku.ports, [SkuPort { name: "NIC.1".to_owned(), link_up: true }]);
}

#[test]
fn the_system_may_go_to_a_drive_by_its_bay() {
    let loaded = Desk::new(&format!("{SITE}{}", SKU.replace("os-volume = \"System\"", "os-drive = 0"))).load().unwrap();
    assert_eq!((loaded.site().skus[0].os_volume.as_deref(), loaded.site().skus[0].os_drive), (None, Some(0)));
}

#[test]
fn what_is_wrong_with_a_sku_is_named_with_its_line() {
    let wrong = SKU
        .replace("models = \"PowerEdge R750\"", "models = [1]")
        .replace("memory-gb = 512", "memory-gib = 512")
        .replace("cpu-sockets = 2", "cpu-sockets = 0")
        .replace("kind = \"HDD\"", "kind = \"tape\"")
        .replace("link-up = true", "link = true")
        .replace("os-volume = \"System\"", "os-volume = \"System\"\nos-drive = 0");
    let site = format!("{SITE}{wrong}[[sku]]\nname = \"poweredge r750\"\n");
    expect![[r#"
        site.toml cannot be used: 8 problems
          site.toml:31: `models` must be a text, or a list of texts
            31 | models = [1]
          site.toml:32: `cpu-sockets` must be a whole number from 1 to 64
            32 | cpu-sockets = 0
          site.toml:33: [[sku]] has no `memory-gib`; did you mean `memory-gb`?
            33 | memory-gib = 512
          site.toml:36: the operating system goes to `os-volume` or to `os-drive`, not to both
            36 | os-drive = 0
          site.toml:43: `kind` must be "SSD" or "HDD"
            43 | kind = "tape"
          site.toml:44: [[sku.port]] needs `link-up`: whether the port is cabled
            44 | [[sku.port]]
          site.toml:46: [[sku.port]] has no `link`
            46 | link = true
          site.toml:47: SKU `poweredge r750` is described twice
            47 | [[sku]]
    "#]]
    .assert_eq(&Desk::new(&site).complaint());
}
