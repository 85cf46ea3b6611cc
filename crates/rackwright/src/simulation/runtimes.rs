//! The runtimes that a simulated site comes with: described by files as a real site's are, with images that the simulator serves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sim::images;

use crate::cli::trouble::Trouble;
use crate::private_file;
use crate::runtime_file::{ArtefactTable, BootTable, FloorTable, RoleKey, RuntimeFile};

/// Two older ones, the one that made-up sites run, and a newer one.
const VERSIONS: [&str; 4] = ["4.1.6", "4.4.3", "4.9.2", "4.11.1"];

/// Where the files are, beside the site files.
const DIRECTORY: &str = "runtimes";

/// The first-boot configuration of each role.
const TEMPLATES: [(RoleKey, &str); 3] = [
    (RoleKey::ControlPlane, include_str!("../../../../examples/runtimes/simulated/control-plane.yaml")),
    (RoleKey::Management, include_str!("../../../../examples/runtimes/simulated/management.yaml")),
    (RoleKey::Compute, include_str!("../../../../examples/runtimes/simulated/compute.yaml")),
];

/// What the simulated machines' firmware must be at least: less than it is when they are delivered.
const FLOORS: [(&str, &str, &str); 4] = [
    ("PowerEdge R750", "BIOS", "1.10.2"),
    ("PowerEdge R750", "BMC", "7.00.30.00"),
    ("PowerEdge R650", "BIOS", "1.10.2"),
    ("PowerEdge R650", "BMC", "7.00.30.00"),
];

/// Writes the files, for the usual versions and for those that the sites run. `base` is where the simulator serves its images.
pub fn write<'a>(dir: &Path, base: &str, running: impl Iterator<Item = &'a str>) -> Result<Vec<PathBuf>, Trouble> {
    let dir = dir.join(DIRECTORY);
    private_file::create_directory(&dir).map_err(|error| Trouble::caused(&format!("{} cannot be made", dir.display()), &error))?;
    let mut versions: Vec<&str> = VERSIONS.to_vec();
    versions.extend(running);
    versions.sort_by(|a, b| model::natural_cmp(a, b));
    versions.dedup();
    let mut files = Vec::new();
    for version in versions {
        let path = dir.join(format!("{version}.toml"));
        let text =
            toml::to_string(&described(version, base)).map_err(|error| Trouble::caused("a runtime file cannot be written", &error))?;
        super::write_private(&path, &text)?;
        files.push(path);
    }
    Ok(files)
}

fn described(version: &str, base: &str) -> RuntimeFile {
    let runtime = images::runtime(version);
    let artefact = |image: images::Image| ArtefactTable { url: format!("{base}{}", image.path), sha256: image.sha256, bytes: image.bytes };
    let floor = |(model, component, minimum): (&str, &str, &str)| FloorTable {
        model: model.to_owned(),
        component: component.to_owned(),
        minimum: minimum.to_owned(),
    };
    RuntimeFile {
        version: runtime.version,
        os_name: runtime.os_name,
        kubernetes_version: runtime.kubernetes_version,
        os_image: artefact(runtime.os).into(),
        boot: BootTable { agent_image: artefact(runtime.agent), http: Some(artefact(runtime.http)), pxe: Some(artefact(runtime.pxe)) },
        firmware: FLOORS.map(floor).to_vec(),
        user_data: TEMPLATES.map(|(role, template)| (role, template.to_owned())).into_iter().collect(),
        user_data_files: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_can_be_read_and_name_the_simulators_images() {
        let dir = tempfile::tempdir().unwrap();
        let files = write(dir.path(), "http://127.0.0.1:1", ["4.9.2", "4.2.0"].into_iter()).unwrap();
        let versions: Vec<String> = files.iter().map(|file| RuntimeFile::read(file).unwrap().version).collect();
        assert_eq!(versions, ["4.1.6", "4.2.0", "4.4.3", "4.9.2", "4.11.1"]);
        let file = RuntimeFile::read(&files[3]).unwrap();
        assert_eq!(file.os_image.url, "http://127.0.0.1:1/images/4.9.2/os.img");
        assert_eq!(file.user_data.len(), 3);
    }
}
