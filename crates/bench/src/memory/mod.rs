//! Memory of the control plane alone: how it grows with the machines of its sites (`growth`), and that it does not grow with
//! what happens to them (`churn`). The simulator is another process, reached over sockets.

mod churn;
mod growth;
mod stand;

use crate::figure::Bench;

pub const GROWTH: Bench = Bench { name: "memory", what: "memory of the control plane, from 4 machines to 8,192", measure: growth::measure };

pub const CHURN: Bench =
    Bench { name: "churn", what: "memory over hours in which machines are restarted again and again", measure: churn::measure };
