//! What a scan finds.
use super::{Kind, Severity};

/// One finding: byte offsets into the original text; the value itself is not kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub kind: Kind,
    pub id: String,
    pub category: String,
    pub severity: Severity,
    pub start: usize,
    pub end: usize,
    /// 0 to 1: how sure the engine is.
    pub score: f64,
    /// Whether a context word stood near (decides between overlapping hits).
    pub contextual: bool,
    /// The value with its middle hidden.
    pub masked: String,
}
