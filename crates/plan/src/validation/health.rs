//! `health_info`: what sensors and drives say of themselves, and what the BMC has written into its log.

use model::{
    AlarmSeen, Category, CategoryResult, Comparison, DriveSeen, Inspection, LogSeen, PartHealth, SensorKind, SensorSeen, Span, Timestamp,
};

use super::Expected;
use super::sheet::{NOT_OFFERED, Sheet};

const WELL: &str = "Enabled-OK";
const CRITICAL_ALARMS: &str = "LCLog_Critical_Alarms";
const WARNING_ALARMS: &str = "LCLog_Warning_Alarms - Non-Failing";

/// How long an alarm speaks against a machine.
///
/// A day outlasts a repair and what it sets off; what is wrong for longer shows in a sensor. The log itself is kept for years.
const ALARM_LIFE: Span = Span::hours(24);

/// No machine of a site is older than this, the first moment of 2020: a clock that reads less was never set.
const CLOCKS_SET_SINCE: Timestamp = Timestamp::from_millis(1_577_836_800_000);

/// Alarms that one field repeats at most.
const ALARMS_TOLD: usize = 3;

pub(super) fn judge(expected: &Expected<'_>, inspection: &Inspection) -> CategoryResult {
    let mut sheet = Sheet::new(Category::HealthInfo);
    // Parts are judged one by one below; the whole may be called critical for a power supply alone.
    let system = match inspection.system.health {
        None => Comparison::Info,
        Some(PartHealth::Ok) => Comparison::Pass,
        Some(PartHealth::Warning | PartHealth::Critical) => Comparison::Warning,
    };
    // Whoever does not come up is never validated, so there is no failure to tell here.
    if expected.was_switched_on {
        sheet.tell("Server Control Actions", Comparison::Pass, "Success", "Success");
    }
    sheet.tell("System", system, "OK", inspection.system.health.map_or(NOT_OFFERED, health_word));
    for sensor in sheet.answer("sensors", WELL, &inspection.sensors).into_iter().flatten() {
        judge_sensor(&mut sheet, sensor);
    }
    // Whether drives can be told of is `drive_info`'s to say.
    for drive in inspection.drives.told().into_iter().flatten() {
        judge_drive(&mut sheet, drive);
    }
    if let Some(alarms) = sheet.answer(CRITICAL_ALARMS, "No Critical Errors", &inspection.alarms) {
        judge_alarms(&mut sheet, alarms, &inspection.log, expected.now);
    }
    sheet.judged()
}

fn judge_sensor(sheet: &mut Sheet, sensor: &SensorSeen) {
    let state = sensor.state.as_deref().unwrap_or("Enabled");
    let Some(health) = sensor.health else {
        let fetched = sensor.state.as_deref().unwrap_or(NOT_OFFERED);
        return sheet.tell(&sensor.name, Comparison::Info, WELL, fetched);
    };
    let comparison = match (health, sensor.kind) {
        (PartHealth::Ok, _) => Comparison::Pass,
        (PartHealth::Critical, kind) if kind != SensorKind::PowerSupply => Comparison::Fail,
        (PartHealth::Critical | PartHealth::Warning, _) => Comparison::Warning,
    };
    sheet.tell(&sensor.name, comparison, WELL, format!("{state}-{}", health_word(health)));
}

/// A drive that expects to fail still works; one that has failed does not.
fn judge_drive(sheet: &mut Sheet, drive: &DriveSeen) {
    let name = format!("Disk_{}", drive.bay);
    match drive.health {
        None if !drive.failure_predicted => sheet.tell(name, Comparison::Info, WELL, NOT_OFFERED),
        Some(PartHealth::Critical) => sheet.tell(name, Comparison::Fail, WELL, "Enabled-Critical"),
        Some(PartHealth::Warning) => sheet.tell(name, Comparison::Warning, WELL, "Enabled-Warning"),
        _ if drive.failure_predicted => sheet.tell(name, Comparison::Warning, WELL, "failure predicted"),
        _ => sheet.tell(name, Comparison::Pass, WELL, WELL),
    }
}

fn judge_alarms(sheet: &mut Sheet, alarms: &[AlarmSeen], log: &LogSeen, now: Timestamp) {
    let (recent, old): (Vec<&AlarmSeen>, Vec<&AlarmSeen>) = alarms.iter().partition(|alarm| is_recent(alarm, log, now));
    let (passed_over, others): (Vec<&AlarmSeen>, Vec<&AlarmSeen>) = recent.into_iter().partition(|alarm| is_of_repair(alarm));
    let of = |health| others.iter().copied().filter(move |alarm| alarm.health == health).collect::<Vec<_>>();
    let (critical, warnings) = (of(PartHealth::Critical), of(PartHealth::Warning));
    match (critical.is_empty(), log.unread) {
        (true, 0) => sheet.tell(CRITICAL_ALARMS, Comparison::Pass, "No Critical Errors", "No Critical Errors"),
        (true, _) => sheet.tell(CRITICAL_ALARMS, Comparison::Warning, "No Critical Errors", "none among what could be read of the log"),
        (false, _) => sheet.tell(CRITICAL_ALARMS, Comparison::Fail, "No Critical Errors", told(&critical)),
    }
    if !warnings.is_empty() {
        sheet.tell(WARNING_ALARMS, Comparison::Info, "No Warning Errors", told(&warnings));
    }
    if !passed_over.is_empty() {
        sheet.log(format!("Alarms of virtual disks and of jobs were passed over: {}", told(&passed_over)));
    }
    let old = old.iter().filter(|alarm| alarm.health == PartHealth::Critical).count();
    if old > 0 {
        sheet.log(format!("Critical alarms that are older than {ALARM_LIFE} were passed over: {old}"));
    }
}

/// Whether an alarm comes of a repair, rather than of a part: a RAID controller that was reset, or a drive that was exchanged, sets
/// off those of virtual disks; and a job that failed, such as the deletion of a volume, would stand against the next try for a day.
fn is_of_repair(alarm: &AlarmSeen) -> bool {
    let message = alarm.message.to_ascii_lowercase();
    message.contains("virtual disk") || ["task ", "job ", "the job "].iter().any(|beginning| message.starts_with(*beginning))
}

/// By the clock that wrote it, if that is known: a board that nobody has told the time counts from its own beginning. One whose date
/// nobody can read may be of now, and so may one that was written before the clock was set.
fn is_recent(alarm: &AlarmSeen, log: &LogSeen, now: Timestamp) -> bool {
    let clock = log.clock.as_deref().and_then(Timestamp::parse);
    let Some(created) = alarm.created.as_deref().and_then(Timestamp::parse) else { return true };
    let was_unset = created < CLOCKS_SET_SINCE && clock.is_none_or(|clock| clock >= CLOCKS_SET_SINCE);
    was_unset || clock.unwrap_or(now) < created + ALARM_LIFE
}

fn told(alarms: &[&AlarmSeen]) -> String {
    let mut said: Vec<String> = alarms
        .iter()
        .take(ALARMS_TOLD)
        .map(|alarm| format!("{} {}", alarm.created.as_deref().unwrap_or_default(), model::shortened(&alarm.message)).trim().to_owned())
        .collect();
    if alarms.len() > ALARMS_TOLD {
        said.push(format!("and {} more", alarms.len() - ALARMS_TOLD));
    }
    said.join("; ")
}

fn health_word(health: PartHealth) -> &'static str {
    match health {
        PartHealth::Ok => "OK",
        PartHealth::Warning => "Warning",
        PartHealth::Critical => "Critical",
    }
}
