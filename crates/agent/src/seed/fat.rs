//! A FAT filesystem with a few small files in its root, made at once and never changed: FAT12, one block a cluster.
//!
//! FAT12 holds up to 4,084 clusters, so the filesystem may be smaller than its partition; nothing minds that.

/// What the filesystem is called. cloud-init looks for it.
const LABEL: &[u8; 11] = b"CIDATA     ";

/// Fewer clusters than where FAT16 begins, with a margin, since tools differ by some in where they see it.
const CLUSTERS_MAX: usize = 4_000;

const ROOT_ENTRIES: usize = 128;
const ENTRY_BYTES: usize = 32;
const FATS: usize = 2;
const RESERVED_BLOCKS: usize = 1;
/// The first two clusters have no data.
const FIRST_CLUSTER: usize = 2;

const MEDIA: u8 = 0xf8;
const END_OF_FILE: u16 = 0xfff;
const IS_LABEL: u8 = 0x08;
const IS_LONG_NAME: u8 = 0x0f;
const IS_FILE: u8 = 0x20;
/// A long name has this many letters in one entry.
const LONG_NAME_LETTERS: usize = 13;
/// The first of January 1980, which is where FAT's time begins.
const DATE: u16 = 0x0021;

/// The filesystem for a place of so many bytes on a disk with such blocks: its first bytes, as far as there is something in them.
/// Nothing if the files do not fit.
pub(super) fn format(bytes: u64, block: u64, files: &[(&str, &[u8])]) -> Option<Vec<u8>> {
    let block = usize::try_from(block).ok()?;
    let shape = Shape::within(usize::try_from(bytes / block as u64).unwrap_or(usize::MAX), block)?;
    let mut filesystem = vec![0; shape.data_at()];
    filesystem[..512].copy_from_slice(&shape.boot_sector());
    let mut table = vec![0xf00 | u16::from(MEDIA), END_OF_FILE];
    let mut root = entry(LABEL, IS_LABEL, 0, 0).to_vec();
    for (name, content) in files {
        let clusters = content.len().div_ceil(block);
        let first = if clusters == 0 { 0 } else { table.len() };
        root.extend(named_entry(name, root.len() / ENTRY_BYTES, u16::try_from(first).ok()?, u32::try_from(content.len()).ok()?)?);
        for number in 1..=clusters {
            table.push(if number == clusters { END_OF_FILE } else { u16::try_from(table.len() + 1).ok()? });
        }
        filesystem.extend_from_slice(content);
        filesystem.resize(filesystem.len().next_multiple_of(block), 0);
    }
    if table.len() > shape.clusters + FIRST_CLUSTER || root.len() > ROOT_ENTRIES * ENTRY_BYTES {
        return None;
    }
    let packed = pack(&table);
    for number in 0..FATS {
        let at = (RESERVED_BLOCKS + number * shape.fat_blocks) * block;
        filesystem[at..at + packed.len()].copy_from_slice(&packed);
    }
    let root_at = (RESERVED_BLOCKS + FATS * shape.fat_blocks) * block;
    filesystem[root_at..root_at + root.len()].copy_from_slice(&root);
    Some(filesystem)
}

/// How a filesystem is divided, in blocks.
struct Shape {
    block: usize,
    clusters: usize,
    fat_blocks: usize,
}

impl Shape {
    fn within(blocks: usize, block: usize) -> Option<Shape> {
        let root_blocks = ROOT_ENTRIES * ENTRY_BYTES / block;
        let of = |clusters: usize| Shape { block, clusters, fat_blocks: ((clusters + FIRST_CLUSTER) * 3).div_ceil(2 * block) };
        let most = of(blocks.min(CLUSTERS_MAX));
        let room = blocks.checked_sub(RESERVED_BLOCKS + FATS * most.fat_blocks + root_blocks)?;
        // The tables stay as large as they would be for more clusters, which does no harm.
        (block.is_power_of_two() && (512..=4_096).contains(&block) && room > 0)
            .then_some(Shape { clusters: room.min(CLUSTERS_MAX), ..most })
    }

    fn data_at(&self) -> usize {
        (RESERVED_BLOCKS + FATS * self.fat_blocks) * self.block + ROOT_ENTRIES * ENTRY_BYTES
    }

    fn boot_sector(&self) -> [u8; 512] {
        let mut sector = [0; 512];
        let mut put = |at: usize, bytes: &[u8]| sector[at..at + bytes.len()].copy_from_slice(bytes);
        let blocks = self.data_at() / self.block + self.clusters;
        put(0, &[0xeb, 0x3c, 0x90]);
        put(3, b"RACKWRGT");
        put(11, &(self.block as u16).to_le_bytes());
        put(13, &[1]);
        put(14, &(RESERVED_BLOCKS as u16).to_le_bytes());
        put(16, &[FATS as u8]);
        put(17, &(ROOT_ENTRIES as u16).to_le_bytes());
        put(19, &(blocks as u16).to_le_bytes());
        put(21, &[MEDIA]);
        put(22, &(self.fat_blocks as u16).to_le_bytes());
        // Sectors of a track and heads, which nobody uses any more and some check.
        put(24, &32_u16.to_le_bytes());
        put(26, &2_u16.to_le_bytes());
        put(36, &[0x80, 0, 0x29]);
        put(39, b"RWC1");
        put(43, LABEL);
        put(54, b"FAT12   ");
        put(510, &[0x55, 0xaa]);
        sector
    }
}

/// Twelve bits for each cluster.
fn pack(table: &[u16]) -> Vec<u8> {
    let pair = |pair: &[u16]| {
        let (one, two) = (pair[0], pair.get(1).copied().unwrap_or(0));
        [one as u8, (one >> 8) as u8 | (two << 4) as u8, (two >> 4) as u8]
    };
    table.chunks(2).flat_map(pair).collect()
}

fn entry(name: &[u8; 11], kind: u8, first: u16, bytes: u32) -> [u8; ENTRY_BYTES] {
    let mut entry = [0; ENTRY_BYTES];
    entry[..11].copy_from_slice(name);
    entry[11] = kind;
    for at in [16, 18, 24] {
        entry[at..at + 2].copy_from_slice(&DATE.to_le_bytes());
    }
    entry[26..28].copy_from_slice(&first.to_le_bytes());
    entry[28..].copy_from_slice(&bytes.to_le_bytes());
    entry
}

/// A file's entries: its name as it is, and a short one for those who know no other. `number` makes the short one unique.
fn named_entry(name: &str, number: usize, first: u16, bytes: u32) -> Option<Vec<u8>> {
    if !name.is_ascii() || name.len() > LONG_NAME_LETTERS || number > 9 {
        return None;
    }
    let mut short = *b"           ";
    for (place, letter) in short.iter_mut().zip(name.bytes().filter(u8::is_ascii_alphanumeric).take(6)) {
        *place = letter.to_ascii_uppercase();
    }
    short[6..8].copy_from_slice(&[b'~', b'0' + number as u8]);
    let mut long = [0xff; ENTRY_BYTES];
    (long[0], long[11], long[12], long[13]) = (0x41, IS_LONG_NAME, 0, checksum(&short));
    long[26..28].fill(0);
    let places = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30];
    for (place, letter) in places.into_iter().zip(name.bytes().chain([0])) {
        (long[place], long[place + 1]) = (letter, 0);
    }
    Some([long, entry(&short, IS_FILE, first, bytes)].concat())
}

/// What ties a long name to its short one.
fn checksum(short: &[u8; 11]) -> u8 {
    short.iter().fold(0, |sum: u8, letter| sum.rotate_right(1).wrapping_add(*letter))
}
