//! Redaction of any bytes.
#![no_main]

#[path = "../../tests/properties/mod.rs"]
mod properties;

use libfuzzer_sys::fuzz_target;
use properties::redact::redacted;

fuzz_target!(|data: &[u8]| {
    redacted(data, "this input");
});
