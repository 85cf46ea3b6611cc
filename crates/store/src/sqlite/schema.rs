//! The file's format: its tables, its number, and how an older file becomes a current one.

use rusqlite::{Connection, TransactionBehavior};

/// `Rack` in ASCII, in the file's header: tells our files from any other SQLite database.
pub(super) const APPLICATION_ID: i32 = 0x5261_636b;

/// The newest format that this version reads and writes.
pub(super) const FORMAT: u32 = MIGRATIONS.len() as u32;

/// The step at index `n` turns format `n` into format `n + 1`. A released step is never edited.
pub(super) const MIGRATIONS: &[&str] = &[FORMAT_1, FORMAT_2, FORMAT_3];

/// Each row with a value carries a checksum, because SQLite's own checks see a damaged page, but not a damaged value
/// inside a page.
const FORMAT_1: &str = "
    CREATE TABLE state (
        id INTEGER PRIMARY KEY CHECK (id = 0),
        revision INTEGER NOT NULL,
        compacted INTEGER NOT NULL
    );
    INSERT INTO state VALUES (0, 0, 0);

    CREATE TABLE documents (
        key TEXT PRIMARY KEY NOT NULL,
        revision INTEGER NOT NULL,
        value BLOB NOT NULL,
        checksum INTEGER NOT NULL
    );

    CREATE TABLE commits (
        revision INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        changes INTEGER NOT NULL
    );

    CREATE TABLE changes (
        revision INTEGER NOT NULL,
        key TEXT NOT NULL,
        value BLOB,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (revision, key)
    );
    CREATE INDEX changes_by_key ON changes (key, revision);

    CREATE TABLE leases (
        name TEXT PRIMARY KEY NOT NULL,
        holder TEXT,
        epoch INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        checksum INTEGER NOT NULL
    );
";

/// The log of records. Each label stands twice, by place so that old records are removed without a search, and by name
/// so that a page of one label's records costs what is on it; the instant is with it, so that a range of time does not
/// read the records themselves.
const FORMAT_2: &str = "
    CREATE TABLE records (
        revision INTEGER NOT NULL,
        position INTEGER NOT NULL,
        at INTEGER NOT NULL,
        value BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (revision, position)
    );

    CREATE TABLE record_labels (
        revision INTEGER NOT NULL,
        position INTEGER NOT NULL,
        label TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (revision, position, label)
    ) WITHOUT ROWID;
    CREATE INDEX records_by_label ON record_labels (label, revision, position, at);
";

/// The changes of one key are seldom asked for, and are found among those that are kept. An index of them had a page to write for each
/// change of a large fleet: it was most of what a change cost there.
const FORMAT_3: &str = "DROP INDEX changes_by_key;";

pub(super) fn format_of(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

pub(super) fn application_of(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "application_id", |row| row.get(0))
}

/// Brings the file to the newest format, all steps or none: an interrupted upgrade leaves the old file.
pub(super) fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let from = format_of(connection)? as usize;
    if from >= migrations.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in &migrations[from..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", migrations.len().cast_signed())?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(connection: &Connection) -> u32 {
        connection.query_row("SELECT count(*) FROM sqlite_master WHERE type = 'table'", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_file_takes_only_the_steps_it_lacks() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &["CREATE TABLE one (a)"]).unwrap();
        migrate(&mut connection, &["this step was taken already", "CREATE TABLE two (a)"]).unwrap();
        assert_eq!((tables(&connection), format_of(&connection).unwrap()), (2, 2));
    }

    #[test]
    fn a_failing_step_leaves_the_old_format() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &["CREATE TABLE one (a)"]).unwrap();
        migrate(&mut connection, &["", "CREATE TABLE two (a)", "not SQL"]).unwrap_err();
        assert_eq!((tables(&connection), format_of(&connection).unwrap()), (1, 1));
    }
}
