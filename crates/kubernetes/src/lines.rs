//! Which of several watches of one API server are cut. While one is, an answer to another does not make what it told fresh.

use crate::watch::Told;

/// Whether what an API server shows is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Every watch goes on.
    Well,
    /// Every watch goes on again, since now.
    WellAgain,
    Cut,
}

/// The watches, by their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lines {
    cut: u8,
}

impl Lines {
    /// Takes in what one of the watches told. There are at most eight.
    pub fn note<S>(&mut self, number: u8, told: &Told<S>) -> Line {
        let bit = 1 << number;
        let was_cut = self.cut != 0;
        match told {
            Told::Lost(_) => self.cut |= bit,
            _ => self.cut &= !bit,
        }
        match (was_cut, self.cut != 0) {
            (_, true) => Line::Cut,
            (true, false) => Line::WellAgain,
            (false, false) => Line::Well,
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Delivery, Fault, FaultClass};

    use super::*;

    #[test]
    fn all_is_well_again_only_when_every_watch_is() {
        let lost = || Told::<()>::Lost(Fault::new(FaultClass::Unreachable, Delivery::No, "x"));
        let mut lines = Lines::default();
        assert_eq!(lines.note(0, &Told::Changed(())), Line::Well);
        assert_eq!(lines.note(0, &lost()), Line::Cut);
        assert_eq!(lines.note(4, &lost()), Line::Cut);
        assert_eq!(lines.note(0, &Told::<()>::Heard), Line::Cut);
        assert_eq!(lines.note(4, &Told::<()>::Listed(Vec::new())), Line::WellAgain);
        assert_eq!(lines.note(0, &Told::<()>::Heard), Line::Well);
    }
}
