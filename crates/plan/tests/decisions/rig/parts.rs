//! What a machine is made of, and the volumes on its drives.

use model::{BootDeviceSeen, DeviceAsk, DriveSeen, Inspection, OsTarget, PartHealth, PortSeen, SystemSeen, Told, VolumeSeen, VolumesSeen};
use plan::{Step, With};

#[derive(Clone, Debug)]
pub struct Parts {
    /// By name; nothing where the BMC has none to offer.
    pub volumes: Option<Vec<String>>,
    /// So many deletions are taken, and nothing comes of them.
    pub deletions_ignored: u32,
    pub deleted: Vec<String>,
    /// Volumes are called by their place in the list, as some controllers do it.
    pub are_numbered: bool,
    /// Volumes are told of only while the machine is on.
    pub are_shy: bool,
    pub serial_number: String,
    pub is_linked: bool,
    /// Until it has been on for a while its links are down.
    pub drives: u32,
}

impl Default for Parts {
    fn default() -> Self {
        let volumes = Some(vec!["OS".to_owned(), "tenants".to_owned()]);
        Parts {
            volumes,
            deletions_ignored: 0,
            deleted: Vec::new(),
            are_numbered: false,
            are_shy: false,
            serial_number: "sn".into(),
            is_linked: true,
            drives: 2,
        }
    }
}

impl Parts {
    pub fn take(&mut self, step: &Step) {
        match (step.ask, &step.with) {
            (DeviceAsk::DeleteVolume, With::Volume { .. }) if self.deletions_ignored > 0 => self.deletions_ignored -= 1,
            (DeviceAsk::DeleteVolume, With::Volume { path }) => {
                let called = path.trim_start_matches("/volumes/");
                let by_place = |place: usize| self.volumes.as_ref().expect("volumes")[place].clone();
                let name = if self.are_numbered { by_place(called.parse().unwrap()) } else { called.to_owned() };
                let volumes = self.volumes.as_mut().expect("volumes");
                assert!(volumes.contains(&name), "volume {name} is deleted, and is not there");
                volumes.retain(|volume| *volume != name);
                self.deleted.push(name);
            }
            (DeviceAsk::DeleteVolume, with) => panic!("a deletion of {with:?}"),
            (DeviceAsk::MakeOsVolume, With::OsVolume { name }) => {
                let volumes = self.volumes.as_mut().expect("volumes");
                assert_eq!(*volumes, Vec::<String>::new(), "a volume is made beside another");
                volumes.push(name.clone());
            }
            (DeviceAsk::MakeOsVolume, with) => panic!("a volume {with:?}"),
            _ => {}
        }
    }

    /// Whether the agent finds the disk that it is told to write to.
    pub fn has(&self, disk: &OsTarget) -> bool {
        let is_volume = |name: &String| self.volumes.as_ref().is_some_and(|volumes| volumes.contains(name));
        let is_drive = |serial: &String| (0..self.drives).any(|bay| *serial == format!("drive{bay}"));
        disk.volume.as_ref().is_some_and(is_volume) || disk.serial.as_ref().is_some_and(is_drive)
    }

    pub fn volumes(&self, is_on: bool) -> VolumesSeen {
        let seen = |(place, name): (usize, &String)| {
            let path = if self.are_numbered { format!("/volumes/{place}") } else { format!("/volumes/{name}") };
            VolumeSeen { path, controller: "/raid".into(), name: name.clone() }
        };
        VolumesSeen {
            volumes: self.volumes.as_ref().filter(|_| is_on || !self.are_shy).map(|volumes| volumes.iter().enumerate().map(seen).collect()),
        }
    }

    pub fn inspection(&self, is_on: bool) -> Inspection {
        let drive = |bay| DriveSeen {
            bay,
            name: format!("Disk {bay}"),
            capacity_gb: Some(960),
            kind: Some("SSD".into()),
            serial: Some(format!("drive{bay}")),
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
            log: model::LogSeen::default(),
            firmware: Told::NotOffered,
            boot: Told::Told(BootDeviceSeen::default()),
            license: Told::NotOffered,
        }
    }
}
