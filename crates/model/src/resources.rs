//! Amounts of what a node has and a pod or a virtual machine needs.

use std::fmt;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Processor time and memory, as Kubernetes counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Amount {
    /// Thousandths of a core.
    pub cpu_millis: u64,
    pub memory_bytes: u64,
}

impl Amount {
    pub fn fits_into(self, room: Amount) -> bool {
        self.cpu_millis <= room.cpu_millis && self.memory_bytes <= room.memory_bytes
    }

    /// What is left, and nothing where there is less.
    #[must_use]
    pub fn less(self, taken: Amount) -> Amount {
        Amount {
            cpu_millis: self.cpu_millis.saturating_sub(taken.cpu_millis),
            memory_bytes: self.memory_bytes.saturating_sub(taken.memory_bytes),
        }
    }
}

impl Add for Amount {
    type Output = Amount;
    fn add(self, other: Amount) -> Amount {
        Amount {
            cpu_millis: self.cpu_millis.saturating_add(other.cpu_millis),
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
        }
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Amount) {
        *self = *self + other;
    }
}

/// `2 CPU, 512 MiB`: without what it has none of.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpu = match (self.cpu_millis / 1_000, self.cpu_millis % 1_000) {
            (0, 0) => None,
            (cores, 0) => Some(format!("{cores} CPU")),
            _ => Some(format!("{}m CPU", self.cpu_millis)),
        };
        let memory = (self.memory_bytes > 0).then(|| memory_text(self.memory_bytes));
        match (cpu, memory) {
            (None, None) => f.write_str("nothing"),
            (Some(one), None) | (None, Some(one)) => f.write_str(&one),
            (Some(cpu), Some(memory)) => write!(f, "{cpu}, {memory}"),
        }
    }
}

fn memory_text(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    if bytes >= GIB && bytes.is_multiple_of(GIB) {
        format!("{} GiB", bytes / GIB)
    } else if bytes >= MIB {
        format!("{} MiB", bytes.div_ceil(MIB))
    } else {
        format!("{bytes} bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_said_without_what_it_has_none_of() {
        let say = |cpu_millis, memory_bytes| Amount { cpu_millis, memory_bytes }.to_string();
        assert_eq!(say(2_000, 512 << 20), "2 CPU, 512 MiB");
        assert_eq!(say(250, 0), "250m CPU");
        assert_eq!(say(0, 3 << 30), "3 GiB");
        assert_eq!(say(0, 0), "nothing");
    }
}
