//! Operations as Azure's clients poll them and as people look at them, and errors.

use super::Shape::{Anything, Instant, List, Object, OneOf, Text, Whole};
use super::machines::WAIT;
use super::{Model, always, sometimes};

const STATUSES: &[&str] = &["InProgress", "Succeeded", "Failed", "Canceled"];

pub(crate) const OPERATION_STATUS: Model = Model {
    name: "OperationStatusResult",
    about: "How a long-running operation is doing.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("resourceId", Text),
        always("status", OneOf(STATUSES)),
        always("startTime", Instant),
        always("percentComplete", Whole),
        sometimes("endTime", Instant),
        sometimes("properties", Object(&OPERATION_PROPERTIES)),
        sometimes("error", Object(&ERROR_DETAIL)),
    ],
};

const OPERATION_PROPERTIES: Model =
    Model { name: "OperationProperties", about: "What whoever asked for it should know.", fields: &[always("warnings", List(&Text))] };

pub(crate) const ERROR: Model =
    Model { name: "ErrorResponse", about: "Why nothing was done.", fields: &[always("error", Object(&ERROR_DETAIL))] };

const ERROR_DETAIL: Model = Model {
    name: "ErrorDetail",
    about: "An error of ARM. Every code has a page under docs/errors/.",
    fields: &[
        always("code", Text),
        always("message", Text),
        sometimes("target", Text),
        sometimes("details", List(&Object(&ERROR_PART))),
        sometimes("additionalInfo", List(&Object(&ERROR_INFO))),
    ],
};

const ERROR_PART: Model = Model {
    name: "ErrorPart",
    about: "An evidence, a remedy, or what to do next.",
    fields: &[always("code", Text), always("message", Text)],
};

const ERROR_INFO: Model = Model {
    name: "ErrorAdditionalInfo",
    about: "A refusal in one piece: rule, subject, evidence, remedy.",
    fields: &[always("type", Text), always("info", Anything)],
};

pub(crate) const OPERATION: Model = Model {
    name: "Operation",
    about: "An accepted action on its way. Lists leave the journal out.",
    fields: &[
        always("id", Text),
        always("cluster", Text),
        always("machine", Text).nullable(),
        always("target", Text),
        always("action", Text),
        always("caller", Text),
        always("correlationId", Text),
        always("status", OneOf(STATUSES)),
        always("percentComplete", Whole),
        always("acceptedAt", Instant),
        always("deadlineAt", Instant),
        always("endedAt", Instant).nullable(),
        always("message", Text).nullable(),
        always("next", Text).nullable(),
        always("cancelRequestedBy", Text).nullable(),
        always("warnings", List(&Text)),
        always("steps", List(&Object(&STEP))),
        always("wait", Object(&WAIT)).nullable(),
        sometimes("inspection", Object(&INSPECTION)),
        sometimes("journal", List(&Object(&ENTRY))),
    ],
};

pub(crate) const OPERATION_LOG: Model = Model {
    name: "OperationLog",
    about: "What the agents of an installation told of their work, by attempt. Those that have sent nothing are left out.",
    fields: &[always("operation", Text), always("machine", Text).nullable(), always("attempts", List(&Object(&ATTEMPT_LOG)))],
};

const ATTEMPT_LOG: Model = Model {
    name: "AttemptLog",
    about: "The log of one attempt's agent: its last 256 KiB, without secrets.",
    fields: &[always("attempt", Whole), always("log", Text)],
};

const INSPECTION: Model = Model {
    name: "Inspection",
    about: "What the inspection of a cluster came to: how many machines are as they should be, and which are not or could not be validated.",
    fields: &[always("passed", Whole), always("failed", List(&Text)), always("unknown", List(&Text))],
};

const STEP: Model = Model {
    name: "Step",
    about: "A part of an operation.",
    fields: &[
        always("name", Text),
        always("status", OneOf(&["NotStarted", "InProgress", "Completed", "Skipped", "Failed"])),
        always("startedAt", Instant).nullable(),
        always("endedAt", Instant).nullable(),
        always("message", Text),
    ],
};

const ENTRY: Model = Model {
    name: "JournalEntry",
    about: "A fact of an operation's journal, and when it was written.",
    fields: &[always("at", Instant), always("fact", Anything)],
};
