//! `rackwright vm create`: what a virtual machine is to be like.

use std::path::Path;

use base64::Engine;
use clap::Args;
use serde_json::{Value, json};

use super::act::FollowArgs;
use super::args::{NameArgs, parse_name};
use super::shorthand;
use super::trouble::{Exit, Trouble};
use super::update::TagsArgs;

#[derive(Args, Clone, Debug)]
pub struct CreateArgs {
    #[command(flatten)]
    pub name: NameArgs,

    /// Its processors.
    #[arg(long, value_name = "COUNT")]
    cpu_cores: u32,

    /// Its memory in gigabytes.
    #[arg(long, visible_alias = "memory-size-gb", value_name = "GB")]
    memory_size: u32,

    /// The image that its system's disk is made from.
    #[arg(long, value_name = "IMAGE")]
    vm_image: String,

    /// The size of its system's disk in gigabytes.
    #[arg(long, value_name = "GB")]
    os_disk_size: u32,

    /// Whether the disk outlives a stop. One that does binds the virtual machine to the machine where it was made.
    #[arg(long, value_name = "Ephemeral|Persistent", value_parser = ["Ephemeral", "Persistent"], default_value = "Persistent")]
    os_disk_storage: String,

    /// The login of whoever administers it.
    #[arg(long, value_name = "NAME", default_value = "azureuser")]
    admin_username: String,

    /// How it boots; without it, as its image does best.
    #[arg(long, value_name = "BIOS|UEFI", value_parser = ["BIOS", "UEFI"])]
    boot_method: Option<String>,

    /// Near what it should run, or away from what: JSON, or `[{hint-type:AntiAffinity,scheduling-execution:Hard,scope:Rack,resource-id:ID}]`.
    #[arg(long, value_name = "HINTS", value_parser = shorthand::parse)]
    placement_hints: Option<Value>,

    /// The networks that it is attached to: JSON, or `[{attached-network-id:ID,ip-allocation-method:Dynamic}]`.
    #[arg(long, value_name = "NETWORKS", value_parser = shorthand::parse)]
    network_attachments: Option<Value>,

    /// The network of the site's services: JSON, or `{attached-network-id:ID,ip-allocation-method:Dynamic}`.
    #[arg(long, visible_alias = "csn-attachment", value_name = "NETWORK", value_parser = shorthand::parse)]
    cloud_services_network_attachment: Option<Value>,

    /// A login for where the image is: JSON, or `{registry-url:URL,username:NAME,password:TEXT}`.
    #[arg(long, value_name = "LOGIN", value_parser = shorthand::parse)]
    vm_image_repository_credentials: Option<Value>,

    /// Keys that may log in: the keys themselves, or files that have one.
    #[arg(long, value_name = "KEY|FILE", num_args = 1..)]
    ssh_key_values: Vec<String>,

    /// A file that is handed to cloud-init as user data.
    #[arg(long, value_name = "FILE")]
    user_data: Option<std::path::PathBuf>,

    /// The cluster that it is to be on, where the resource group has several.
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    cluster: Option<String>,

    #[command(flatten)]
    tags: TagsArgs,

    #[command(flatten)]
    pub follow: FollowArgs,
}

impl CreateArgs {
    pub fn body(&self) -> Result<Value, Trouble> {
        let mut properties = json!({
            "adminUsername": self.admin_username,
            "cpuCores": self.cpu_cores,
            "memorySizeGB": self.memory_size,
            "storageProfile": { "osDisk": { "createOption": self.os_disk_storage, "deleteOption": "Delete", "diskSizeGB": self.os_disk_size } },
            "vmImage": self.vm_image,
        });
        let optional = [
            ("bootMethod", self.boot_method.clone().map(Value::from)),
            ("placementHints", self.placement_hints.clone()),
            ("networkAttachments", self.network_attachments.clone()),
            ("cloudServicesNetworkAttachment", self.cloud_services_network_attachment.clone()),
            ("vmImageRepositoryCredentials", self.vm_image_repository_credentials.clone()),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                properties[name] = value;
            }
        }
        if !self.ssh_key_values.is_empty() {
            let keys: Vec<Value> =
                self.ssh_key_values.iter().map(|key| Ok(json!({ "keyData": key_of(key)? }))).collect::<Result<_, Trouble>>()?;
            properties["sshPublicKeys"] = json!(keys);
        }
        if let Some(file) = &self.user_data {
            let data = std::fs::read(file).map_err(|problem| unreadable(file, &problem))?;
            properties["userDataContent"] = json!(base64::engine::general_purpose::STANDARD.encode(data));
        }
        let mut body = json!({ "properties": properties, "tags": self.tags.by_key()? });
        if let Some(cluster) = &self.cluster {
            body["extendedLocation"] = json!({ "name": cluster, "type": "CustomLocation" });
        }
        Ok(body)
    }
}

/// A key as it was typed, or what is in the file of that name.
fn key_of(typed: &str) -> Result<String, Trouble> {
    let path = Path::new(typed);
    if typed.contains(' ') || !path.exists() {
        return Ok(typed.to_owned());
    }
    std::fs::read_to_string(path).map(|key| key.trim().to_owned()).map_err(|problem| unreadable(path, &problem))
}

fn unreadable(file: &Path, problem: &std::io::Error) -> Trouble {
    Trouble::new(Exit::Usage, format!("`{}` cannot be read: {problem}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::super::args::{Cli, Command};
    use super::super::vm::VmCommand;
    use super::*;
    use clap::Parser;

    fn body(words: &str) -> Value {
        let line = format!("rackwright vm create fw --cpu-cores 2 --memory-size 4 --vm-image i --os-disk-size 20 {words}");
        match Cli::try_parse_from(line.split_whitespace()).unwrap().command {
            Some(Command::Vm(VmCommand::Create(args))) => args.body().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_typed_is_what_is_described() {
        let plain = body("");
        assert_eq!(plain["properties"]["storageProfile"]["osDisk"]["createOption"], "Persistent");
        assert_eq!((&plain["tags"], plain.get("extendedLocation")), (&json!({}), None));
        let full = body(
            "--placement-hints [{hint-type:Affinity,scope:Machine}] --ssh-key-values ssh-ed25519 --tags a=b --cluster c1 --boot-method UEFI",
        );
        assert_eq!(full["properties"]["placementHints"], json!([{ "hintType": "Affinity", "scope": "Machine" }]));
        assert_eq!(full["properties"]["sshPublicKeys"], json!([{ "keyData": "ssh-ed25519" }]));
        assert_eq!([&full["extendedLocation"]["name"], &full["tags"]["a"], &full["properties"]["bootMethod"]], ["c1", "b", "UEFI"]);
    }

    #[test]
    fn a_file_is_read_where_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("key");
        std::fs::write(&file, "hello").unwrap();
        let words = format!("--user-data {0} --ssh-key-values {0}", file.display());
        let properties = &body(&words)["properties"];
        assert_eq!((&properties["userDataContent"], &properties["sshPublicKeys"][0]["keyData"]), (&json!("aGVsbG8="), &json!("hello")));
    }
}
