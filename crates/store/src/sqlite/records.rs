//! The rows of the log: written with their commit, read by label, place and time, and removed when they are too many.

use model::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};

use super::rows::{check, checksum, revision_at};
use crate::ledger::Accepted;
use crate::record::places;
use crate::{LogOrder, LogQuery, Record, RecordPlace, Retention, Revision};

/// How many records a batch of commits removes, if it adds few itself: a few milliseconds of work, so that nobody waits
/// long for their commit on the day on which a whole site's records become too old at once.
const TRIM_STEP: u64 = 512;

pub(super) fn load_count(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_row("SELECT count(*) FROM records", [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
}

pub(super) fn save(connection: &Connection, accepted: &Accepted) -> rusqlite::Result<()> {
    let at = accepted.at;
    for (place, record) in places(accepted.revision).zip(&accepted.records) {
        let (revision, position) = (place.revision.0.cast_signed(), place.position);
        connection
            .prepare_cached("INSERT INTO records (revision, position, at, value, checksum) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![revision, position, at.as_millis(), record.value.as_ref(), record_checksum(place, at, &record.value)])?;
        for label in &record.labels {
            connection
                .prepare_cached("INSERT OR IGNORE INTO record_labels (revision, position, label, at) VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![revision, position, label, at.as_millis()])?;
        }
    }
    Ok(())
}

/// What a query finds among the records that are not newer than `through`.
pub(super) fn load(connection: &Connection, query: &LogQuery, through: Revision) -> rusqlite::Result<Vec<Record>> {
    let (sql, values) = select(query, through);
    let mut statement = connection.prepare_cached(&sql)?;
    let records = statement.query_map(params_from_iter(values), load_record)?;
    records.collect()
}

/// The statement and its values. The conditions are on the label's index where there is a label, so that the records
/// themselves are read only when they are wanted.
fn select(query: &LogQuery, through: Revision) -> (String, Vec<Value>) {
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    let mut require = |condition: &str, wanted: &mut Vec<Value>| {
        conditions.push(condition.to_owned());
        values.append(wanted);
    };
    let table = if query.label.is_some() { "record_labels" } else { "records" };
    if let Some(label) = &query.label {
        require("entry.label = ?", &mut vec![Value::from(label.clone())]);
    }
    if let Some(from) = query.from {
        require("entry.at >= ?", &mut vec![Value::from(from.as_millis())]);
    }
    if let Some(to) = query.to {
        require("entry.at <= ?", &mut vec![Value::from(to.as_millis())]);
    }
    let (compare, direction) = match query.order {
        LogOrder::NewestFirst => ("<", "DESC"),
        LogOrder::OldestFirst => (">", "ASC"),
    };
    if let Some(RecordPlace { revision, position }) = query.after {
        let condition = format!("(entry.revision, entry.position) {compare} (?, ?)");
        require(&condition, &mut vec![Value::from(revision.0.cast_signed()), Value::from(position)]);
    }
    // With two upper bounds SQLite would begin at either; a page that goes backwards has a better one.
    if query.after.is_none() || query.order == LogOrder::OldestFirst {
        require("entry.revision <= ?", &mut vec![Value::from(through.0.cast_signed())]);
    }
    let sql = format!(
        "SELECT record.revision, record.position, record.at, record.value, record.checksum
         FROM {table} entry CROSS JOIN records record ON record.revision = entry.revision AND record.position = entry.position
         WHERE {} ORDER BY entry.revision {direction}, entry.position {direction} LIMIT ?",
        conditions.join(" AND ")
    );
    values.push(Value::from(i64::try_from(query.limit).unwrap_or(i64::MAX)));
    (sql, values)
}

pub(super) fn load_record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let place = place_at(row)?;
    let (at, value): (_, Vec<u8>) = (Timestamp::from_millis(row.get(2)?), row.get(3)?);
    check(row, 4, record_checksum(place, at, &value))?;
    Ok(Record { place, at, value: value.into() })
}

fn place_at(row: &Row<'_>) -> rusqlite::Result<RecordPlace> {
    Ok(RecordPlace { revision: revision_at(row, 0)?, position: row.get(1)? })
}

/// Removes the oldest of `count` records as far as they are over the limits, in steps: see [`TRIM_STEP`]. A step is larger
/// than what the batch has added, so that the log cannot outgrow its limits for long. Returns how many were removed.
pub(super) fn trim(connection: &Connection, count: u64, added: u64, retention: Retention, now: Timestamp) -> rusqlite::Result<u64> {
    let step = TRIM_STEP.max(2 * added);
    let excess = count.saturating_sub(retention.records);
    let oldest_kept_at = now - retention.record_age;
    let mut statement = connection.prepare_cached("SELECT revision, position, at FROM records ORDER BY revision, position LIMIT ?1")?;
    let mut oldest = statement.query([step.cast_signed()])?;
    let (mut removed, mut last) = (0, None);
    while let Some(row) = oldest.next()? {
        if removed >= excess && Timestamp::from_millis(row.get(2)?) >= oldest_kept_at {
            break;
        }
        removed += 1;
        last = Some(place_at(row)?);
    }
    drop(oldest);
    if let Some(RecordPlace { revision, position }) = last {
        for table in ["records", "record_labels"] {
            let sql = format!("DELETE FROM {table} WHERE (revision, position) <= (?1, ?2)");
            connection.prepare_cached(&sql)?.execute(params![revision.0.cast_signed(), position])?;
        }
    }
    Ok(removed)
}

fn record_checksum(place: RecordPlace, at: Timestamp, value: &[u8]) -> i64 {
    checksum(&[&place.revision.0.to_le_bytes(), &place.position.to_le_bytes(), &at.as_millis().to_le_bytes(), value])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn a_page_is_read_from_an_index_and_nothing_is_sorted() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection, schema::MIGRATIONS).unwrap();
        let place = RecordPlace { revision: Revision(7), position: 7 };
        for order in [LogOrder::NewestFirst, LogOrder::OldestFirst] {
            for (label, index) in [
                (Some("x".to_owned()), "records_by_label (label=? AND (revision,position)"),
                (None, "sqlite_autoindex_records_1 ((revision,position)"),
            ] {
                let time = Some(Timestamp::EPOCH);
                let query = LogQuery { label, from: time, to: time, after: Some(place), order, limit: 9 };
                let (sql, values) = select(&query, Revision(9));
                let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
                let plan = statement.query_map(params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
                let plan = plan.collect::<rusqlite::Result<Vec<_>>>().unwrap().join("; ");
                assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
            }
        }
    }
}
