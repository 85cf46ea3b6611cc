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
    /// Whether it tells what volumes are called on the bus: a volume `OS` is `wwn-OS-1`, and another one when it was made anew.
    pub tells_wwns: bool,
    /// Volumes that are told of only once the machine is off.
    pub appear_when_off: Vec<String>,
    /// Volumes that were made.
    pub made: u32,
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
            tells_wwns: false,
            appear_when_off: Vec::new(),
            made: 0,
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
                self.made += 1;
            }
            (DeviceAsk::MakeOsVolume, with) => panic!("a volume {with:?}"),
            _ => {}
        }
    }

    /// Whether the agent finds the disk that it is told to write to.
    pub fn has(&self, disk: &OsTarget) -> bool {
        let is_volume = |name: &String| self.volumes.as_ref().is_some_and(|volumes| volumes.contains(name));
        let is_drive = |serial: &String| (0..self.drives).any(|bay| *serial == format!("drive{bay}"));
        let is_named = |id: &String| is_drive(id) || self.volumes.iter().flatten().any(|name| *id == self.wwn(name));
        match &disk.wwn {
            Some(wwn) => is_named(wwn),
            None => disk.volume.as_ref().is_some_and(is_volume) || disk.serial.as_ref().or(disk.id.as_ref()).is_some_and(is_named),
        }
    }

    pub fn wwn(&self, volume: &str) -> String {
        format!("wwn-{volume}-{}", self.made + 1)
    }

    pub fn volumes(&self, is_on: bool) -> VolumesSeen {
        let seen = |(place, name): (usize, &String)| {
            let path = if self.are_numbered { format!("/volumes/{place}") } else { format!("/volumes/{name}") };
            VolumeSeen { path, controller: "/raid".into(), name: name.clone(), wwn: self.tells_wwns.then(|| self.wwn(name)) }
        };
        let late = self.appear_when_off.iter().filter(|_| !is_on);
        VolumesSeen {
            volumes: self
                .volumes
                .as_ref()
                .filter(|_| is_on || !self.are_shy)
                .map(|volumes| volumes.iter().chain(late).enumerate().map(seen).collect()),
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
