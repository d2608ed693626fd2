//! Exports of tapes, and the keys that seal them: nobody without the key makes one that is sound.
#![no_main]

use std::sync::LazyLock;

#[path = "../../tests/dice/mod.rs"]
mod dice;
#[path = "../../tests/properties/mod.rs"]
mod properties;

use faultwire_core::tape::VerifierKey;
use libfuzzer_sys::fuzz_target;
use properties::tape::Sealed;

static SEALED: LazyLock<Sealed> = LazyLock::new(Sealed::read);

fuzz_target!(|data: &[u8]| {
    SEALED.judge(data);
    if let Ok(text) = std::str::from_utf8(data) {
        if let Some(key) = VerifierKey::parse(text) {
            assert_eq!(key.text(), text.trim());
        }
    }
});
