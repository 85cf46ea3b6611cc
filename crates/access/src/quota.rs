//! Quotas: how much of a thing a subscription may have.
//!
//! Whoever asks counts what there is; here is decided whether more fits. What is there already is never taken away: a limit that is set
//! below it only keeps more from coming.

use serde::{Deserialize, Serialize};

/// The highest limit that can be set: more than any site has, and sums of it cannot overflow.
pub const LIMIT_MAX: u64 = 1_000_000_000;

/// The limits of a subscription. What is `None` has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quota {
    pub subscription: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_machines: Option<u64>,
    /// Networks that virtual machines are attached to. One counts once, however many are in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub networks: Option<u64>,
}

/// How much of each thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    pub cores: u64,
    pub virtual_machines: u64,
    pub networks: u64,
}

/// More than a limit allows. The words are Azure's, because people and programs look for them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Operation results in exceeding quota limits of {what}. Maximum allowed: {limit}, Current in use: {used}, Additional requested: {asked}"
)]
pub struct Exceeded {
    /// `Core`, `VirtualMachine` or `Network`.
    pub what: &'static str,
    pub limit: u64,
    pub used: u64,
    pub asked: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a limit is at most {LIMIT_MAX}")]
pub struct InvalidQuota;

impl Quota {
    /// Nothing more of anything.
    pub fn nothing(subscription: &str) -> Quota {
        Quota { subscription: subscription.to_owned(), cores: Some(0), virtual_machines: Some(0), networks: Some(0) }
    }

    pub fn check(&self) -> Result<(), InvalidQuota> {
        let is_fine = [self.cores, self.virtual_machines, self.networks].into_iter().flatten().all(|limit| limit <= LIMIT_MAX);
        if is_fine { Ok(()) } else { Err(InvalidQuota) }
    }

    /// Whether what is asked for fits beside what is in use. Who asks for nothing of a thing is not held up by its limit.
    pub fn admit(&self, used: Amounts, asked: Amounts) -> Result<(), Exceeded> {
        let rows = [
            ("VirtualMachine", self.virtual_machines, used.virtual_machines, asked.virtual_machines),
            ("Core", self.cores, used.cores, asked.cores),
            ("Network", self.networks, used.networks, asked.networks),
        ];
        for (what, limit, used, asked) in rows {
            if let Some(limit) = limit.filter(|limit| asked > 0 && used.saturating_add(asked) > *limit) {
                return Err(Exceeded { what, limit, used, asked });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(virtual_machines: u64, cores: u64) -> Amounts {
        Amounts { cores, virtual_machines, networks: 0 }
    }

    #[test]
    fn what_fits_is_admitted_and_what_does_not_is_told_with_the_numbers() {
        let quota = Quota { subscription: "s".into(), cores: Some(8), virtual_machines: Some(2), networks: Some(0) };
        let table = [
            (amounts(0, 0), amounts(1, 8), None),
            (amounts(1, 4), amounts(1, 4), None),
            (amounts(1, 4), amounts(1, 5), Some("Core. Maximum allowed: 8, Current in use: 4, Additional requested: 5")),
            (amounts(2, 2), amounts(1, 1), Some("VirtualMachine. Maximum allowed: 2, Current in use: 2, Additional requested: 1")),
            // Whoever has more than a limit that came later may stay as they are.
            (amounts(5, 40), amounts(0, 0), None),
            (
                amounts(0, u64::MAX),
                amounts(0, 1),
                Some("Core. Maximum allowed: 8, Current in use: 18446744073709551615, Additional requested: 1"),
            ),
        ];
        for (used, asked, expected) in table {
            let said = quota.admit(used, asked).err().map(|exceeded| exceeded.to_string());
            assert_eq!(said, expected.map(|rest| format!("Operation results in exceeding quota limits of {rest}")));
        }
        assert_eq!(Quota::default().admit(amounts(9, 99), amounts(9, 99)), Ok(()), "without limits everything fits");
        let network = Amounts { networks: 1, ..Amounts::default() };
        assert_eq!(quota.admit(Amounts::default(), network).unwrap_err().what, "Network");
    }

    #[test]
    fn a_limit_has_a_limit() {
        let with = |cores| Quota { subscription: "s".into(), cores: Some(cores), ..Quota::default() };
        assert_eq!(with(LIMIT_MAX).check(), Ok(()));
        assert_eq!(with(LIMIT_MAX + 1).check(), Err(InvalidQuota));
        assert_eq!(serde_json::to_value(with(3)).unwrap(), serde_json::json!({ "subscription": "s", "cores": 3 }));
    }
}
