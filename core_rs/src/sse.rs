//! Server-sent events: framing that keeps every byte, and the fields of one event.
//!
//! Source: WHATWG HTML, "Server-sent events", §9.2.5 (parsing) and §9.2.6 (interpretation).

mod fields;
mod splitter;

pub use fields::{SseEvent, parse};
pub use splitter::SseSplitter;
