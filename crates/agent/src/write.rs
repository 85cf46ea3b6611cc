//! Writing an image to a disk, and reading it back.

use std::fmt;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::disk::Disk;
use crate::download::{Download, hex};
use crate::home::Home;
use crate::trouble::{Failure, Stop, Trouble};
use crate::wire::WantedImage;

/// How much is unpacked before it is written.
const PIECE_BYTES: usize = 1024 * 1024;

/// Zeros are looked for in parts of this size: small enough to find the gaps in a filesystem, and a multiple of every disk's blocks.
const GRAIN_BYTES: usize = 64 * 1024;

/// So much is written, or so many zeros are seen, before the disk is waited for. A machine with much memory would else take an image
/// faster than its disk, and then be silent for minutes.
const UNSETTLED_MAX: u64 = 64 * 1024 * 1024;

/// Largest window of a packed image, as a power of two: what `zstd` itself takes without being asked.
const WINDOW_LOG_MAX: u32 = 27;

/// What was at the end of a disk that is larger than its image, such as an old partition table or the mark of an array, is not to be
/// found by the new system.
const TAIL_BYTES: u64 = 1024 * 1024;

/// Progress is told in steps of so many percent, and after so long in any case.
const PROGRESS_STEP: u8 = 10;
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// The log is told so often on the way.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Writing takes the first so many percent, reading back the others.
const WRITTEN_PERCENT: u64 = 80;

/// Tells the control plane how far it is.
#[derive(Debug)]
pub struct Progress<'a> {
    home: &'a Home,
    told: u8,
    told_at: Instant,
    logged_at: Instant,
}

impl<'a> Progress<'a> {
    pub fn new(home: &'a Home) -> Progress<'a> {
        let now = Instant::now();
        Progress { home, told: 0, told_at: now, logged_at: now }
    }

    /// Tells the log, so that it is known of an agent that is heard of no more.
    pub fn tell_log(&mut self) {
        self.home.mention_log();
        self.logged_at = Instant::now();
    }

    /// It has come so far. Whether the attempt still goes on is heard in the answer.
    pub fn reach(&mut self, percent: u64) -> Result<(), Stop> {
        let percent = u8::try_from(percent.min(99)).unwrap_or(99).max(self.told);
        if percent < self.told + PROGRESS_STEP && self.told_at.elapsed() < PROGRESS_EVERY {
            return Ok(());
        }
        self.home.log.say(format_args!("{percent} %"));
        let _heard = self.home.mention(percent)?;
        self.told = percent;
        self.told_at = Instant::now();
        if self.logged_at.elapsed() >= LOG_EVERY {
            self.tell_log();
        }
        Ok(())
    }
}

/// Fetches the image, writes it, and sees to it that the disk gives back the same, of which it tells the digest.
pub fn install_image(home: &Home, disk: &Disk, image: &WantedImage, progress: &mut Progress<'_>) -> Result<String, Stop> {
    let digest = fetch_to_disk(home, disk, image, progress)?;
    let is_wanted = digest.eq_ignore_ascii_case(&image.sha256);
    if !is_wanted {
        let detail = format!("the image has the SHA-256 {digest}, and should have {}", image.sha256);
        return Err(Failure::new(Trouble::WrongDigest, detail).into());
    }
    let tail = disk.bytes().saturating_sub(TAIL_BYTES).max(image.bytes);
    disk.zero(tail, disk.bytes() - tail).and_then(|()| disk.sync()).map_err(|error| disk_failed("finishing the image on", disk, &error))?;
    home.log.say("the image is written");
    let read = digest_of_disk(disk, image.bytes, progress)?;
    if read != digest {
        let detail = format!("what {disk} gives back has the SHA-256 {read}, and what was written {digest}");
        return Err(Failure::new(Trouble::DiskFailed, detail).into());
    }
    home.log.say(format_args!("the disk gives back the image: {read}"));
    Ok(read)
}

/// Writes the image and tells its digest.
fn fetch_to_disk(home: &Home, disk: &Disk, image: &WantedImage, progress: &mut Progress<'_>) -> Result<String, Stop> {
    let Some(packed) = &image.packed else {
        let mut download = Download::new(home, &image.url, image.bytes);
        let copied = copy(&mut download, disk, image.bytes, progress);
        return fetched(download, copied);
    };
    if packed.format != "zstd" {
        return Err(
            Failure::new(Trouble::ImageMisfit, format!("the image is packed as `{}`, which is not known here", packed.format)).into()
        );
    }
    let mut download = Download::new(home, &image.url, packed.bytes);
    let mut copied = unpack(&mut download, disk, image.bytes, progress);
    // What cannot be unpacked may have been damaged on its way, or may never have been what it was said to be: its digest tells.
    if matches!(copied, Err(Halt::Source(_) | Halt::Length(_))) && !download.is_stopped() {
        let _ = download.drain();
    }
    let sent = download.into_result()?;
    if !sent.eq_ignore_ascii_case(&packed.sha256) {
        let detail = format!("the packed image has the SHA-256 {sent}, and should have {}", packed.sha256);
        copied = Err(Halt::Stop(Failure::new(Trouble::WrongDigest, detail).into()));
    }
    copied.map_err(stop)
}

fn unpack(download: &mut Download<'_>, disk: &Disk, bytes: u64, progress: &mut Progress<'_>) -> Result<String, Halt> {
    let mut decoder = zstd::stream::read::Decoder::new(download).map_err(Halt::Source)?;
    decoder.window_log_max(WINDOW_LOG_MAX).map_err(Halt::Source)?;
    copy(&mut decoder, disk, bytes, progress)
}

fn fetched(download: Download<'_>, copied: Result<String, Halt>) -> Result<String, Stop> {
    let is_stopped = download.is_stopped();
    match copied {
        Err(Halt::Source(_)) if is_stopped => download.into_result(),
        copied => copied.map_err(stop),
    }
}

/// Why a copy ends early.
enum Halt {
    /// What the image is read from.
    Source(io::Error),
    /// The image is longer or shorter than said.
    Length(String),
    Stop(Stop),
}

fn stop(halt: Halt) -> Stop {
    match halt {
        Halt::Source(error) => Failure::new(Trouble::ImageMisfit, format!("the image cannot be unpacked: {error}")).into(),
        Halt::Length(detail) => Failure::new(Trouble::ImageMisfit, detail).into(),
        Halt::Stop(stop) => stop,
    }
}

/// Copies to the disk what must be exactly so many bytes, and tells their digest. Nothing beyond them is written.
fn copy(from: &mut impl Read, disk: &Disk, bytes: u64, progress: &mut Progress<'_>) -> Result<String, Halt> {
    let mut digest = Sha256::new();
    let mut gap = Gap::default();
    let mut piece = vec![0; PIECE_BYTES];
    let mut done = 0;
    loop {
        let read = fill(from, &mut piece).map_err(Halt::Source)?;
        if read as u64 > bytes - done {
            return Err(Halt::Length(format!("the image is longer than {bytes} bytes")));
        }
        digest.update(&piece[..read]);
        gap.write(disk, done, &piece[..read]).map_err(|error| not_written(disk, &error))?;
        done += read as u64;
        if read < PIECE_BYTES {
            break;
        }
        if done % UNSETTLED_MAX < PIECE_BYTES as u64 {
            gap.close(disk).and_then(|()| disk.sync()).map_err(|error| not_written(disk, &error))?;
        }
        progress.reach(done * WRITTEN_PERCENT / bytes.max(1)).map_err(Halt::Stop)?;
    }
    gap.close(disk).map_err(|error| not_written(disk, &error))?;
    if done < bytes {
        return Err(Halt::Length(format!("the image has {done} bytes, and should have {bytes}")));
    }
    Ok(hex(&digest.finalize()))
}

fn not_written(disk: &Disk, error: &io::Error) -> Halt {
    Halt::Stop(disk_failed("writing to", disk, error))
}

fn fill(from: &mut impl Read, piece: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match from.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Zeros that have been seen and not been written yet: a disk makes many at once faster than it takes them.
#[derive(Default)]
struct Gap {
    at: u64,
    length: u64,
}

impl Gap {
    fn write(&mut self, disk: &Disk, at: u64, bytes: &[u8]) -> io::Result<()> {
        for (number, grain) in bytes.chunks(GRAIN_BYTES).enumerate() {
            let at = at + (number * GRAIN_BYTES) as u64;
            if grain.iter().all(|byte| *byte == 0) {
                self.at = if self.length == 0 { at } else { self.at };
                self.length += grain.len() as u64;
            } else {
                self.close(disk)?;
                disk.write(at, grain)?;
            }
        }
        Ok(())
    }

    fn close(&mut self, disk: &Disk) -> io::Result<()> {
        let Gap { at, length } = std::mem::take(self);
        if length == 0 { Ok(()) } else { disk.zero(at, length) }
    }
}

fn digest_of_disk(disk: &Disk, bytes: u64, progress: &mut Progress<'_>) -> Result<String, Stop> {
    let mut digest = Sha256::new();
    let mut done = 0;
    let mut over = None;
    let read = disk.read_back(0, bytes, |piece| {
        digest.update(piece);
        done += piece.len() as u64;
        let percent = WRITTEN_PERCENT + done * (100 - WRITTEN_PERCENT) / bytes.max(1);
        progress.reach(percent).map_err(|stop| {
            over = Some(stop);
            io::Error::other("the attempt is over")
        })
    });
    match (read, over) {
        (_, Some(stop)) => Err(stop),
        (Err(error), None) => Err(disk_failed("reading back from", disk, &error)),
        (Ok(()), None) => Ok(hex(&digest.finalize())),
    }
}

/// The disk does not do what it is asked.
pub fn disk_failed(doing: &str, disk: &impl fmt::Display, error: &io::Error) -> Stop {
    Failure::new(Trouble::DiskFailed, format!("{doing} {disk}: {error}")).into()
}
