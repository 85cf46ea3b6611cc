//! Tasks and their monitors: work that goes on after its request was answered.

use http::StatusCode;
use serde_json::{Value, json};
use world::{Instant, Task, TaskState, Work};

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link};
use super::{Bmc, errors};

const TASKS_PATH: &str = "/redfish/v1/TaskService/Tasks";
const MONITORS_PATH: &str = "/redfish/v1/TaskService/TaskMonitors";

/// How many seconds a client should wait before it looks again. Advice to clients is never scaled.
const RETRY_AFTER: &str = "5";

pub(super) fn service(call: &Call<'_>) -> Result<Answer, Answer> {
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#TaskService.v1_2_0.TaskService",
        "Id": "TaskService",
        "Name": "Task Service",
        "DateTime": call.bmc.date(call.bmc.site.now()),
        "ServiceEnabled": true,
        "CompletedTaskOverWritePolicy": "Oldest",
        "LifeCycleEventOnTaskStateChange": call.bmc.profile().offers_events,
        "Status": document::enabled(),
        "Tasks": link(TASKS_PATH),
    })))
}

fn id(bmc: &Bmc, number: u64) -> String {
    format!("{}{number}", bmc.profile().task_prefix)
}

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let numbers: Vec<u64> = bmc.site.look(|world| world.hardware(bmc.index).tasks.iter().map(|task| task.number).collect());
    let members = numbers.into_iter().map(|number| format!("{TASKS_PATH}/{}", id(bmc, number)));
    Ok(document::collection(TASKS_PATH, "Task", "Task Collection", members))
}

fn find(call: &Call<'_>) -> Result<(Task, Instant), Answer> {
    let bmc = call.bmc;
    let number = document::numbered(bmc.profile().task_prefix, call.id).map(u64::from);
    let found = number.and_then(|number| bmc.site.look(|world| Some((world.hardware(bmc.index).tasks.get(number)?.clone(), world.now()))));
    found.ok_or_else(|| call.missing())
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (task, now) = find(call)?;
    Ok(Answer::ok(&document(call.bmc, &task, now)))
}

/// 202 while the task runs; afterwards what the request would have been answered, had it taken no time.
pub(super) fn monitor(call: &Call<'_>) -> Result<Answer, Answer> {
    let (task, now) = find(call)?;
    match &task.state {
        TaskState::Running => Ok(in_progress(call.bmc, &task, now)),
        TaskState::Completed { volume: Some(number) } => {
            let path = call.bmc.profile().volume_path(*number);
            Ok(Answer::of(StatusCode::CREATED, &document(call.bmc, &task, now)).with_header("location", path))
        }
        TaskState::Completed { volume: None } => Ok(Answer::ok(&document(call.bmc, &task, now))),
        TaskState::Failed { reason } => Err(errors::general(reason)),
    }
}

/// The answer to a request that has become a task.
pub(super) fn accepted(bmc: &Bmc, task: &Task) -> Answer {
    in_progress(bmc, task, task.started_at)
}

fn in_progress(bmc: &Bmc, task: &Task, now: Instant) -> Answer {
    Answer::of(StatusCode::ACCEPTED, &document(bmc, task, now))
        .with_header("location", format!("{MONITORS_PATH}/{}", id(bmc, task.number)))
        .with_header("retry-after", RETRY_AFTER)
}

fn document(bmc: &Bmc, task: &Task, now: Instant) -> Value {
    let id = id(bmc, task.number);
    let (state, status, message_id, message) = match &task.state {
        TaskState::Running => ("Running", "OK", "TaskEvent.1.0.TaskStarted", format!("The task with Id '{id}' has started.")),
        TaskState::Completed { .. } => {
            ("Completed", "OK", "TaskEvent.1.0.TaskCompletedOK", format!("The task with Id '{id}' has completed."))
        }
        TaskState::Failed { reason } => ("Exception", "Critical", "TaskEvent.1.0.TaskAborted", reason.clone()),
    };
    let mut document = json!({
        "@odata.id": format!("{TASKS_PATH}/{id}"),
        "@odata.type": "#Task.v1_7_0.Task",
        "Id": id,
        "Name": name(&task.work),
        "TaskState": state,
        "TaskStatus": status,
        "StartTime": task.started_at.to_seconds_text(),
        "PercentComplete": task.percent(now),
        "HidePayload": true,
        "Messages": [{"MessageId": message_id, "Message": message, "MessageArgs": [id], "MessageSeverity": status}],
    });
    if task.is_running() {
        document["TaskMonitor"] = json!(format!("{MONITORS_PATH}/{id}"));
    } else {
        document["EndTime"] = json!(task.ends_at.to_seconds_text());
    }
    document
}

fn name(work: &Work) -> String {
    match work {
        Work::UpdateFirmware { image, .. } => format!("Firmware Update: {image}"),
        Work::CreateVolume(wanted) => format!("Create Volume: {}", wanted.name),
        Work::DeleteVolume { number } => format!("Delete Volume: {number}"),
        Work::ResetStorage => "Reset Storage".to_owned(),
    }
}
