//! Rows and the ledger: how each becomes the other.

use std::sync::Arc;

use bytes::Bytes;
use imbl::OrdMap;
use model::Timestamp;
use rusqlite::{Connection, Row, params};
use sha2::{Digest, Sha256};

use super::errors::Place;
use super::records;
use crate::ledger::{Accepted, Ledger, Logged, Stored, Tenure};
use crate::{Change, Revision, StoreError};

pub(super) fn load_ledger(connection: &Connection, place: &Place) -> Result<Ledger, StoreError> {
    let fault = |error| place.fault(error);
    let (revision, compacted) = connection
        .query_row("SELECT revision, compacted FROM state", [], |row| Ok((revision_at(row, 0)?, revision_at(row, 1)?)))
        .map_err(fault)?;
    let documents = load_documents(connection).map_err(fault)?;
    let leases = load_leases(connection).map_err(fault)?;
    let log = load_log(connection).map_err(fault)?;
    let logged: u64 = log.values().map(|logged| logged.count).sum();
    let changes: i64 = connection.query_row("SELECT count(*) FROM changes", [], |row| row.get(0)).map_err(fault)?;
    let is_whole = revision.0.checked_sub(compacted.0) == Some(log.len() as u64)
        && log.keys().all(|logged| (compacted.0 + 1..=revision.0).contains(&logged.0))
        && logged == changes.cast_unsigned()
        && documents.values().all(|stored| stored.revision <= revision);
    if !is_whole {
        return Err(place.damaged(&"its change log does not match its state"));
    }
    let record_count = records::load_count(connection).map_err(fault)?;
    Ok(Ledger::restore((revision, compacted), documents, leases, log, record_count))
}

fn load_documents(connection: &Connection) -> rusqlite::Result<OrdMap<Arc<str>, Stored>> {
    let mut statement = connection.prepare("SELECT key, revision, value, checksum FROM documents")?;
    let rows = statement.query_map([], |row| {
        let (key, revision, value): (String, _, Vec<u8>) = (row.get(0)?, revision_at(row, 1)?, row.get(2)?);
        check(row, 3, value_checksum(&key, revision, Some(&value)))?;
        Ok((Arc::from(key), Stored { value: value.into(), revision }))
    })?;
    rows.collect()
}

pub(super) fn load_leases(connection: &Connection) -> rusqlite::Result<OrdMap<Arc<str>, Tenure>> {
    let mut statement = connection.prepare("SELECT name, holder, epoch, expires_at, checksum FROM leases")?;
    let rows = statement.query_map([], |row| {
        let name: String = row.get(0)?;
        let epoch: i64 = row.get(2)?;
        let tenure = Tenure { holder: row.get(1)?, epoch: epoch.cast_unsigned(), expires_at: Timestamp::from_millis(row.get(3)?) };
        check(row, 4, lease_checksum(&name, &tenure))?;
        Ok((Arc::from(name), tenure))
    })?;
    rows.collect()
}

fn load_log(connection: &Connection) -> rusqlite::Result<OrdMap<Revision, Logged>> {
    let mut statement = connection.prepare("SELECT revision, at, changes FROM commits")?;
    let rows = statement.query_map([], |row| {
        let count: i64 = row.get(2)?;
        let logged = Logged { at: Timestamp::from_millis(row.get(1)?), count: count.cast_unsigned(), changes: None };
        Ok((revision_at(row, 0)?, logged))
    })?;
    rows.collect()
}

/// A change from the columns `revision, at, key, value, checksum`.
pub(super) fn load_change(row: &Row<'_>) -> rusqlite::Result<Change> {
    let revision = revision_at(row, 0)?;
    let key: String = row.get(2)?;
    let value: Option<Vec<u8>> = row.get(3)?;
    check(row, 4, value_checksum(&key, revision, value.as_deref()))?;
    Ok(Change { revision, at: Timestamp::from_millis(row.get(1)?), key, value: value.map(Bytes::from) })
}

pub(super) fn save_commit(connection: &Connection, accepted: &Accepted) -> rusqlite::Result<()> {
    let revision = accepted.revision;
    connection.prepare_cached("INSERT INTO commits (revision, at, changes) VALUES (?1, ?2, ?3)")?.execute(params![
        revision.0.cast_signed(),
        accepted.at.as_millis(),
        accepted.changes.len().cast_signed()
    ])?;
    for change in accepted.changes.iter() {
        let (key, value) = (&change.key, change.value.as_deref());
        let checksum = value_checksum(key, revision, value);
        connection.prepare_cached("INSERT INTO changes (revision, key, value, checksum) VALUES (?1, ?2, ?3, ?4)")?.execute(params![
            revision.0.cast_signed(),
            key,
            value,
            checksum
        ])?;
        match value {
            Some(value) => connection
                // In its place: a row that is replaced leaves it, and its key in the index would have to change too.
                .prepare_cached(
                    "INSERT INTO documents (key, revision, value, checksum) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (key) DO UPDATE SET revision = ?2, value = ?3, checksum = ?4",
                )?
                .execute(params![key, revision.0.cast_signed(), value, checksum])?,
            None => connection.prepare_cached("DELETE FROM documents WHERE key = ?1")?.execute([key])?,
        };
    }
    records::save(connection, accepted)
}

pub(super) fn save_lease(connection: &Connection, name: &str, tenure: &Tenure) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO leases (name, holder, epoch, expires_at, checksum) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (name) DO UPDATE SET holder = ?2, epoch = ?3, expires_at = ?4, checksum = ?5",
        )?
        .execute(params![name, tenure.holder, tenure.epoch.cast_signed(), tenure.expires_at.as_millis(), lease_checksum(name, tenure)])?;
    Ok(())
}

pub(super) fn save_state(connection: &Connection, ledger: &Ledger) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE state SET revision = ?1, compacted = ?2")?
        .execute([ledger.revision().0.cast_signed(), ledger.compacted().0.cast_signed()])?;
    Ok(())
}

pub(super) fn remove_changes_through(connection: &Connection, compacted: Revision) -> rusqlite::Result<()> {
    for table in ["changes", "commits"] {
        connection.prepare_cached(&format!("DELETE FROM {table} WHERE revision <= ?1"))?.execute([compacted.0.cast_signed()])?;
    }
    Ok(())
}

pub(super) fn revision_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Revision> {
    let revision: i64 = row.get(column)?;
    Ok(Revision(revision.cast_unsigned()))
}

pub(super) fn check(row: &Row<'_>, column: usize, expected: i64) -> rusqlite::Result<()> {
    let found: i64 = row.get(column)?;
    if found == expected {
        return Ok(());
    }
    let detail = "a row does not match its checksum".into();
    Err(rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Integer, detail))
}

fn value_checksum(key: &str, revision: Revision, value: Option<&[u8]>) -> i64 {
    match value {
        Some(value) => checksum(&[key.as_bytes(), &revision.0.to_le_bytes(), value]),
        None => checksum(&[key.as_bytes(), &revision.0.to_le_bytes()]),
    }
}

fn lease_checksum(name: &str, tenure: &Tenure) -> i64 {
    let (epoch, expires_at) = (tenure.epoch.to_le_bytes(), tenure.expires_at.as_millis().to_le_bytes());
    match &tenure.holder {
        Some(holder) => checksum(&[name.as_bytes(), &epoch, &expires_at, holder.as_bytes()]),
        None => checksum(&[name.as_bytes(), &epoch, &expires_at]),
    }
}

/// The first eight bytes of a SHA-256 over the parts, each preceded by its length so that bytes cannot move from
/// one part to the next unseen.
pub(super) fn checksum(parts: &[&[u8]]) -> i64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(8).fold(0, |sum, byte| (sum << 8) | i64::from(*byte))
}
