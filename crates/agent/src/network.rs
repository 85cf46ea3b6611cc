//! Bringing the network up, with the `ip` and `udhcpc` of the busybox that the agent comes with.
//!
//! What is to be run is decided as a list of commands; nothing here gives up, since without a network nobody can be told.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use crate::configuration::Network;
use crate::inventory::{Nic, observe_nics};
use crate::log::Log;

const BUSYBOX: &str = "/bin/busybox";

/// What `udhcpc` runs with the lease that it got.
const LEASE_SCRIPT: &str = "/etc/udhcpc.script";

/// How long to wait for ports that do not answer, before they are tried again.
const TRIED_EVERY: Duration = Duration::from_millis(500);

const LEASES_LOOKED_EVERY: Duration = Duration::from_millis(50);

/// A call of busybox, without its name.
type Call = Vec<String>;

/// Brings the network up, as it is configured or by DHCP, and returns when it is.
pub fn bring_up(root: &Path, wanted: Option<&Network>, log: &Log) {
    let mut told = String::new();
    loop {
        let nics = observe_nics(root);
        for nic in &nics {
            run(&call(&["ip", "link", "set", "dev", &nic.name, "up"]));
        }
        let trouble = match wanted {
            Some(wanted) => set_static(root, wanted, &nics),
            None => ask_for_lease(root),
        };
        match trouble {
            Ok(done) => return log.say(done),
            Err(trouble) if trouble != told => {
                log.say(&trouble);
                told = trouble;
            }
            Err(_) => {}
        }
        std::thread::sleep(TRIED_EVERY);
    }
}

fn set_static(root: &Path, wanted: &Network, nics: &[Nic]) -> Result<String, String> {
    let Some(nic) = nics.iter().find(|nic| nic.mac.eq_ignore_ascii_case(&wanted.mac)) else {
        let there: Vec<String> = nics.iter().map(|nic| format!("{} {}", nic.name, nic.mac)).collect();
        return Err(format!("waiting for a network port with the MAC {}; there are: {}", wanted.mac, there.join(", ")));
    };
    fs::write(root.join("etc/resolv.conf"), resolvers(&wanted.dns)).map_err(|error| format!("/etc/resolv.conf: {error}"))?;
    for call in plan_static(wanted, &nic.name) {
        if !run(&call) {
            return Err(format!("`{}` failed", call.join(" ")));
        }
    }
    if !observe_nics(root).iter().any(|now| now.name == nic.name && now.link) {
        return Err(format!("waiting for a link at {} {}", nic.name, nic.mac));
    }
    Ok(format!("{} has the address {}", nic.name, wanted.address))
}

/// The calls that give a port its address. Each can be repeated.
fn plan_static(wanted: &Network, nic: &str) -> Vec<Call> {
    let mut calls = vec![call(&["ip", "address", "replace", &wanted.address, "dev", nic])];
    if let Some(gateway) = &wanted.gateway {
        calls.push(call(&["ip", "route", "replace", "default", "via", gateway, "dev", nic]));
    }
    calls
}

fn resolvers(dns: &[String]) -> String {
    dns.iter().map(|address| format!("nameserver {address}\n")).collect()
}

fn ask_for_lease(root: &Path) -> Result<String, String> {
    let linked: Vec<Nic> = observe_nics(root).into_iter().filter(|nic| nic.link).collect();
    if linked.is_empty() {
        return Err("waiting for a network port with a link".to_owned());
    }
    // All at once, since nobody knows which of them leads to whom. Those that are answered later get their address later.
    let ask = |nic: &Nic| ["udhcpc", "-i", &nic.name, "-s", LEASE_SCRIPT, "-n", "-q", "-f", "-t", "4", "-T", "2"].map(str::to_owned);
    let begin = |nic: &Nic| Command::new(BUSYBOX).args(ask(nic)).spawn().ok().map(|child| (nic.name.clone(), child));
    let mut asking: Vec<(String, Child)> = linked.iter().filter_map(begin).collect();
    while !asking.is_empty() {
        let mut ended = asking.iter_mut().filter_map(|(nic, child)| Some((nic.clone(), child.try_wait().ok().flatten()?)));
        if let Some((nic, _)) = ended.find(|(_, status)| status.success()) {
            return Ok(format!("{nic} has an address by DHCP"));
        }
        asking.retain_mut(|(_, child)| matches!(child.try_wait(), Ok(None)));
        std::thread::sleep(LEASES_LOOKED_EVERY);
    }
    let asked: Vec<&str> = linked.iter().map(|nic| nic.name.as_str()).collect();
    Err(format!("nobody answers DHCP at {}", asked.join(", ")))
}

fn call(words: &[&str]) -> Call {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn run(call: &Call) -> bool {
    Command::new(BUSYBOX).args(call).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(gateway: Option<&str>) -> Network {
        let (mac, address) = ("52:54:00:12:34:56".to_owned(), "10.0.2.50/24".to_owned());
        Network { mac, address, gateway: gateway.map(str::to_owned), dns: vec!["10.0.2.3".to_owned(), "10.0.2.4".to_owned()] }
    }

    #[test]
    fn a_port_gets_its_address_and_its_way_out() {
        let said = |wanted: &Network| plan_static(wanted, "eth1").iter().map(|call| call.join(" ")).collect::<Vec<_>>();
        assert_eq!(
            said(&network(Some("10.0.2.2"))),
            ["ip address replace 10.0.2.50/24 dev eth1", "ip route replace default via 10.0.2.2 dev eth1"]
        );
        assert_eq!(said(&network(None)), ["ip address replace 10.0.2.50/24 dev eth1"]);
        assert_eq!(resolvers(&network(None).dns), "nameserver 10.0.2.3\nnameserver 10.0.2.4\n");
    }
}
