use model::{
    Action, Ended, Machine, OPERATION_FORMAT, Operation, OperationId, OperationResult, Power, Replaced, Replacement, Safeguard, Seen,
    StoragePolicy, Target,
};
use plan::Changes;

use super::super::stand::{Stand, new_login};
use super::*;
use crate::books::tests::name;

/// A replace by a machine with another serial number and another login.
fn replace(ended: Option<OperationResult>) -> Operation {
    let at = model::Timestamp::from_millis(1_000_000);
    Operation {
        format: OPERATION_FORMAT,
        id: OperationId::new("op1"),
        cluster: model::ClusterName::new("site1").unwrap(),
        target: Target::Machine(name(1)),
        action: Action::Replace { storage: StoragePolicy::DiscardAll, safeguard: Safeguard::All },
        caller: "alice".to_owned(),
        correlation_id: model::CorrelationId::new("c"),
        request_key: None,
        accepted_at: at,
        deadline_at: at,
        journal: Vec::new(),
        cancel: None,
        ended: ended.map(|result| Ended { at, result, message: String::new(), next: None, failure: None }),
        wait: None,
        replacement: Some(Box::new(Replacement {
            serial_number: Some("S9".to_owned()),
            credentials: Some(new_login()),
            ..Replacement::default()
        })),
    }
}

impl Stand {
    /// As if a plan with these changes had just been committed.
    fn commit(&mut self, changes: Changes) {
        let plan = Plan { changes, ..Plan::default() };
        self.the_loop.books.settle(&plan, &[], None);
        self.the_loop.rewire(&plan);
    }

    fn operation(&mut self, operation: Operation) {
        self.commit(Changes { operations: [(operation.id.clone(), operation)].into(), ..Changes::default() });
    }

    fn machine(&self) -> Machine {
        (*self.the_loop.books.snapshot.machines[&name(1)]).clone()
    }

    fn present(&self) -> Bmc {
        self.the_loop.keeper.bmcs[&name(1)].clone()
    }

    async fn look(&mut self) {
        self.the_loop.polls.schedule(&name(1), self.the_loop.now());
        self.the_loop.contact_due = model::Timestamp::from_millis(i64::MAX / 2);
        self.the_loop.start_due_looks();
        self.take_one().await;
    }
}

#[tokio::test(start_paused = true)]
async fn while_a_replace_runs_the_new_hardware_is_called_and_the_old_session_is_ended() {
    let mut stand = Stand::build().await;
    let described = stand.present();
    stand.look().await;
    assert_eq!(stand.observation().power.map(|seen| seen.what), Some(Power::On));
    stand.operation(replace(None));
    assert!(!stand.present().is_same_as(&described));
    assert_eq!((stand.observation().power, stand.observation().bmc), (None, model::Contact::default()));
    let made_for = stand.made_for.lock().unwrap().clone();
    assert_eq!(
        made_for.iter().map(|hardware| (hardware.serial_number.as_str(), &hardware.credentials)).collect::<Vec<_>>(),
        [("S9", &new_login())]
    );
    stand.look().await;
    assert_eq!(stand.observation().power.map(|seen| seen.what), Some(Power::On), "what it tells is believed");
    assert!(stand.described.take_log().iter().any(|asked| asked.starts_with("DELETE /redfish/v1/SessionService/Sessions/1")));
    let made = stand.present();
    stand.operation(replace(None));
    assert!(stand.present().is_same_as(&made), "the same hardware needs no other driver");
    stand.operation(replace(Some(OperationResult::Failed)));
    assert!(stand.present().is_same_as(&described), "hardware that was not taken over is not called");
}

#[tokio::test(start_paused = true)]
async fn what_the_old_bmc_still_tells_is_not_believed() {
    let mut stand = Stand::build().await;
    stand.the_loop.polls.schedule(&name(1), stand.the_loop.now());
    stand.the_loop.contact_due = model::Timestamp::from_millis(i64::MAX / 2);
    stand.the_loop.start_due_looks();
    let late = stand.inbox.recv().await.unwrap();
    stand.operation(replace(None));
    stand.the_loop.take_event(late);
    assert_eq!(stand.observation().power, None::<Seen<Power>>);
}

#[tokio::test(start_paused = true)]
async fn hardware_that_was_taken_over_keeps_its_driver_until_the_site_file_has_the_last_word_again() {
    let mut stand = Stand::build().await;
    stand.operation(replace(None));
    let made = stand.present();
    let mut machine = stand.machine();
    let described = machine.hardware.clone();
    machine.hardware = replace(None).replacement.unwrap().applied_to(&described);
    machine.replaced = Some(Box::new(Replaced { at: stand.the_loop.now(), described }));
    let ended = replace(Some(OperationResult::Succeeded));
    stand.commit(Changes {
        operations: [(ended.id.clone(), ended)].into(),
        machines: [(machine.name.clone(), machine.clone())].into(),
        ..Changes::default()
    });
    assert!(stand.present().is_same_as(&made), "its session goes on");
    // The file was read again, and brings the same driver as before.
    let same = stand.the_loop.ways.given[&name(1)].clone();
    let equipment = stand.equipment(same);
    stand.the_loop.take_devices(&equipment);
    assert!(stand.present().is_same_as(&made));
    // A keeper that begins again finds it in the books.
    stand.the_loop.ways = Ways { given: stand.the_loop.ways.given.clone(), made: BTreeMap::new() };
    assert!(!stand.the_loop.present_ways()[&name(1)].is_same_as(&stand.the_loop.ways.given[&name(1)]));
    machine.replaced = None;
    let file = stand.other.driver("S9");
    stand.commit(Changes { machines: [(machine.name.clone(), machine)].into(), ..Changes::default() });
    let equipment = stand.equipment(file.clone());
    stand.the_loop.take_devices(&equipment);
    assert!(stand.present().is_same_as(&file));
}
