//! What must hold of any bytes, whether a seed or coverage chose them.

#![allow(dead_code)] // each fuzzer uses a part of it

pub mod framing;
pub mod heads;
pub mod http1;
pub mod json;
pub mod redact;
pub mod tape;
