//! What the machines of a made-up site should be made of: what they are made of.

use model::{Sku, SkuDrive, SkuPort};

/// One SKU for each model, by its name.
pub fn of(site: &sim::Site) -> Vec<Sku> {
    let mut skus: Vec<Sku> = Vec::new();
    for machine in site.layout().machines() {
        if !skus.iter().any(|known| known.name == machine.model)
            && let Some(parts) = site.parts(&machine.name)
        {
            skus.push(sku(&parts));
        }
    }
    skus
}

fn sku(parts: &sim::Parts) -> Sku {
    Sku {
        name: parts.model.to_owned(),
        models: vec![parts.model.to_owned()],
        cpu_sockets: Some(parts.sockets as u64),
        memory_gb: Some(u64::from(parts.memory_gib)),
        drives: parts.drives_gb.iter().map(|gb| SkuDrive { capacity_gb: *gb, kind: "SSD".to_owned() }).collect(),
        ports: parts.ports.iter().map(|(name, link_up)| SkuPort { name: name.clone(), link_up: *link_up }).collect(),
        boot_port: parts.ports.first().map(|(name, _)| name.clone()),
        os_volume: None,
        os_drive: None,
    }
}
