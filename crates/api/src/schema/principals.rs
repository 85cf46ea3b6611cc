//! Service principals, quotas and the states of subscriptions. None of it is Azure's, whose directory is another service.

use super::Access::{Fixed, WriteOnly};
use super::Shape::{Flag, Instant, List, Object, OneOf, Text, Whole};
use super::{Model, TEXTS, always, sometimes};

const GIVEN: super::Access = Fixed("is said when it is made");

pub(crate) const PRINCIPAL: Model = Model {
    name: "Principal",
    about: "Somebody who logs in with a secret or a certificate. What proves it is never told.",
    fields: &[
        always("id", Text),
        always("clientId", Text),
        always("tenantId", Text),
        always("displayName", Text),
        always("enabled", Flag),
        always("createdAt", Instant),
        sometimes("disabledAt", Instant),
        always("secrets", List(&Object(&SECRET))),
        always("certificates", List(&Object(&CERTIFICATE))),
    ],
};

const SECRET: Model = Model {
    name: "PrincipalSecret",
    about: "A secret, by its id and its first letters.",
    fields: &[
        always("id", Text),
        sometimes("displayName", Text),
        always("hint", Text),
        always("createdAt", Instant),
        always("expiresAt", Instant),
    ],
};

const CERTIFICATE: Model = Model {
    name: "PrincipalCertificate",
    about: "A certificate, by its thumbprints.",
    fields: &[always("sha1", Text), always("sha256", Text), always("notBefore", Instant), always("notAfter", Instant)],
};

pub(crate) const NEW_PRINCIPAL: Model = Model {
    name: "NewPrincipal",
    about: "Say what it is called: the activity log names it so.",
    fields: &[always("displayName", Text).access(GIVEN)],
};

pub(crate) const NEW_SECRET: Model = Model {
    name: "NewSecret",
    about: "How long a secret is good, in days, and what it is called.",
    fields: &[sometimes("days", Whole).access(GIVEN), sometimes("displayName", Text).access(GIVEN)],
};

pub(crate) const SHOWN_SECRET: Model = Model {
    name: "ShownSecret",
    about: "A new secret. Nobody can read it again.",
    fields: &[
        always("clientId", Text),
        always("tenantId", Text),
        always("displayName", Text),
        always("secretId", Text),
        always("secret", Text),
        always("expiresAt", Instant),
    ],
};

pub(crate) const NEW_CERTIFICATE: Model =
    Model { name: "NewCertificate", about: "Send the certificate in PEM.", fields: &[always("pem", Text).access(WriteOnly)] };

pub(crate) const QUOTA: Model = Model {
    name: "Quota",
    about: "How much a subscription may have. Without a limit a thing has none.",
    fields: &[
        always("id", Text),
        always("subscriptionId", Text),
        always("limits", Object(&LIMITS)).access(super::Access::Within),
        always("used", Object(&USED)),
    ],
};

const LIMITS: Model = Model {
    name: "QuotaLimits",
    about: "The most that there may be. All of them are set at once; what is left out has no limit.",
    fields: &[
        sometimes("cores", Whole).access(Fixed("is set with the others")),
        sometimes("virtualMachines", Whole).access(Fixed("is set with the others")),
        sometimes("networks", Whole).access(Fixed("is set with the others")),
    ],
};

const USED: Model = Model {
    name: "QuotaUse",
    about: "What there is: virtual machines and their cores. Nodes of Kubernetes clusters do not count.",
    fields: &[always("cores", Whole), always("virtualMachines", Whole), always("networks", Whole)],
};

pub(crate) const SUBSCRIPTION_STATE: Model = Model {
    name: "SubscriptionState",
    about: "Whether anything may be changed in a subscription.",
    fields: &[always("subscriptionId", Text), always("state", OneOf(&["Enabled", "Disabled"])), always("unregisteredNamespaces", TEXTS)],
};
