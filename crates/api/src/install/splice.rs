//! One image for all machines, and each machine's configuration in it: the image has a reserved area, which is replaced while it
//! is sent. Nothing is built for a machine, and any part of the image can be sent by itself.

use bytes::Bytes;
use memchr::memmem;

/// The line that the reserved area begins with.
pub const MARKER: &str = "RACKWRIGHT-AGENT-CONFIG-v1\n";

/// How long the reserved area is, the marker included.
pub const AREA_BYTES: usize = 16_384;

/// How much of an image is handed on at a time, so that a slow reader holds little.
const PIECE_BYTES: usize = 64 * 1024;

/// An image that a configuration can be put into.
#[derive(Clone)]
pub struct BaseImage {
    bytes: Bytes,
    area_at: usize,
}

/// Why an image takes no configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoArea {
    #[error("it has no area that begins with the line `{}`", MARKER.trim_end())]
    Missing,
    #[error("it has several areas that begin with the line `{}`", MARKER.trim_end())]
    Ambiguous,
    #[error("it ends within the {AREA_BYTES} bytes of its reserved area")]
    CutShort,
}

/// The configuration is too long for the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent's configuration has {bytes} bytes, and there is room for {}", AREA_BYTES - MARKER.len())]
pub struct TooLong {
    bytes: usize,
}

impl BaseImage {
    pub fn new(bytes: Bytes) -> Result<BaseImage, NoArea> {
        let mut places = memmem::find_iter(&bytes, MARKER);
        let area_at = places.next().ok_or(NoArea::Missing)?;
        if places.next().is_some() {
            return Err(NoArea::Ambiguous);
        }
        if bytes.len() - area_at < AREA_BYTES {
            return Err(NoArea::CutShort);
        }
        Ok(BaseImage { bytes, area_at })
    }

    /// The image with this configuration in it.
    pub fn with(&self, configuration: &[u8]) -> Result<Spliced, TooLong> {
        if MARKER.len() + configuration.len() > AREA_BYTES {
            return Err(TooLong { bytes: configuration.len() });
        }
        let mut area = Vec::with_capacity(AREA_BYTES);
        area.extend_from_slice(MARKER.as_bytes());
        area.extend_from_slice(configuration);
        area.resize(AREA_BYTES, b'\n');
        Ok(Spliced { base: self.clone(), area: area.into() })
    }
}

impl std::fmt::Debug for BaseImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BaseImage").field("bytes", &self.bytes.len()).field("area_at", &self.area_at).finish()
    }
}

/// A machine's own image, which exists only as it is sent.
pub struct Spliced {
    base: BaseImage,
    area: Bytes,
}

impl Spliced {
    pub fn len(&self) -> usize {
        self.base.bytes.len()
    }

    /// What lies between two places, in pieces.
    pub fn pieces(self, from: usize, to: usize) -> impl Iterator<Item = Bytes> + Send + 'static {
        let BaseImage { bytes, area_at } = self.base;
        let area_end = area_at + AREA_BYTES;
        let mut at = from;
        std::iter::from_fn(move || {
            if at >= to {
                return None;
            }
            let piece = if (area_at..area_end).contains(&at) {
                self.area.slice(at - area_at..to.min(area_end) - area_at)
            } else {
                let end = if at < area_at { to.min(area_at) } else { to };
                bytes.slice(at..end.min(at + PIECE_BYTES))
            };
            at += piece.len();
            Some(piece)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn image(before: usize, after: usize) -> Bytes {
        let mut bytes: Vec<u8> = (0..before).map(|n| (n % 251) as u8).collect();
        bytes.extend_from_slice(MARKER.as_bytes());
        bytes.resize(before + AREA_BYTES, b'.');
        bytes.extend((0..after).map(|n| (n % 241) as u8));
        bytes.into()
    }

    fn all(spliced: Spliced, from: usize, to: usize) -> Vec<u8> {
        spliced.pieces(from, to).flatten().collect()
    }

    #[test]
    fn the_configuration_stands_in_the_area_and_nothing_else_changes() {
        let base = BaseImage::new(image(1_000, 100_000)).unwrap();
        let whole = base.with(b"{\"a\":1}").unwrap();
        let length = whole.len();
        let sent = all(whole, 0, length);
        let plain = image(1_000, 100_000);
        assert_eq!(sent.len(), plain.len());
        assert_eq!(sent[..1_000], plain[..1_000]);
        assert_eq!(sent[1_000 + AREA_BYTES..], plain[1_000 + AREA_BYTES..]);
        let area = std::str::from_utf8(&sent[1_000..1_000 + AREA_BYTES]).unwrap();
        assert_eq!(area.trim_end_matches('\n'), format!("{MARKER}{{\"a\":1}}"));
    }

    #[test]
    fn an_image_without_one_whole_area_is_refused() {
        assert_eq!(BaseImage::new(Bytes::from_static(b"no such thing")).unwrap_err(), NoArea::Missing);
        let short = image(10, 0).slice(..AREA_BYTES);
        assert_eq!(BaseImage::new(short).unwrap_err(), NoArea::CutShort);
        let twice = [image(0, 0), image(0, 0)].concat();
        assert_eq!(BaseImage::new(twice.into()).unwrap_err(), NoArea::Ambiguous);
    }

    #[test]
    fn a_configuration_that_does_not_fit_is_refused() {
        let base = BaseImage::new(image(0, 0)).unwrap();
        assert!(base.with(&vec![b'x'; AREA_BYTES - MARKER.len()]).is_ok());
        assert!(base.with(&vec![b'x'; AREA_BYTES - MARKER.len() + 1]).is_err());
    }

    proptest! {
        #[test]
        fn any_part_is_that_part_of_the_whole(before in 0_usize..3_000, after in 0_usize..200_000, a in 0.0..1.0_f64, b in 0.0..1.0_f64) {
            let base = BaseImage::new(image(before, after)).unwrap();
            let length = base.with(b"{}").unwrap().len();
            let place = |part: f64| (part * length as f64) as usize;
            let (from, to) = (place(a.min(b)), place(a.max(b)));
            let whole = all(base.with(b"{}").unwrap(), 0, length);
            prop_assert_eq!(all(base.with(b"{}").unwrap(), from, to), &whole[from..to]);
        }
    }
}
