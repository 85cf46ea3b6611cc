//! What a BMC offers to whoever wants to install its machine, and what it is busy with.

use http::Uri;
use model::{BootSeen, BootWay, Fault, FaultClass, JobSeen, SourceSeen, Survey, shortened};
use serde_json::Value;

use crate::bmc::Bmc;
use crate::boot::{self, BootSource, BootTarget, choose_target, read_boot};
use crate::document::{self, field, text, texts};
use crate::jobs::{JobRef, JobState, read_job};
use crate::line::Deadline;
use crate::listing::{Listing, Member, is_absence};
use crate::media::{INSERT, MediaSeen, read_media};
use crate::quirks::Quirks;

/// What the name of a job about firmware has in it, in lower case. Makers have words of their own.
const OF_FIRMWARE: [&str; 6] = ["firmware", "bios", "update", "cpld", "flash", "repository"];

impl Bmc {
    /// Which ways there are to start the machine for an installation, and which jobs are not over.
    pub async fn observe_survey(&self) -> Result<Survey, Fault> {
        let deadline = Deadline::of_call();
        let system = self.read_system_to_ask(deadline).await?;
        let quirks = self.quirks(&system, deadline).await?;
        let mut ways = Vec::new();
        for way in BootWay::ALL {
            let is_offered = is_started_from(way, field(system.document(), "Boot"), quirks);
            if is_offered && (way != BootWay::VirtualMedia || self.takes_media(deadline).await?) {
                ways.push(way);
            }
        }
        let jobs = match self.tasks(deadline).await {
            Ok(tasks) => Some(unfinished(tasks)),
            Err(fault) if is_absence(&fault) => None,
            Err(fault) => return Err(fault),
        };
        Ok(Survey { ways, jobs })
    }

    /// What is in the CD drive, if there is one, and what the machine will start from.
    pub async fn observe_start(&self) -> Result<BootSeen, Fault> {
        let deadline = Deadline::of_call();
        let media = match self.find_slot(deadline).await {
            Ok(slot) => read_media(&slot.document),
            Err(fault) if fault.class == FaultClass::Unsupported => MediaSeen::Empty,
            Err(fault) => return Err(fault),
        };
        let system = self.read_system_to_ask(deadline).await?;
        let media = match media {
            MediaSeen::Empty => None,
            MediaSeen::Inserted { image } => Some(image.unwrap_or_default()),
        };
        Ok(BootSeen { media, source: source_of(&read_boot(field(system.document(), "Boot"))) })
    }

    /// Whether there is a CD drive that an image can be put into, by an action or by writing to it.
    async fn takes_media(&self, deadline: Deadline) -> Result<bool, Fault> {
        let slot = match self.find_slot(deadline).await {
            Ok(slot) => slot,
            Err(fault) if fault.class == FaultClass::Unsupported => return Ok(false),
            Err(fault) => return Err(fault),
        };
        if document::action(&slot.path, &slot.document, INSERT).is_some() {
            return Ok(true);
        }
        let allow = self.line().read(&slot.path, deadline).await?.allow;
        // One that does not say what may be done to it is tried.
        Ok(allow.is_none_or(|allow| allow.contains("PATCH")))
    }
}

/// An override that is off leaves the machine to its own order, which is its disk's as far as it concerns us.
fn source_of(boot: &boot::BootSeen) -> SourceSeen {
    match (&boot.target, boot.persistence) {
        (_, None) | (None | Some(BootTarget::None | BootTarget::Hdd), _) => SourceSeen::Disk,
        (Some(BootTarget::Cd), _) => SourceSeen::Media,
        (Some(BootTarget::UefiHttp), _) => SourceSeen::Http,
        (Some(BootTarget::Pxe), _) => SourceSeen::Pxe,
        (Some(BootTarget::Other(_)), _) => SourceSeen::Other,
    }
}

/// Whether the boot override leads that way. HTTP boot is too rare to be guessed where nothing is listed.
fn is_started_from(way: BootWay, boot: &Value, quirks: &Quirks) -> bool {
    let is_listed = texts(field(boot, "BootSourceOverrideTarget@Redfish.AllowableValues")).is_some();
    match way {
        BootWay::VirtualMedia => boot.is_object() && choose_target(&BootSource::Cd, boot, quirks).is_some(),
        BootWay::UefiHttp => is_listed && choose_target(&BootSource::UefiHttp(Uri::default()), boot, quirks).is_some(),
        BootWay::Pxe => boot.is_object() && choose_target(&BootSource::Pxe, boot, quirks).is_some(),
    }
}

fn unfinished(tasks: Listing<Member>) -> Vec<JobSeen> {
    let mut jobs: Vec<JobSeen> = tasks.members.into_iter().filter_map(read_unfinished).collect();
    // It is told of, and keeps nobody from anything: a task that can never be read would do so for ever.
    let unread = || JobSeen { name: "a job that cannot be read".to_owned(), percent: None, concerns_firmware: false };
    jobs.extend((0..tasks.unread).map(|_| unread()));
    jobs
}

fn read_unfinished(member: Member) -> Option<JobSeen> {
    let target = text(field(&member.document, "Payload"), "TargetUri");
    let job = read_job(JobRef::new(member.path), &member.document);
    let is_over = matches!(job.state, Some(JobState::Succeeded | JobState::Failed | JobState::Cancelled));
    let name = job.name.unwrap_or_else(|| job.reference.to_string());
    let concerns_firmware = target.is_some_and(|target| target.contains("UpdateService")) || is_of_firmware(&name);
    (!is_over).then(|| JobSeen { name: shortened(&name), percent: job.percent, concerns_firmware })
}

fn is_of_firmware(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    OF_FIRMWARE.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ways(boot: &Value) -> Vec<BootWay> {
        BootWay::ALL.into_iter().filter(|way| is_started_from(*way, boot, Quirks::of(["Dell"]))).collect()
    }

    #[test]
    fn what_is_not_listed_is_not_offered_and_without_a_list_only_the_usual_is_assumed() {
        let listing = |targets: &[&str]| json!({"BootSourceOverrideTarget@Redfish.AllowableValues": targets});
        assert_eq!(ways(&listing(&["None", "Pxe", "Cd", "Hdd", "UefiHttp"])), BootWay::ALL);
        assert_eq!(ways(&listing(&["Hdd", "pxe"])), [BootWay::Pxe]);
        assert_eq!(ways(&listing(&["Hdd"])), []);
        assert_eq!(ways(&json!({})), [BootWay::VirtualMedia, BootWay::Pxe]);
        assert_eq!(ways(&Value::Null), []);
    }

    #[test]
    fn an_override_that_is_off_or_names_no_device_means_the_disk() {
        let table = [
            (json!({"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "Cd"}), SourceSeen::Disk),
            (json!({"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "UsbCd"}), SourceSeen::Media),
            (json!({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UefiHttp"}), SourceSeen::Http),
            (json!({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}), SourceSeen::Pxe),
            (json!({"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "Hdd"}), SourceSeen::Disk),
            (json!({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "BiosSetup"}), SourceSeen::Other),
            (json!({}), SourceSeen::Disk),
        ];
        for (boot, expected) in table {
            assert_eq!(source_of(&read_boot(&boot)), expected, "{boot}");
        }
    }

    #[test]
    fn jobs_that_are_over_are_left_out_and_those_about_firmware_are_known_by_name_or_target() {
        let tasks = [
            json!({"Name": "Firmware Update: BIOS_9C3D2", "TaskState": "Running", "PercentComplete": 40}),
            json!({"Name": "Task 7", "TaskState": "New", "Payload": {"TargetUri": "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"}}),
            json!({"Name": "Create Volume: OS", "TaskState": "Running"}),
            json!({"Name": "BIOS Configuration", "TaskState": "Scheduled"}),
            json!({"Name": "Firmware Update: done", "TaskState": "Completed", "TaskStatus": "OK"}),
            json!({"TaskState": "Exception"}),
        ];
        let members = tasks.into_iter().map(|document| Member { path: "/t/1".into(), document }).collect();
        let shown: Vec<(String, Option<u8>, bool)> =
            unfinished(Listing { members, unread: 1 }).into_iter().map(|job| (job.name, job.percent, job.concerns_firmware)).collect();
        let expected = [
            ("Firmware Update: BIOS_9C3D2", Some(40), true),
            ("Task 7", None, true),
            ("Create Volume: OS", None, false),
            ("BIOS Configuration", None, true),
            ("a job that cannot be read", None, false),
        ];
        assert_eq!(shown, expected.map(|(name, percent, firmware)| (name.to_owned(), percent, firmware)));
    }
}
