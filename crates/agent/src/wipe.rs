//! Wiping data disks that the control plane has listed: everything on them is zeros afterwards.

use crate::disk::Disk;
use crate::trouble::{Failure, Stop, Trouble};
use crate::write::{Progress, disk_failed};

/// How much is wiped between two looks at whether the attempt still goes on.
const PIECE_BYTES: u64 = 1 << 30;

/// How much is read back at each end of a wiped disk.
const LOOKED_AT_BYTES: u64 = 1024 * 1024;

/// Makes the disk all zeros, and looks whether both ends of it are.
pub fn wipe(disk: &Disk, progress: &mut Progress<'_>) -> Result<(), Stop> {
    let mut done = 0;
    while done < disk.bytes() {
        let piece = PIECE_BYTES.min(disk.bytes() - done);
        disk.zero(done, piece).map_err(|error| disk_failed("wiping", &error))?;
        done += piece;
        progress.reach(0)?;
    }
    disk.sync().map_err(|error| disk_failed("wiping", &error))?;
    let end = disk.bytes().saturating_sub(LOOKED_AT_BYTES);
    for (from, to) in [(0, LOOKED_AT_BYTES.min(disk.bytes())), (end, disk.bytes())] {
        let mut is_zero = true;
        let look = disk.read_back(from, to, |piece| {
            is_zero &= piece.iter().all(|byte| *byte == 0);
            Ok(())
        });
        look.map_err(|error| disk_failed("reading a wiped disk", &error))?;
        if !is_zero {
            return Err(Failure::new(Trouble::DiskFailed, "a wiped disk gives back something else than zeros").into());
        }
    }
    Ok(())
}
