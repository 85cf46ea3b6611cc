//! What the providers next door answer: tenants, subscriptions, resource groups, resources, providers.

use super::Shape::{Flag, Instant, List, Object, Text, Texts};
use super::{EXTENDED_LOCATION, Model, TEXTS, always, sometimes};

pub(crate) const TENANT: Model = Model {
    name: "Tenant",
    about: "The one tenant there is.",
    fields: &[
        always("id", Text),
        always("tenantId", Text),
        always("displayName", Text),
        always("tenantCategory", Text),
        always("tenantType", Text),
    ],
};

pub(crate) const SUBSCRIPTION: Model = Model {
    name: "Subscription",
    about: "The top of every id.",
    fields: &[
        always("id", Text),
        always("subscriptionId", Text),
        always("tenantId", Text),
        always("displayName", Text),
        always("state", Text),
    ],
};

pub(crate) const RESOURCE_GROUP: Model = Model {
    name: "ResourceGroup",
    about: "The home of clusters.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("location", Text),
        always("tags", Texts),
        always("properties", Object(&RESOURCE_GROUP_PROPERTIES)),
    ],
};

const RESOURCE_GROUP_PROPERTIES: Model =
    Model { name: "ResourceGroupProperties", about: "How the resource group is doing.", fields: &[always("provisioningState", Text)] };

pub(crate) const RESOURCE: Model = Model {
    name: "Resource",
    about: "A resource of any kind, in short.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("location", Text),
        always("extendedLocation", Object(&EXTENDED_LOCATION)),
        always("tags", Texts),
        sometimes("createdTime", Instant),
        sometimes("changedTime", Instant),
        sometimes("provisioningState", Text),
    ],
};

pub(crate) const PROVIDER: Model = Model {
    name: "Provider",
    about: "A resource provider and its types.",
    fields: &[
        always("id", Text),
        always("namespace", Text),
        always("registrationState", Text),
        always("registrationPolicy", Text),
        always("resourceTypes", List(&Object(&PROVIDER_TYPE))),
    ],
};

const PROVIDER_TYPE: Model = Model {
    name: "ProviderResourceType",
    about: "A type of resource, where it is, and versions of the API that clients send. Any other version works too.",
    fields: &[always("resourceType", Text), always("locations", TEXTS), always("apiVersions", TEXTS)],
};

pub(crate) const OPERATION_ENTRY: Model = Model {
    name: "ProviderOperation",
    about: "Something that can be done, in the words of Azure's role definitions.",
    fields: &[always("name", Text), always("isDataAction", Flag), always("origin", Text), always("display", Object(&OPERATION_DISPLAY))],
};

const OPERATION_DISPLAY: Model = Model {
    name: "ProviderOperationDisplay",
    about: "The same in words.",
    fields: &[always("provider", Text), always("resource", Text), always("operation", Text), always("description", Text)],
};
