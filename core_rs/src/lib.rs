//! The pure core of faultwire. No Python, no sockets, no clock, and no files but the tape that `tape::record` writes.
#![forbid(unsafe_code)]

pub mod array;
pub mod digest;
pub mod error;
pub mod eventstream;
pub mod gate;
pub mod glob;
pub mod grpc;
pub mod heads;
pub mod http1;
pub mod json;
pub mod line;
pub mod matching;
pub mod patterns;
pub mod proof;
pub mod redact;
pub mod score;
pub mod sse;
pub mod stats;
pub mod tape;
pub mod text;
pub mod tunnel;

pub use error::Error;
