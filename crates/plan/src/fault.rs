//! What to do about a device's fault: one table.

use model::{Delivery, DeviceAsk, Failure, Fault, FaultClass, Party};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// It did not reach the device: ask again once the device answers.
    AskAgain,
    /// It may have reached the device: look, and ask again only after the settle time.
    LookFirst,
    /// The device has no gentle way: cut its power.
    Force,
    /// No repetition can help.
    GiveUp(Failure),
}

/// The reaction to a fault that answered a request.
pub fn react(ask: DeviceAsk, fault: &Fault) -> Reaction {
    match (fault.class, ask) {
        (FaultClass::Unsupported, DeviceAsk::GracefulOff) => Reaction::Force,
        (FaultClass::Unsupported, _) => Reaction::GiveUp(Failure::DeviceUnsupported),
        (FaultClass::Missing, _) => Reaction::GiveUp(Failure::DeviceMissing),
        (
            FaultClass::Unreachable
            | FaultClass::Busy
            | FaultClass::Denied
            | FaultClass::Untrusted
            | FaultClass::OtherMachine
            | FaultClass::NoLogin
            | FaultClass::Garbled,
            _,
        ) => match fault.delivery {
            Delivery::No => Reaction::AskAgain,
            Delivery::Maybe => Reaction::LookFirst,
        },
    }
}

/// Whether the fault that answered a request says that the device cannot be used now, rather than that this one request
/// was wrong.
///
/// A BMC has one line, so whatever it says of itself concerns all of it. The undercloud's API serves every node: one
/// patch that it refuses must not make it silent for the whole site, and only the lack of any answer does.
pub fn speaks_of_the_line(ask: DeviceAsk, fault: &Fault) -> bool {
    match ask.party() {
        Party::Bmc => speaks_of_the_bmc(fault),
        Party::Undercloud | Party::Etcd => fault.class == FaultClass::Unreachable,
    }
}

/// The same of what was asked of, or looked for at, a BMC.
pub fn speaks_of_the_bmc(fault: &Fault) -> bool {
    match fault.class {
        FaultClass::Unreachable
        | FaultClass::Busy
        | FaultClass::Denied
        | FaultClass::Untrusted
        | FaultClass::OtherMachine
        | FaultClass::NoLogin
        | FaultClass::Garbled => true,
        FaultClass::Unsupported | FaultClass::Missing => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::fmt::Write;

    const CLASSES: [FaultClass; 9] = [
        FaultClass::Unreachable,
        FaultClass::Busy,
        FaultClass::Denied,
        FaultClass::Untrusted,
        FaultClass::OtherMachine,
        FaultClass::NoLogin,
        FaultClass::Unsupported,
        FaultClass::Missing,
        FaultClass::Garbled,
    ];

    #[test]
    fn a_bmc_speaks_of_itself_and_the_undercloud_of_one_node() {
        let asks = [DeviceAsk::GracefulOff, DeviceAsk::ForceOff, DeviceAsk::PowerOn, DeviceAsk::Cordon, DeviceAsk::Uncordon];
        let mut table = String::new();
        for class in CLASSES {
            let of_line = asks.iter().filter(|ask| speaks_of_the_line(**ask, &Fault::new(class, Delivery::No, "x")));
            let of_line: Vec<String> = of_line.map(ToString::to_string).collect();
            writeln!(table, "{:<11} {}", class.to_string(), of_line.join(", ")).unwrap();
        }
        expect![[r#"
            unreachable graceful shutdown, forced power-off, power-on, cordon, uncordon
            busy        graceful shutdown, forced power-off, power-on
            denied      graceful shutdown, forced power-off, power-on
            untrusted   graceful shutdown, forced power-off, power-on
            another machine graceful shutdown, forced power-off, power-on
            no login    graceful shutdown, forced power-off, power-on
            unsupported 
            missing     
            garbled     graceful shutdown, forced power-off, power-on
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn every_fault_has_one_reaction() {
        let mut table = String::new();
        for class in CLASSES {
            for delivery in [Delivery::No, Delivery::Maybe] {
                for ask in [DeviceAsk::GracefulOff, DeviceAsk::PowerOn] {
                    let reaction = react(ask, &Fault::new(class, delivery, "x"));
                    let (class, delivery, ask) = (class.to_string(), format!("{delivery:?}"), ask.to_string());
                    writeln!(table, "{class:<11} {delivery:<5} {ask:<17} {reaction:?}").unwrap();
                }
            }
        }
        expect![[r#"
            unreachable No    graceful shutdown AskAgain
            unreachable No    power-on          AskAgain
            unreachable Maybe graceful shutdown LookFirst
            unreachable Maybe power-on          LookFirst
            busy        No    graceful shutdown AskAgain
            busy        No    power-on          AskAgain
            busy        Maybe graceful shutdown LookFirst
            busy        Maybe power-on          LookFirst
            denied      No    graceful shutdown AskAgain
            denied      No    power-on          AskAgain
            denied      Maybe graceful shutdown LookFirst
            denied      Maybe power-on          LookFirst
            untrusted   No    graceful shutdown AskAgain
            untrusted   No    power-on          AskAgain
            untrusted   Maybe graceful shutdown LookFirst
            untrusted   Maybe power-on          LookFirst
            another machine No    graceful shutdown AskAgain
            another machine No    power-on          AskAgain
            another machine Maybe graceful shutdown LookFirst
            another machine Maybe power-on          LookFirst
            no login    No    graceful shutdown AskAgain
            no login    No    power-on          AskAgain
            no login    Maybe graceful shutdown LookFirst
            no login    Maybe power-on          LookFirst
            unsupported No    graceful shutdown Force
            unsupported No    power-on          GiveUp(DeviceUnsupported)
            unsupported Maybe graceful shutdown Force
            unsupported Maybe power-on          GiveUp(DeviceUnsupported)
            missing     No    graceful shutdown GiveUp(DeviceMissing)
            missing     No    power-on          GiveUp(DeviceMissing)
            missing     Maybe graceful shutdown GiveUp(DeviceMissing)
            missing     Maybe power-on          GiveUp(DeviceMissing)
            garbled     No    graceful shutdown AskAgain
            garbled     No    power-on          AskAgain
            garbled     Maybe graceful shutdown LookFirst
            garbled     Maybe power-on          LookFirst
        "#]]
        .assert_eq(&table);
    }
}
