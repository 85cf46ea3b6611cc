//! Runtime files: a runtime bundle as its maker describes it, in TOML. Here the file is read; what it says is judged by the server
//! that it is imported into.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cli::trouble::{Exit, Trouble};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RuntimeFile {
    pub version: String,
    pub os_name: String,
    pub kubernetes_version: String,
    pub os_image: OsImageTable,
    pub boot: BootTable,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub firmware: Vec<FloorTable>,
    /// Templates in the file itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub user_data: BTreeMap<RoleKey, String>,
    /// Templates in files beside it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub user_data_files: BTreeMap<RoleKey, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ArtefactTable {
    pub url: String,
    pub sha256: String,
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OsImageTable {
    pub url: String,
    pub sha256: String,
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<PackedTable>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PackedTable {
    pub format: String,
    pub sha256: String,
    pub bytes: u64,
}

impl From<ArtefactTable> for OsImageTable {
    fn from(ArtefactTable { url, sha256, bytes }: ArtefactTable) -> OsImageTable {
        OsImageTable { url, sha256, bytes, packed: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BootTable {
    pub agent_image: ArtefactTable,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<ArtefactTable>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pxe: Option<ArtefactTable>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FloorTable {
    pub model: String,
    pub component: String,
    pub minimum: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoleKey {
    ControlPlane,
    Management,
    Compute,
}

impl RoleKey {
    /// As the API says it.
    fn word(self) -> &'static str {
        match self {
            RoleKey::ControlPlane => "ControlPlane",
            RoleKey::Management => "Management",
            RoleKey::Compute => "Compute",
        }
    }
}

impl RuntimeFile {
    pub fn read(path: &Path) -> Result<RuntimeFile, Trouble> {
        let text = read_text(path)?;
        let mut file: RuntimeFile = toml::from_str(&text).map_err(|error| {
            Trouble::new(Exit::Usage, format!("{} is no runtime file", path.display())).detail(error.to_string().trim_end())
        })?;
        let beside = path.parent().unwrap_or(Path::new("."));
        for (role, name) in std::mem::take(&mut file.user_data_files) {
            let template = read_text(&beside.join(name))?;
            if file.user_data.insert(role, template).is_some() {
                let both = format!("{}: the user data of {} is given twice", path.display(), role.word());
                return Err(Trouble::new(Exit::Usage, both).hint("give it in [user-data] or in [user-data-files]"));
            }
        }
        Ok(file)
    }

    /// As it is sent to the API.
    pub fn body(&self) -> Value {
        let artefact = |table: &ArtefactTable| json!({ "url": table.url, "sha256": table.sha256, "bytes": table.bytes });
        let mut boot = json!({ "agentImage": artefact(&self.boot.agent_image) });
        for (name, table) in [("http", &self.boot.http), ("pxe", &self.boot.pxe)] {
            if let Some(table) = table {
                boot[name] = artefact(table);
            }
        }
        let user_data: serde_json::Map<String, Value> =
            self.user_data.iter().map(|(role, template)| (role.word().to_owned(), json!(template))).collect();
        json!({ "properties": {
            "version": self.version,
            "osName": self.os_name,
            "kubernetesVersion": self.kubernetes_version,
            "osImage": self.os_image,
            "boot": boot,
            "firmware": self.firmware,
            "userData": user_data,
        } })
    }
}

fn read_text(path: &Path) -> Result<String, Trouble> {
    std::fs::read_to_string(path).map_err(|error| Trouble::caused(&format!("{} cannot be read", path.display()), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
version = "4.9.2"
os-name = "Azure Linux 3.0"
kubernetes-version = "v1.33.7"
[os-image]
url = "http://images/os.img"
sha256 = "00"
bytes = 7
[boot.agent-image]
url = "http://images/agent.iso"
sha256 = "01"
bytes = 8
[[firmware]]
model = "PowerEdge R750"
component = "BIOS"
minimum = "1.10.2"
[user-data]
control-plane = "a"
management = "b"
[user-data-files]
compute = "compute.yaml"
"#;

    fn read(text: &str) -> Result<RuntimeFile, Trouble> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("compute.yaml"), "c").unwrap();
        let path = dir.path().join("4.9.2.toml");
        std::fs::write(&path, text).unwrap();
        RuntimeFile::read(&path)
    }

    #[test]
    fn a_file_becomes_what_the_api_takes() {
        let expected = json!({ "properties": {
            "version": "4.9.2", "osName": "Azure Linux 3.0", "kubernetesVersion": "v1.33.7",
            "osImage": { "url": "http://images/os.img", "sha256": "00", "bytes": 7 },
            "boot": { "agentImage": { "url": "http://images/agent.iso", "sha256": "01", "bytes": 8 } },
            "firmware": [{ "model": "PowerEdge R750", "component": "BIOS", "minimum": "1.10.2" }],
            "userData": { "ControlPlane": "a", "Management": "b", "Compute": "c" },
        } });
        assert_eq!(read(FILE).unwrap().body(), expected);
    }

    #[test]
    fn a_packed_image_is_told_with_the_file_that_it_is_packed_in() {
        let packed = FILE.replace("bytes = 7", "bytes = 7\npacked = { format = \"zstd\", sha256 = \"02\", bytes = 3 }");
        let image = read(&packed).unwrap().body()["properties"]["osImage"].take();
        let file = json!({ "format": "zstd", "sha256": "02", "bytes": 3 });
        assert_eq!(image, json!({ "url": "http://images/os.img", "sha256": "00", "bytes": 7, "packed": file }));
        let boot = FILE.replace("bytes = 8", "bytes = 8\npacked = { format = \"zstd\", sha256 = \"02\", bytes = 3 }");
        assert!(read(&boot).unwrap_err().details.concat().contains("unknown field `packed`"), "what machines start from is not unpacked");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let cases = [
            (FILE.replace("os-name", "os-nme"), "unknown field `os-nme`"),
            (FILE.replace("bytes = 7", "bytes = \"7\""), "line 8"),
            (FILE.replace("[boot.agent-image]", "[boot.http]"), "missing field `agent-image`"),
            (FILE.replace("compute = ", "computer = "), "unknown variant `computer`"),
        ];
        for (text, expected) in cases {
            let trouble = read(&text).unwrap_err();
            assert!(trouble.details.concat().contains(expected), "{:?}", trouble.details);
        }
        let twice = FILE.replace("management = \"b\"", "management = \"b\"\ncompute = \"c\"");
        assert!(read(&twice).unwrap_err().message.ends_with("the user data of Compute is given twice"));
        assert!(read(&FILE.replace("compute.yaml", "gone.yaml")).unwrap_err().message.ends_with("gone.yaml cannot be read"));
    }
}
