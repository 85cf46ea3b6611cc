//! What a disk must be after an installation: the image, but for the partition that the seed was put into.

use std::fs;
use std::path::Path;

const SECTOR: usize = 512;

/// The first and the one-past-last byte of the partition with a name, by the GPT of an image.
fn partition(image: &[u8], name: &str) -> (usize, usize) {
    let number = |at: usize| usize::try_from(u64::from_le_bytes(image[at..at + 8].try_into().expect("eight bytes"))).expect("it fits");
    let wanted: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).chain([0, 0]).collect();
    let entry = (0..128).map(|index| 2 * SECTOR + index * 128).find(|at| image[at + 56..].starts_with(&wanted)).expect("it is there");
    (number(entry + 32) * SECTOR, (number(entry + 40) + 1) * SECTOR)
}

/// Where a disk differs from the image that was written to it, beyond the seed.
pub fn differs_at(image: &Path, disk: &Path) -> Option<usize> {
    let (image, disk) = (fs::read(image).expect("the image is there"), fs::read(disk).expect("the disk is there"));
    let (from, to) = partition(&image, "cidata");
    (0..image.len()).find(|at| !(from..to).contains(at) && image[*at] != disk[*at])
}

/// Whether the partition for the seed has a filesystem with a label and the two files.
pub fn has_seed(image: &Path, disk: &Path) -> bool {
    let (image, disk) = (fs::read(image).expect("the image is there"), fs::read(disk).expect("the disk is there"));
    let (from, to) = partition(&image, "cidata");
    let seed = &disk[from..to];
    let has = |text: &[u8]| seed.windows(text.len()).any(|window| window == text);
    has(b"CIDATA") && has(b"#!/bin/sh") && has(b"instance-id")
}
