//! Heads of requests, and the count of requests in written bytes of HTTP/1.1 and HTTP/2.
#![no_main]

#[path = "../../tests/dice/mod.rs"]
mod dice;
#[path = "../../tests/properties/mod.rs"]
mod properties;

use dice::{Dice, cut};
use libfuzzer_sys::fuzz_target;
use properties::heads::{count, request};

fuzz_target!(|data: &[u8]| {
    let Some(([how, seed @ ..], stream)) = data.split_first_chunk::<9>() else {
        return;
    };
    request(stream, "this input");
    let chunks = cut(&mut Dice(u64::from_le_bytes(*seed)), stream);
    count(stream, &chunks, how & 1 == 1, "this input");
});
