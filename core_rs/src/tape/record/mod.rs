//! Writing a tape: events become records that name the one before, bodies become blobs, and a batch of both
//! is on the disk as a whole or not at all.
//!
//! Nothing here has a secret to look for: what comes in was redacted.

mod blobs;
mod event_log;
mod members;
mod store;

pub use blobs::{BlobRow, PACK_FROM};
pub use event_log::{Batch, EventLog, EventRow};
pub use store::{Store, StoreError};
