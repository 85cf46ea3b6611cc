//! `start`, `stop` and `restart` of a virtual machine, as KubeVirt's API answers them.

use serde_json::{Value, json};

use crate::objects::{ObjectError, ObjectKey, VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES};
use crate::site::World;
use crate::time::Instant;
use crate::virt::instance;
use crate::virt::vm::RunStrategy;

/// What a client asks of a virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VmAction {
    Start,
    /// With the seconds that the guest is given, if the client says.
    Stop {
        grace_seconds: Option<i64>,
    },
    Restart,
}

/// Why an action was not taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VmRefusal {
    Object(ObjectError),
    /// It does not go together with what the virtual machine does now.
    Conflict(String),
}

impl World {
    /// An action on a virtual machine through KubeVirt's API.
    pub fn act_on_vm(&mut self, key: &ObjectKey, action: VmAction, now: Instant) -> Result<(), VmRefusal> {
        self.advance(now);
        let at = self.now();
        let vm = self.objects().get(&VIRTUAL_MACHINES, key).cloned().ok_or(VmRefusal::Object(ObjectError::NotFound))?;
        let instance = self.objects().get(&VIRTUAL_MACHINE_INSTANCES, key).cloned();
        let Written { vm, instance } = decide(&vm, instance.as_deref(), action).map_err(VmRefusal::Conflict)?;
        if let Some(instance) = instance {
            self.virt_write(&VIRTUAL_MACHINE_INSTANCES, key, at, |_| instance);
        }
        self.virt_write(&VIRTUAL_MACHINES, key, at, |_| vm);
        self.virt_settle(at);
        Ok(())
    }
}

/// What is to be written for an action that is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub vm: Value,
    /// The instance, if its time to end has changed.
    pub instance: Option<Value>,
}

/// What an action makes of the documents, or the words with which it is refused as a conflict.
pub(crate) fn decide(vm: &Value, instance: Option<&Value>, action: VmAction) -> Result<Written, String> {
    let strategy = RunStrategy::of(vm);
    let running = instance.filter(|instance| !instance::is_final(instance));
    match action {
        VmAction::Start => start(vm, instance, running, strategy),
        VmAction::Stop { grace_seconds } => stop(vm, running, strategy, grace_seconds),
        VmAction::Restart if strategy == RunStrategy::Halted => Err("Halted does not support manual restart requests".to_owned()),
        VmAction::Restart => match running {
            None => Err("VM is not running".to_owned()),
            Some(running) => {
                let stop = json!({"action": "Stop", "uid": running["metadata"]["uid"]});
                Ok(Written { vm: with_requests(vm, json!([stop, {"action": "Start"}])), instance: None })
            }
        },
    }
}

fn start(vm: &Value, instance: Option<&Value>, running: Option<&Value>, strategy: RunStrategy) -> Result<Written, String> {
    if running.is_some() {
        return Err("VM is already running".to_owned());
    }
    match strategy {
        RunStrategy::Halted => Ok(Written { vm: with_strategy(vm, RunStrategy::Always), instance: None }),
        RunStrategy::Manual | RunStrategy::RerunOnFailure => {
            let mut requests = Vec::new();
            if let Some(ended) = instance {
                requests.push(json!({"action": "Stop", "uid": ended["metadata"]["uid"]}));
            }
            requests.push(json!({"action": "Start"}));
            Ok(Written { vm: with_requests(vm, Value::Array(requests)), instance: None })
        }
        RunStrategy::Always | RunStrategy::Once => Err(format!("{} does not support manual start requests", strategy.name())),
    }
}

fn stop(vm: &Value, running: Option<&Value>, strategy: RunStrategy, grace_seconds: Option<i64>) -> Result<Written, String> {
    let shorter = |running: &Value, seconds: i64| {
        let mut instance = running.clone();
        instance["spec"]["terminationGracePeriodSeconds"] = json!(seconds);
        instance
    };
    let hurried = grace_seconds.zip(running).map(|(seconds, running)| shorter(running, seconds));
    match (strategy, running) {
        (RunStrategy::Always | RunStrategy::Once, _) => Ok(Written { vm: with_strategy(vm, RunStrategy::Halted), instance: hurried }),
        (_, None) => Err("VM is not running".to_owned()),
        (RunStrategy::Halted, Some(running)) if grace_seconds.is_none_or(|seconds| seconds >= instance::grace_seconds(running)) => {
            Err("Halted only supports manual stop requests with a shorter graceperiod".to_owned())
        }
        (_, Some(running)) => {
            let stop = json!([{"action": "Stop", "uid": running["metadata"]["uid"]}]);
            Ok(Written { vm: with_requests(vm, stop), instance: hurried })
        }
    }
}

fn with_strategy(vm: &Value, strategy: RunStrategy) -> Value {
    let mut new = vm.clone();
    if vm["spec"]["runStrategy"].is_null() {
        new["spec"]["running"] = json!(strategy == RunStrategy::Always);
    } else {
        new["spec"]["runStrategy"] = json!(strategy.name());
    }
    new
}

fn with_requests(vm: &Value, requests: Value) -> Value {
    let mut new = vm.clone();
    new["status"]["stateChangeRequests"] = requests;
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(strategy: &str) -> Value {
        json!({"metadata": {"name": "web"}, "spec": {"runStrategy": strategy}, "status": {}})
    }

    fn running() -> Value {
        json!({"metadata": {"name": "web", "uid": "u1"}, "spec": {"terminationGracePeriodSeconds": 180}, "status": {"phase": "Running"}})
    }

    fn strategy_after(written: Result<Written, String>) -> String {
        written.map_or_else(|refused| refused, |written| written.vm["spec"]["runStrategy"].as_str().unwrap().to_owned())
    }

    const STOP: VmAction = VmAction::Stop { grace_seconds: None };
    const FORCE: VmAction = VmAction::Stop { grace_seconds: Some(0) };

    #[test]
    fn start_and_stop_turn_always_and_halted_into_each_other() {
        assert_eq!(strategy_after(decide(&vm("Halted"), None, VmAction::Start)), "Always");
        assert_eq!(strategy_after(decide(&vm("Always"), Some(&running()), STOP)), "Halted");
        assert_eq!(strategy_after(decide(&vm("Always"), Some(&running()), VmAction::Start)), "VM is already running");
        assert_eq!(strategy_after(decide(&vm("Halted"), None, STOP)), "VM is not running");
        assert_eq!(strategy_after(decide(&vm("Halted"), None, VmAction::Restart)), "Halted does not support manual restart requests");
    }

    #[test]
    fn a_stop_under_way_can_only_be_hurried() {
        let refused = decide(&vm("Halted"), Some(&running()), STOP);
        assert_eq!(strategy_after(refused), "Halted only supports manual stop requests with a shorter graceperiod");
        let hurried = decide(&vm("Halted"), Some(&running()), FORCE).unwrap();
        assert_eq!(hurried.instance.unwrap()["spec"]["terminationGracePeriodSeconds"], 0);
    }

    #[test]
    fn a_manual_one_keeps_its_strategy_and_gets_a_request() {
        let written = decide(&vm("Manual"), None, VmAction::Start).unwrap();
        assert_eq!(written.vm["spec"]["runStrategy"], "Manual");
        assert_eq!(written.vm["status"]["stateChangeRequests"], json!([{"action": "Start"}]));
        let written = decide(&vm("Manual"), Some(&running()), STOP).unwrap();
        assert_eq!(written.vm["status"]["stateChangeRequests"], json!([{"action": "Stop", "uid": "u1"}]));
        let written = decide(&vm("Always"), Some(&running()), VmAction::Restart).unwrap();
        assert_eq!(written.vm["status"]["stateChangeRequests"], json!([{"action": "Stop", "uid": "u1"}, {"action": "Start"}]));
    }

    #[test]
    fn the_older_way_to_say_it_is_kept() {
        let old = json!({"metadata": {"name": "web"}, "spec": {"running": true}});
        let written = decide(&old, Some(&running()), STOP).unwrap();
        assert_eq!(written.vm["spec"], json!({"running": false}));
    }
}
