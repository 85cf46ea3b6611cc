//! Which single failure would still take a site's control plane away, or leave it without a reserve.
//!
//! It judges a description; where members should stand is said by the tables of rack resiliency.

use std::collections::BTreeMap;
use std::fmt;

use model::{MachineName, RackName, Role, Site, SiteMachine, Standing};

/// A weakness of where the control plane stands. Said, never refused: a small site cannot do better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Weakness {
    NoControlPlane,
    /// As many members as a majority needs: each one's failure ends it.
    EachMember {
        members: Vec<MachineName>,
    },
    /// More members in one rack than may fail.
    Rack {
        rack: RackName,
        members: usize,
        of: usize,
    },
    /// Nothing replaces a member that fails until a person does.
    NoSpare,
}

impl fmt::Display for Weakness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weakness::NoControlPlane => f.write_str("no control-plane machine is described: nothing here serves the undercloud's API"),
            Weakness::EachMember { members } => match &members[..] {
                [only] => write!(f, "the failure of `{only}` alone takes the control plane away: it is the only member"),
                members => {
                    let names: Vec<String> = members.iter().map(|name| format!("`{name}`")).collect();
                    write!(
                        f,
                        "the failure of {} alone takes the control plane away: {} members tolerate none",
                        names.join(" or "),
                        members.len()
                    )
                }
            },
            Weakness::Rack { rack, members, of } => {
                write!(f, "the failure of rack `{rack}` alone takes the control plane away: {members} of its {of} members stand there")
            }
            Weakness::NoSpare => {
                f.write_str("there is no spare: a control-plane machine that fails is not replaced until a person does it")
            }
        }
    }
}

/// The weaknesses of a described control plane, the worst first.
pub fn weaknesses(site: &Site) -> Vec<Weakness> {
    let control_plane =
        |standing: Standing| site.machines.iter().filter(move |machine| machine.role == Role::ControlPlane && machine.standing == standing);
    let members: Vec<&SiteMachine> = control_plane(Standing::Provisioned).collect();
    if members.is_empty() {
        return vec![Weakness::NoControlPlane];
    }
    let tolerated = (members.len() - 1) / 2;
    let mut found = Vec::new();
    if tolerated == 0 {
        found.push(Weakness::EachMember { members: members.iter().map(|machine| machine.name.clone()).collect() });
    } else {
        let mut racks: BTreeMap<&RackName, usize> = BTreeMap::new();
        for machine in &members {
            *racks.entry(&machine.hardware.rack).or_default() += 1;
        }
        let weak = racks.into_iter().filter(|(_, count)| *count > tolerated);
        found.extend(weak.map(|(rack, count)| Weakness::Rack { rack: rack.clone(), members: count, of: members.len() }));
    }
    if control_plane(Standing::Spare).next().is_none() {
        found.push(Weakness::NoSpare);
    }
    found
}
