//! What the agent has found in its machine: kept beside the machine, and shown with it.

use axum::body::Body;
use axum::extract::{Path, State};
use http::{HeaderMap, StatusCode};
use model::{HostDisk, HostInventory, HostNic, INVENTORY_PARTS_MAX, MachineReport};
use ticket::Purpose;

use super::InstallFace;
use super::attempt::Named;
use super::door::{Declined, bearer, read_within};

/// The longest inventory: of as many disks and ports as it may have, with names that are not absurd, it is a third of this.
pub const INVENTORY_MAX: usize = 64 * 1024;

/// The longest text in it; longer ones are cut.
const TEXT_MAX: usize = 128;

pub(super) async fn take(
    State(face): State<InstallFace>,
    Path(named): Path<Named>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Declined> {
    let (known, _) = face.admit(&named, Purpose::Session, bearer(&headers)?).await?;
    let host = checked(read_within(body, INVENTORY_MAX).await?)?;
    face.pass_on(&known, MachineReport::Inventory { host: Box::new(host) }).await
}

fn checked(host: HostInventory) -> Result<HostInventory, Declined> {
    for (what, count) in [("disks", host.disks.len()), ("nics", host.nics.len())] {
        if count > INVENTORY_PARTS_MAX {
            let message = format!("`{what}` has {count} entries; at most {INVENTORY_PARTS_MAX} are meant");
            return Err(Declined::new(StatusCode::BAD_REQUEST, message));
        }
    }
    let HostInventory { disks, nics, mut cpus, .. } = host;
    if let Some(cpus) = &mut cpus {
        clean(&mut cpus.model);
    }
    Ok(HostInventory { disks: disks.into_iter().map(clean_disk).collect(), nics: nics.into_iter().map(clean_nic).collect(), cpus, ..host })
}

/// A part's own words come from whoever made it, and end up on terminals.
fn clean(text: &mut Option<String>) {
    *text = text.take().map(|text| model::cleaned(&text, TEXT_MAX)).filter(|text| !text.is_empty());
}

fn clean_disk(mut disk: HostDisk) -> HostDisk {
    disk.name = model::cleaned(&disk.name, TEXT_MAX);
    for text in [&mut disk.serial, &mut disk.wwn, &mut disk.model, &mut disk.kind] {
        clean(text);
    }
    disk
}

fn clean_nic(mut nic: HostNic) -> HostNic {
    nic.name = model::cleaned(&nic.name, TEXT_MAX);
    clean(&mut nic.mac);
    nic
}
