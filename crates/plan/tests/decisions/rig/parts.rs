//! What a machine is made of, and the volumes on its drives.

use model::{BootDeviceSeen, DeviceAsk, DriveSeen, Inspection, PartHealth, PortSeen, SystemSeen, Told, VolumeSeen, VolumesSeen};
use plan::{Step, With};

#[derive(Clone, Debug)]
pub struct Parts {
    /// By name; nothing where the BMC has none to offer.
    pub volumes: Option<Vec<String>>,
    /// So many deletions are taken, and nothing comes of them.
    pub deletions_ignored: u32,
    pub deleted: Vec<String>,
    pub serial_number: String,
    pub is_linked: bool,
    /// Until it has been on for a while its links are down.
    pub drives: u32,
}

impl Default for Parts {
    fn default() -> Self {
        let volumes = Some(vec!["OS".to_owned(), "tenants".to_owned()]);
        Parts { volumes, deletions_ignored: 0, deleted: Vec::new(), serial_number: "sn".into(), is_linked: true, drives: 1 }
    }
}

impl Parts {
    pub fn take(&mut self, step: &Step) {
        match (step.ask, &step.with) {
            (DeviceAsk::DeleteVolume, With::Volume { .. }) if self.deletions_ignored > 0 => self.deletions_ignored -= 1,
            (DeviceAsk::DeleteVolume, With::Volume { path }) => {
                let name = path.trim_start_matches("/volumes/").to_owned();
                let volumes = self.volumes.as_mut().expect("volumes");
                assert!(volumes.contains(&name), "volume {name} is deleted, and is not there");
                volumes.retain(|volume| *volume != name);
                self.deleted.push(name);
            }
            (DeviceAsk::DeleteVolume, with) => panic!("a deletion of {with:?}"),
            (DeviceAsk::MakeOsVolume, _) => {
                let volumes = self.volumes.as_mut().expect("volumes");
                assert_eq!(*volumes, Vec::<String>::new(), "a volume is made beside another");
                volumes.push("OS".into());
            }
            _ => {}
        }
    }

    pub fn volumes(&self) -> VolumesSeen {
        let seen = |name: &String| VolumeSeen { path: format!("/volumes/{name}"), controller: "/raid".into(), name: name.clone() };
        VolumesSeen { volumes: self.volumes.as_ref().map(|volumes| volumes.iter().map(seen).collect()) }
    }

    pub fn inspection(&self, is_on: bool) -> Inspection {
        let drive = |bay| DriveSeen {
            bay,
            name: format!("Disk {bay}"),
            capacity_gb: Some(960),
            kind: Some("SSD".into()),
            serial: None,
            health: Some(PartHealth::Ok),
            failure_predicted: false,
        };
        Inspection {
            system: SystemSeen {
                model: Some("model".into()),
                serial_number: Some(self.serial_number.clone()),
                bmc_mac: Some("m".into()),
                memory_gib: Some(512),
                sockets: Some(2),
                health: Some(PartHealth::Ok),
            },
            drives: Told::Told((0..self.drives).map(drive).collect()),
            ports: Told::Told(vec![PortSeen {
                name: "NIC.1".into(),
                mac: Some("m".into()),
                is_up: Some(self.is_linked && is_on),
                health: None,
            }]),
            sensors: Told::NotOffered,
            alarms: Told::Told(Vec::new()),
            firmware: Told::NotOffered,
            boot: Told::Told(BootDeviceSeen::default()),
            license: Told::NotOffered,
        }
    }
}
