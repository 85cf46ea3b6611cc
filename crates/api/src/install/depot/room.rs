//! Which images go so that another one fits.

/// What lies in the directory and is not just coming.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub name: String,
    pub bytes: u64,
    /// Somebody needs it.
    pub is_spared: bool,
}

/// There is not enough that may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoRoom {
    /// What would have to fit beside the new one.
    pub taken: u64,
}

/// What goes, of `items` with the one first that was not asked for longest, so that no more than `limit` bytes are taken; `wanted` are
/// those of the new one, and `coming` those of others that are on their way. If that does not help nothing goes.
pub(super) fn what_goes(items: &[Item], wanted: u64, coming: u64, limit: u64) -> Result<Vec<&Item>, NoRoom> {
    let spared: u64 = items.iter().filter(|item| item.is_spared).map(|item| item.bytes).sum();
    let taken = spared + coming;
    if taken + wanted > limit {
        return Err(NoRoom { taken });
    }
    let mut total = taken + wanted + items.iter().filter(|item| !item.is_spared).map(|item| item.bytes).sum::<u64>();
    let mut goes = Vec::new();
    for item in items.iter().filter(|item| !item.is_spared) {
        if total <= limit {
            break;
        }
        total -= item.bytes;
        goes.push(item);
    }
    Ok(goes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(sizes: &[(u64, bool)]) -> Vec<Item> {
        let item =
            |(number, (bytes, is_spared)): (usize, &(u64, bool))| Item { name: number.to_string(), bytes: *bytes, is_spared: *is_spared };
        sizes.iter().enumerate().map(item).collect()
    }

    fn goes(sizes: &[(u64, bool)], wanted: u64, coming: u64) -> Result<Vec<String>, u64> {
        let items = items(sizes);
        let goes = what_goes(&items, wanted, coming, 100).map_err(|no_room| no_room.taken)?;
        Ok(goes.into_iter().map(|item| item.name.clone()).collect())
    }

    #[test]
    fn the_oldest_go_and_no_more_than_must() {
        assert_eq!(goes(&[(40, false), (40, false)], 20, 0), Ok(vec![]));
        assert_eq!(goes(&[(40, false), (40, false)], 21, 0), Ok(vec!["0".to_owned()]));
        assert_eq!(goes(&[(40, false), (40, false)], 70, 0), Ok(vec!["0".to_owned(), "1".to_owned()]));
        assert_eq!(goes(&[(40, true), (40, false)], 30, 0), Ok(vec!["1".to_owned()]));
        assert_eq!(goes(&[(40, false)], 30, 60), Ok(vec!["0".to_owned()]), "those that are coming have their place");
    }

    #[test]
    fn what_is_needed_stays_and_nothing_goes_in_vain() {
        assert_eq!(goes(&[(60, true), (30, false)], 50, 0), Err(60));
        assert_eq!(goes(&[(30, false)], 50, 60), Err(60));
        assert_eq!(goes(&[], 101, 0), Err(0));
    }
}
