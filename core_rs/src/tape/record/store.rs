//! The one connection that writes a tape. The only place of the core that knows its SQL.
//!
//! Its functions are those of the library that Python's `sqlite3` uses, which the binding makes known first
//! (`proxy/faultwire/tape/record/shared_sqlite.py`). So tests of it are Python's.

use std::fmt;

use rusqlite::{Connection, Error, ErrorCode, OpenFlags, params};

use super::event_log::Batch;

const EVENT: &str = "INSERT INTO events (seq, session, record, hash) VALUES (?1, ?2, ?3, ?4)";
/// One that is there already stays.
const BLOB: &str =
    "INSERT OR IGNORE INTO blobs (digest, size, packed, data) VALUES (?1, ?2, ?3, ?4)";

/// What SQLite says of a failure; never what was to be written.
#[derive(Debug)]
pub struct StoreError(Error);

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Error::SqliteFailure(_, Some(message)) => formatter.write_str(message),
            other => other.fmt(formatter),
        }
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

pub struct Store(Connection);

impl Store {
    /// Opens a tape that is there, by its URI.
    pub fn open(uri: &str) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Ok(Self(Connection::open_with_flags(uri, flags)?))
    }

    /// Runs statements, whatever rows they give.
    pub fn execute(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.0.execute_batch(sql)?)
    }

    /// Writes a batch as one transaction, and returns once it is on the disk.
    ///
    /// After a failure the transaction stays open: the connection is to be closed, which undoes it.
    pub fn commit(&self, batch: &Batch) -> Result<(), StoreError> {
        self.execute("BEGIN IMMEDIATE")?;
        let mut insert = self.0.prepare(BLOB)?;
        for row in &batch.blobs {
            insert.execute(params![row.digest, row.size as i64, row.packed, row.data])?;
        }
        let mut insert = self.0.prepare(EVENT)?;
        for row in &batch.events {
            insert.execute(params![row.seq as i64, row.session, row.record, row.hash])?;
        }
        self.execute("COMMIT")
    }

    /// Folds the write-ahead log into the file; false where a reader is in the way, and it stays.
    pub fn fold(&self) -> Result<bool, StoreError> {
        match self.execute("PRAGMA journal_mode=DELETE") {
            Err(StoreError(error))
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
            {
                Ok(false)
            }
            other => other.map(|()| true),
        }
    }

    /// Ends the connection; what was not committed is undone.
    pub fn close(self) -> Result<(), StoreError> {
        self.0.close().map_err(|(_, error)| error.into())
    }
}
