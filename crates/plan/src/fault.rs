//! What to do about a device's fault: one table.

use model::{Delivery, DeviceAsk, Failure, Fault, FaultClass};

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
        (FaultClass::Unreachable | FaultClass::Busy | FaultClass::Denied | FaultClass::Garbled, _) => match fault.delivery {
            Delivery::No => Reaction::AskAgain,
            Delivery::Maybe => Reaction::LookFirst,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::fmt::Write;

    #[test]
    fn every_fault_has_one_reaction() {
        let classes = [
            FaultClass::Unreachable,
            FaultClass::Busy,
            FaultClass::Denied,
            FaultClass::Unsupported,
            FaultClass::Missing,
            FaultClass::Garbled,
        ];
        let mut table = String::new();
        for class in classes {
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
