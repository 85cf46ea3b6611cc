//! Wiping data disks that the control plane has listed: everything on them is zeros afterwards.

use crate::disk::Disk;
use crate::trouble::{Failure, Stop, Trouble};
use crate::write::{Progress, disk_failed};

/// How much is wiped between two looks at whether the attempt still goes on.
const PIECE_BYTES: u64 = 1 << 30;

/// How much of a wiped disk is read back, at how many places from its beginning to its end.
const LOOKED_AT_BYTES: u64 = 1024 * 1024;
const LOOKS: u64 = 16;

/// Makes the disk all zeros, and looks here and there whether it is.
pub fn wipe(disk: &Disk, progress: &mut Progress<'_>) -> Result<(), Stop> {
    let mut done = 0;
    while done < disk.bytes() {
        let piece = PIECE_BYTES.min(disk.bytes() - done);
        disk.zero(done, piece).map_err(|error| disk_failed("wiping", disk, &error))?;
        done += piece;
        progress.reach(0)?;
    }
    disk.sync().map_err(|error| disk_failed("wiping", disk, &error))?;
    let last = disk.bytes().saturating_sub(LOOKED_AT_BYTES);
    for from in (0..LOOKS).map(|look| last / (LOOKS - 1) * look).chain([last]) {
        let to = disk.bytes().min(from + LOOKED_AT_BYTES);
        let mut is_zero = true;
        let look = disk.read_back(from, to, |piece| {
            is_zero &= piece.iter().all(|byte| *byte == 0);
            Ok(())
        });
        look.map_err(|error| disk_failed("reading what was wiped of", disk, &error))?;
        if !is_zero {
            return Err(Failure::new(Trouble::DiskFailed, format!("{disk} was wiped, and gives back something else than zeros")).into());
        }
    }
    Ok(())
}
