//! A runtime: what a version of it installs on a machine. It is ours beside Azure's model, and settled when it is imported.
//!
//! Here `always` means that one cannot be imported without it, too.

use super::Access::{Fixed, Within};
use super::Shape::{List, Object, OneOf, Text, Whole};
use super::{Field, Model, Shape, always, sometimes};

const IMPORTED: super::Access = Fixed("is settled when the runtime is imported");

const fn required(name: &'static str, shape: Shape) -> Field {
    always(name, shape).access(IMPORTED)
}

const fn possible(name: &'static str, shape: Shape) -> Field {
    sometimes(name, shape).access(IMPORTED)
}

pub(crate) const RUNTIME: Model = Model {
    name: "Runtime",
    about: "A version of the runtime that a cluster knows. Of a list, it is without its user data.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("properties", Object(&PROPERTIES)).access(Within),
        always("rackwright", Object(&OURS)),
    ],
};

const PROPERTIES: Model = Model {
    name: "RuntimeProperties",
    about: "What it installs, how a machine is started for it, and what it asks of a machine's firmware.",
    fields: &[
        required("boot", Object(&BOOT)),
        possible("firmware", List(&Object(&FLOOR))),
        required("kubernetesVersion", Text),
        required("osImage", Object(&OS_IMAGE)),
        required("osName", Text),
        // Lists leave it out, which `required` would not say.
        possible("userData", Object(&USER_DATA)),
        possible("version", Text),
    ],
};

const BOOT: Model = Model {
    name: "RuntimeBoot",
    about: "What a machine is started from to be installed: over virtual media, UEFI HTTP boot, or PXE.",
    fields: &[required("agentImage", Object(&ARTEFACT)), possible("http", Object(&ARTEFACT)), possible("pxe", Object(&ARTEFACT))],
};

const ARTEFACT: Model = Model {
    name: "Artefact",
    about: "Something that is fetched, and known by its digest.",
    fields: &[required("bytes", Whole), required("sha256", Text), required("url", Text)],
};

const OS_IMAGE: Model = Model {
    name: "OsImage",
    about: "The image of the operating system, known by the digest and the length that it has on a disk.",
    fields: &[required("bytes", Whole), possible("packed", Object(&PACKED)), required("sha256", Text), required("url", Text)],
};

const PACKED: Model = Model {
    name: "PackedImage",
    about: "The file that the image is packed in, which is fetched, and unpacked by the machine.",
    fields: &[required("bytes", Whole), required("format", OneOf(&["zstd"])), required("sha256", Text)],
};

const FLOOR: Model = Model {
    name: "FirmwareFloor",
    about: "The least version of a component's firmware on machines of a model.",
    fields: &[required("component", Text), required("minimum", Text), required("model", Text)],
};

const USER_DATA: Model = Model {
    name: "RuntimeUserData",
    about: "The template of the first-boot configuration of each role.",
    fields: &[required("Compute", Text), required("ControlPlane", Text), required("Management", Text)],
};

const OURS: Model = Model {
    name: "RuntimeUse",
    about: "Where it is in use.",
    fields: &[always("isClusterVersion", Shape::Flag), always("machines", Whole)],
};
