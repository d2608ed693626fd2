//! Messages of HTTP/1.1: of the first byte one bit says whether requests, one whether the connection ends.
#![no_main]

#[path = "../../tests/dice/mod.rs"]
mod dice;
#[path = "../../tests/properties/mod.rs"]
mod properties;

use dice::{Dice, cut};
use libfuzzer_sys::fuzz_target;
use properties::http1::divided;

fuzz_target!(|data: &[u8]| {
    let Some(([how, seed @ ..], stream)) = data.split_first_chunk::<9>() else {
        return;
    };
    let chunks = cut(&mut Dice(u64::from_le_bytes(*seed)), stream);
    divided(how & 1 == 0, stream, &chunks, how & 2 == 0, "this input");
});
