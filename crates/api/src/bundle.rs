//! Reading a runtime bundle that somebody imports: every value is judged, and all that is wrong is told at once.

use std::collections::BTreeMap;

use model::{Artefact, BootArtefacts, Bundle, Digest, FirmwareFloor, OsImage, Packed, Packing, Role, RuntimeVersion};
use serde_json::Value;

use crate::install::{AREA_BYTES, BOOT_IMAGE_MAX};
use crate::user_data::{self, TEMPLATE_MAX};

/// The longest URL of what a bundle names.
pub const URL_MAX: usize = 2_048;

/// The longest name of an operating system, a model, a component or a version.
pub const TEXT_MAX: usize = 128;

/// The largest image of an operating system.
pub const OS_IMAGE_MAX: u64 = 64 * 1024 * 1024 * 1024;

/// How many minimums of firmware a bundle may have.
pub const FIRMWARE_MAX: usize = 256;

/// What is wrong with one value, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub path: String,
    pub why: String,
}

/// The bundle that these properties describe. They have their shape already.
pub(crate) fn read(version: RuntimeVersion, properties: &Value) -> Result<Bundle, Vec<Flaw>> {
    let mut reader = Reader::default();
    let bundle = reader.bundle(version, properties);
    match bundle {
        Some(bundle) if reader.flaws.is_empty() => Ok(bundle),
        _ => Err(reader.flaws),
    }
}

#[derive(Default)]
struct Reader {
    flaws: Vec<Flaw>,
}

impl Reader {
    fn flaw(&mut self, path: &str, why: impl Into<String>) {
        self.flaws.push(Flaw { path: format!("properties.{path}"), why: why.into() });
    }

    /// What is missing has a flaw, so that whatever stands in its place is never used.
    fn bundle(&mut self, version: RuntimeVersion, properties: &Value) -> Option<Bundle> {
        let named = properties["version"].as_str().unwrap_or_default();
        if !named.is_empty() && named != version.to_string() {
            self.flaw("version", format!("it is `{}`, and the path says {version}", model::shortened(named)));
        }
        let os_name = self.text("osName", &properties["osName"]);
        let kubernetes_version = self.text("kubernetesVersion", &properties["kubernetesVersion"]);
        if RuntimeVersion::parse(kubernetes_version.strip_prefix('v').unwrap_or(&kubernetes_version)).is_err() {
            self.flaw("kubernetesVersion", "three numbers with points between are meant, as in v1.33.7");
        }
        let os_image = self.os_image("osImage", &properties["osImage"]);
        let boot = &properties["boot"];
        let agent_image = self.boot_artefact("boot.agentImage", &boot["agentImage"]);
        let http = if boot["http"].is_null() { None } else { self.boot_artefact("boot.http", &boot["http"]) };
        let pxe = if boot["pxe"].is_null() { None } else { self.boot_artefact("boot.pxe", &boot["pxe"]) };
        let firmware = self.firmware(&properties["firmware"]);
        let user_data = self.user_data(&properties["userData"]);
        let boot = BootArtefacts { agent_image: agent_image?, http, pxe };
        Some(Bundle { version, os_name, os_image: os_image?, kubernetes_version, boot, firmware, user_data })
    }

    fn text(&mut self, path: &str, value: &Value) -> String {
        let text = value.as_str().unwrap_or_default();
        if text.trim().is_empty() || text.chars().count() > TEXT_MAX || text.chars().any(model::is_unprintable) {
            self.flaw(path, format!("1 to {TEXT_MAX} printable characters are meant"));
        }
        text.to_owned()
    }

    /// An image that takes an agent's configuration, and that we hold in memory.
    fn boot_artefact(&mut self, path: &str, value: &Value) -> Option<Artefact> {
        self.artefact(path, value, AREA_BYTES as u64, BOOT_IMAGE_MAX)
    }

    fn os_image(&mut self, path: &str, value: &Value) -> Option<OsImage> {
        let plain = self.artefact(path, value, 1, OS_IMAGE_MAX);
        let packed = if value["packed"].is_null() { None } else { Some(self.packed(&format!("{path}.packed"), &value["packed"])?) };
        let plain = plain?;
        if packed.as_ref().is_some_and(|packed| packed.sha256 == plain.sha256) {
            self.flaw(&format!("{path}.packed.sha256"), "it is the digest of the image itself; that of the packed file is meant");
        }
        Some(OsImage { packed, ..plain.into() })
    }

    fn packed(&mut self, path: &str, value: &Value) -> Option<Packed> {
        if value["format"] != "zstd" {
            self.flaw(&format!("{path}.format"), "`zstd` is meant");
        }
        let bytes = self.length(path, value, 1, OS_IMAGE_MAX);
        let sha256 = self.digest(path, value)?;
        Some(Packed { format: Packing::Zstd, sha256, bytes })
    }

    fn artefact(&mut self, path: &str, value: &Value, least: u64, most: u64) -> Option<Artefact> {
        let url = value["url"].as_str().unwrap_or_default();
        if let Err(why) = check_url(url) {
            self.flaw(&format!("{path}.url"), why);
        }
        let bytes = self.length(path, value, least, most);
        let sha256 = self.digest(path, value)?;
        Some(Artefact { url: url.to_owned(), sha256, bytes })
    }

    fn length(&mut self, path: &str, value: &Value, least: u64, most: u64) -> u64 {
        let bytes = value["bytes"].as_u64().unwrap_or_default();
        if !(least..=most).contains(&bytes) {
            self.flaw(&format!("{path}.bytes"), format!("a number from {least} to {most} is meant"));
        }
        bytes
    }

    fn digest(&mut self, path: &str, value: &Value) -> Option<Digest> {
        let read = Digest::parse(value["sha256"].as_str().unwrap_or_default());
        read.map_err(|problem| self.flaw(&format!("{path}.sha256"), problem.to_string())).ok()
    }

    fn firmware(&mut self, value: &Value) -> Vec<FirmwareFloor> {
        let floors = value.as_array().map(Vec::as_slice).unwrap_or_default();
        if floors.len() > FIRMWARE_MAX {
            self.flaw("firmware", format!("there are {}, and {FIRMWARE_MAX} are possible", floors.len()));
            return Vec::new();
        }
        let read = floors.iter().enumerate().map(|(n, floor)| FirmwareFloor {
            model: self.text(&format!("firmware[{n}].model"), &floor["model"]),
            component: self.text(&format!("firmware[{n}].component"), &floor["component"]),
            minimum: self.text(&format!("firmware[{n}].minimum"), &floor["minimum"]),
        });
        read.collect()
    }

    fn user_data(&mut self, value: &Value) -> BTreeMap<Role, String> {
        let roles = [("ControlPlane", Role::ControlPlane), ("Management", Role::Management), ("Compute", Role::Compute)];
        let read = roles.into_iter().map(|(name, role)| {
            let (path, template) = (format!("userData.{name}"), value[name].as_str().unwrap_or_default());
            if template.trim().is_empty() {
                self.flaw(&path, "every role needs a template, and this one has none");
            } else if template.len() > TEMPLATE_MAX {
                self.flaw(&path, format!("it is longer than {TEMPLATE_MAX} bytes"));
            } else if let Err(problem) = user_data::check(template, role) {
                self.flaw(&path, problem.to_string());
            }
            (role, template.to_owned())
        });
        read.collect()
    }
}

/// What we or an agent can fetch. Whoever may read a runtime reads its URLs, so no password belongs in one.
fn check_url(url: &str) -> Result<(), String> {
    if url.len() > URL_MAX {
        return Err(format!("it is longer than {URL_MAX} bytes"));
    }
    let parsed = url.parse::<http::Uri>().ok();
    let is_web = parsed.as_ref().and_then(http::Uri::scheme_str).is_some_and(|scheme| scheme == "http" || scheme == "https");
    match parsed.as_ref().and_then(http::Uri::authority).filter(|_| is_web) {
        Some(authority) if authority.as_str().contains('@') => Err("a login in a URL would be shown to everybody".to_owned()),
        Some(_) => Ok(()),
        None => Err("a URL is meant that begins with http:// or https://".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn properties() -> Value {
        let artefact = json!({ "url": "http://images/a", "sha256": "0".repeat(64), "bytes": 1_000_000 });
        json!({
            "osName": "Azure Linux 3.0", "kubernetesVersion": "v1.33.7", "osImage": artefact, "boot": { "agentImage": artefact },
            "firmware": [{ "model": "PowerEdge R750", "component": "BIOS", "minimum": "1.10.2" }],
            "userData": { "ControlPlane": "{{ hostname }}", "Management": "{{ hostname }}", "Compute": "{{ hostname }}" },
        })
    }

    fn version() -> RuntimeVersion {
        RuntimeVersion::parse("4.9.2").unwrap()
    }

    /// What is wrong once this value stands there.
    fn flaws(pointer: &str, value: Value) -> Vec<String> {
        let mut properties = properties();
        *properties.pointer_mut(pointer).expect("the place is there") = value;
        let flaws = read(version(), &properties).expect_err("something is wrong");
        flaws.into_iter().map(|Flaw { path, why }| format!("{path}: {why}")).collect()
    }

    #[test]
    fn a_bundle_is_read_as_it_is_written() {
        let bundle = read(version(), &properties()).unwrap();
        assert_eq!(bundle.firmware[0].component, "BIOS");
        assert_eq!(bundle.user_data.len(), 3);
        let shown = serde_json::to_value(&bundle).unwrap();
        assert_eq!(read(version(), &shown).unwrap(), bundle, "what is shown can be imported");
    }

    #[test]
    fn an_image_may_be_packed_and_is_judged_then_too() {
        let mut properties = properties();
        properties["osImage"]["packed"] = json!({ "format": "zstd", "sha256": "1".repeat(64), "bytes": 400_000 });
        let bundle = read(version(), &properties).unwrap();
        assert_eq!((bundle.os_image.bytes, bundle.os_image.file().bytes), (1_000_000, 400_000));
        assert_eq!(read(version(), &serde_json::to_value(&bundle).unwrap()).unwrap(), bundle, "what is shown can be imported");
        let cases = [
            ("format", json!("gzip"), "format: `zstd` is meant"),
            ("bytes", json!(0), "bytes: a number from 1 to 68719476736 is meant"),
            ("sha256", json!("x"), "sha256: `x` is no SHA-256 digest: 64 hexadecimal digits are meant"),
            ("sha256", json!("0".repeat(64)), "sha256: it is the digest of the image itself; that of the packed file is meant"),
        ];
        for (name, value, expected) in cases {
            let mut wrong = properties.clone();
            wrong["osImage"]["packed"][name] = value;
            let flaws = read(version(), &wrong).unwrap_err();
            assert_eq!(
                flaws.into_iter().map(|Flaw { path, why }| format!("{path}: {why}")).collect::<Vec<_>>(),
                [format!("properties.osImage.packed.{expected}")]
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let cases = [
            ("/osName", json!(" "), "properties.osName: 1 to 128 printable characters are meant"),
            ("/osName", json!("a\nb"), "properties.osName: 1 to 128 printable characters are meant"),
            (
                "/kubernetesVersion",
                json!("latest"),
                "properties.kubernetesVersion: three numbers with points between are meant, as in v1.33.7",
            ),
            ("/osImage/url", json!("ftp://images/a"), "properties.osImage.url: a URL is meant that begins with http:// or https://"),
            ("/osImage/url", json!("http://me:secret@images/a"), "properties.osImage.url: a login in a URL would be shown to everybody"),
            ("/osImage/bytes", json!(0), "properties.osImage.bytes: a number from 1 to 68719476736 is meant"),
            ("/osImage/sha256", json!("x"), "properties.osImage.sha256: `x` is no SHA-256 digest: 64 hexadecimal digits are meant"),
            ("/boot/agentImage/bytes", json!(16_383), "properties.boot.agentImage.bytes: a number from 16384 to 268435456 is meant"),
            ("/firmware/0/minimum", json!(""), "properties.firmware[0].minimum: 1 to 128 printable characters are meant"),
            ("/userData/Compute", json!("{{ nme }}"), "properties.userData.Compute: line 1: undefined value"),
            ("/userData/Compute", json!(""), "properties.userData.Compute: every role needs a template, and this one has none"),
            ("/userData/Compute", json!("x".repeat(16_385)), "properties.userData.Compute: it is longer than 16384 bytes"),
        ];
        for (pointer, value, expected) in cases {
            assert_eq!(flaws(pointer, value), [expected], "{pointer}");
        }
        let long = format!("http://images/{}", "a".repeat(URL_MAX));
        assert_eq!(flaws("/osImage/url", json!(long)), ["properties.osImage.url: it is longer than 2048 bytes"]);
        let floor = properties()["firmware"][0].clone();
        let many = vec![floor; FIRMWARE_MAX + 1];
        assert_eq!(flaws("/firmware", json!(many)), ["properties.firmware: there are 257, and 256 are possible"]);
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let empty = read(version(), &json!({ "version": "4.9.3" })).unwrap_err();
        let paths: Vec<&str> = empty.iter().map(|flaw| flaw.path.strip_prefix("properties.").unwrap()).collect();
        let expected = [
            "version",
            "osName",
            "kubernetesVersion",
            "kubernetesVersion",
            "osImage.url",
            "osImage.bytes",
            "osImage.sha256",
            "boot.agentImage.url",
            "boot.agentImage.bytes",
            "boot.agentImage.sha256",
            "userData.ControlPlane",
            "userData.Management",
            "userData.Compute",
        ];
        assert_eq!(paths, expected);
    }
}
