//! Exports of tapes, and the keys that seal them: nobody without the key makes one that is sound. What begins with
//! a control character is choices: with the key, tapes are made of them, of which is known what must be found.
#![no_main]

use std::sync::LazyLock;

#[path = "../../tests/dice/mod.rs"]
mod dice;
#[path = "../../tests/made/mod.rs"]
mod made;
#[path = "../../tests/maker/mod.rs"]
mod maker;
#[path = "../../tests/properties/mod.rs"]
mod properties;

use faultwire_core::tape::VerifierKey;
use libfuzzer_sys::fuzz_target;
use properties::tape::Sealed;

static SEALED: LazyLock<Sealed> = LazyLock::new(Sealed::read);

fuzz_target!(|data: &[u8]| {
    if let Some((0..0x20, choices)) = data.split_first() {
        made::judged(choices);
        return;
    }
    SEALED.judge(data);
    if let Ok(text) = std::str::from_utf8(data) {
        if let Some(key) = VerifierKey::parse(text) {
            assert_eq!(key.text(), text.trim());
        }
    }
});
