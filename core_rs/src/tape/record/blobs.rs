//! Bodies on their way to the tape: addressed by the SHA-256 of their redacted bytes, stored once.

use std::collections::{HashSet, VecDeque};

use crate::digest::{Hash, sha256};

/// From this size on a body is compressed, where that makes it smaller.
pub const PACK_FROM: usize = 4096;

/// Larger ones are compressed as they come, so that they are not held as they are until the commit.
const PACK_AT_ONCE: usize = 64 << 10;

/// So many of the last bodies are known to be stored; an older one is offered to the tape again, which has it.
const REMEMBERED: usize = 8192;

const LEVEL: i32 = 1;

/// One row of `blobs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobRow {
    pub digest: Hash,
    /// Bytes of the body itself.
    pub size: usize,
    pub packed: bool,
    pub data: Vec<u8>,
}

impl BlobRow {
    fn plain(digest: Hash, data: &[u8]) -> Self {
        Self {
            digest,
            size: data.len(),
            packed: false,
            data: data.to_vec(),
        }
    }

    /// The row as it is stored.
    fn pack(&mut self) {
        if self.packed || self.size < PACK_FROM {
            return;
        }
        // Memory is all that can be missing; such a body stays as it is.
        let packed = zstd::bulk::compress(&self.data, LEVEL);
        if let Some(packed) = packed.ok().filter(|packed| packed.len() < self.size) {
            self.data = packed;
            self.packed = true;
        }
    }
}

/// Blobs that wait for a commit.
#[derive(Default)]
pub struct BlobLog {
    waiting: Vec<BlobRow>,
    known: HashSet<Hash>,
    order: VecDeque<Hash>,
}

impl BlobLog {
    /// Queues a body, unless it was lately; its digest.
    pub fn put(&mut self, data: &[u8]) -> Hash {
        let digest = sha256(data);
        if self.known.insert(digest) {
            self.order.push_back(digest);
            if self.order.len() > REMEMBERED {
                self.order
                    .pop_front()
                    .map(|oldest| self.known.remove(&oldest));
            }
            let mut row = BlobRow::plain(digest, data);
            if data.len() >= PACK_AT_ONCE {
                row.pack();
            }
            self.waiting.push(row);
        }
        digest
    }

    pub fn take(&mut self) -> Vec<BlobRow> {
        std::mem::take(&mut self.waiting)
    }
}

/// Compresses what is to be.
pub fn pack(rows: &mut [BlobRow]) {
    rows.iter_mut().for_each(BlobRow::pack);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(bodies: &[&[u8]]) -> Vec<BlobRow> {
        let mut log = BlobLog::default();
        for body in bodies {
            log.put(body);
        }
        let mut rows = log.take();
        pack(&mut rows);
        rows
    }

    #[test]
    fn a_body_is_queued_once() {
        let found = rows(&[b"abc", b"", b"abc"]);
        let sizes: Vec<usize> = found.iter().map(|row| row.size).collect();
        assert_eq!(sizes, [3, 0]);
        assert!(found.iter().all(|row| !row.packed));
    }

    #[test]
    fn only_what_gets_smaller_is_packed() {
        let mut noise = Vec::new();
        while noise.len() < 5000 {
            noise.extend(sha256(&noise));
        }
        for (body, packed) in [
            (vec![b'x'; PACK_FROM - 1], false),
            (vec![b'x'; PACK_FROM], true),
            (vec![b'x'; PACK_AT_ONCE], true),
            (noise, false),
        ] {
            let row = &rows(&[&body])[0];
            assert_eq!((row.packed, row.size), (packed, body.len()));
            let plain = if packed {
                zstd::bulk::decompress(&row.data, body.len()).unwrap()
            } else {
                row.data.clone()
            };
            assert_eq!(plain, body);
        }
    }

    #[test]
    fn memory_of_what_is_stored_is_bounded() {
        let mut log = BlobLog::default();
        for number in 0..=REMEMBERED {
            log.put(&number.to_be_bytes());
        }
        assert_eq!((log.known.len(), log.order.len()), (REMEMBERED, REMEMBERED));
        log.take();
        log.put(&1_usize.to_be_bytes());
        assert_eq!(log.take().len(), 0, "remembered");
        log.put(&0_usize.to_be_bytes());
        assert_eq!(log.take().len(), 1, "forgotten, so offered again");
    }
}
