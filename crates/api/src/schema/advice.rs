//! What is told of a machine that is not well: the results of hardware validation, advice, and post-checks.

use super::Shape::{Flag, Instant, List, Object, OneOf, Text};
use super::previews::REFUSAL;
use super::{Model, TEXTS, always, sometimes};

pub(crate) const VALIDATION: Model = Model {
    name: "HardwareValidation",
    about: "The latest validation of a machine's hardware.",
    fields: &[always("id", Text), always("name", Text), always("type", Text), always("properties", Object(&VALIDATION_PROPERTIES))],
};

const VALIDATION_PROPERTIES: Model = Model {
    name: "HardwareValidationProperties",
    about: "What was compared, by category. `runtimeVersion` is the one whose firmware minimums were used.",
    fields: &[
        always("result", OneOf(RESULT)),
        always("lastValidationTime", Instant),
        always("operation", Text),
        always("runtimeVersion", Text).nullable(),
        sometimes("device_login", Object(&DEVICE_LOGIN)),
        sometimes("system_info", Object(&SYSTEM_INFO)),
        sometimes("drive_info", Object(&DRIVE_INFO)),
        sometimes("network_info", Object(&NETWORK_INFO)),
        sometimes("health_info", Object(&HEALTH_INFO)),
        sometimes("boot_info", Object(&BOOT_INFO)),
    ],
};

const RESULT: &[&str] = &["Pass", "Fail"];

/// Categories differ by the name of their result alone, as Azure's do.
macro_rules! category {
    ($model:ident, $name:literal, $result:literal, $about:literal) => {
        const $model: Model = Model {
            name: $name,
            about: $about,
            fields: &[always($result, OneOf(RESULT)), always("result_detail", List(&Object(&FIELD))), always("result_log", TEXTS)],
        };
    };
}

category!(DEVICE_LOGIN, "DeviceLoginResult", "device_login_result", "Whether the BMC could be logged in to.");
category!(SYSTEM_INFO, "SystemInfoResult", "system_info_result", "Memory, processors, model, serial number and firmware.");
category!(DRIVE_INFO, "DriveInfoResult", "drive_info_result", "Drives by bay.");
category!(NETWORK_INFO, "NetworkInfoResult", "network_info_result", "Links and MAC addresses.");
category!(HEALTH_INFO, "HealthInfoResult", "health_info_result", "Sensors, and alarms in the BMC's log.");
category!(BOOT_INFO, "BootInfoResult", "boot_info_result", "What the machine boots from.");

const FIELD: Model = Model {
    name: "HardwareValidationField",
    about: "One comparison. What the BMC cannot tell is `Info`, and never passes.",
    fields: &[
        always("field_name", Text),
        always("comparison_result", OneOf(&["Pass", "Fail", "Warning", "Info"])),
        always("expected", Text),
        always("fetched", Text),
    ],
};

pub(crate) const ADVICE: Model = Model {
    name: "Advice",
    about: "What to do about a machine next, why, and what that does to the data on it.",
    fields: &[
        always("machine", Text),
        always("symptom", OneOf(SYMPTOMS)).nullable(),
        always("next", OneOf(REMEDIES)),
        always("because", TEXTS),
        always("tried", List(&Object(&TRIED))),
        always("then", List(&OneOf(REMEDIES))),
        always("parts", List(&Object(&PART))),
        always("replace", OneOf(NEEDS)).nullable(),
        always("storage", Object(&STORAGE)).nullable(),
        always("warnings", TEXTS),
        always("commands", List(&Object(&COMMAND))),
        always("against", Object(&REFUSAL)).nullable(),
    ],
};

const SYMPTOMS: &[&str] = &["unresponsive", "os-corruption", "hardware", "security", "stuck-provisioning"];
const REMEDIES: &[&str] = &["nothing", "wait", "start", "restart", "reimage", "replace", "support"];
const NEEDS: &[&str] = &["unnecessary", "recommended", "required"];

const TRIED: Model = Model {
    name: "TriedRemedy",
    about: "What was done to the machine already. What never began its work does not count.",
    fields: &[
        always("action", OneOf(REMEDIES)),
        always("operation", Text),
        always("at", Instant),
        always("result", OneOf(&["Succeeded", "Failed", "Canceled"])),
        always("counts", Flag),
        always("message", Text),
    ],
};

const PART: Model = Model {
    name: "RepairedPart",
    about: "What the repair of a part asks for, and what becomes of the data of virtual machines.",
    fields: &[
        always("part", Text),
        always("replace", OneOf(NEEDS)),
        always("data", OneOf(&["safe", "ifSeveral", "mayBeLost"])),
        always("words", Text),
    ],
};

const STORAGE: Model = Model {
    name: "StorageAdvice",
    about: "Which storage policy of a replace is safe, and why.",
    fields: &[always("policy", OneOf(&["DiscardAll", "Preserve"])), always("because", Text)],
};

const COMMAND: Model = Model {
    name: "AdvisedCommand",
    about: "One step, in their order. What is done by hand has no command.",
    fields: &[always("why", Text), sometimes("command", Text), sometimes("az", Text)],
};

pub(crate) const VERIFICATION: Model = Model {
    name: "Verification",
    about: "How a machine, and what was on it, is after an action, against how it was before.",
    fields: &[always("machine", Text), always("result", OneOf(STATES)), always("checks", List(&Object(&CHECK)))],
};

const STATES: &[&str] = &["ok", "waits", "unknown", "differs"];

const CHECK: Model = Model {
    name: "PostCheck",
    about: "One post-check. `words` say what to do, or what is waited for; `awaits` is the command that ends the wait, where it is a person's.",
    fields: &[
        always("name", Text),
        always("state", OneOf(STATES)),
        always("expected", Text),
        always("found", Text),
        always("words", Text),
        sometimes("awaits", Text),
    ],
};
