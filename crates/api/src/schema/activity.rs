//! Entries of the activity log, as Azure's `EventData`.

use super::Shape::{Instant, Object, OneOf, Text, Texts};
use super::{Model, always, sometimes};

pub(crate) const ACTIVITY: Model = Model {
    name: "EventData",
    about: "Who did what to what, and what came of it.",
    fields: &[
        always("id", Text),
        always("eventDataId", Text),
        always("eventTimestamp", Instant),
        always("submissionTimestamp", Instant),
        always("correlationId", Text),
        always("operationId", Text),
        always("level", OneOf(&["Informational", "Warning", "Error"])),
        always("caller", Text),
        always("description", Text),
        always("operationName", Object(&LOCALIZED)),
        always("category", Object(&LOCALIZED)),
        always("eventName", Object(&LOCALIZED)),
        always("status", Object(&LOCALIZED)),
        always("subStatus", Object(&LOCALIZED)),
        always("resourceId", Text),
        always("resourceGroupName", Text),
        always("resourceProviderName", Object(&LOCALIZED)),
        always("resourceType", Object(&LOCALIZED)),
        always("subscriptionId", Text),
        always("authorization", Object(&AUTHORIZATION)),
        always("httpRequest", Object(&HTTP_REQUEST)).nullable(),
        always("properties", Texts),
    ],
};

const LOCALIZED: Model = Model {
    name: "LocalizableString",
    about: "A word for programs, and the same for people.",
    fields: &[always("value", Text), always("localizedValue", Text)],
};

const AUTHORIZATION: Model = Model {
    name: "SenderAuthorization",
    about: "The action and the resource that a permission would be about.",
    fields: &[always("action", Text), always("scope", Text)],
};

const HTTP_REQUEST: Model = Model {
    name: "HttpRequest",
    about: "What is known of the request.",
    fields: &[always("method", Text), sometimes("clientRequestId", Text)],
};
