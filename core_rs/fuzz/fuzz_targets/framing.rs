//! Streams under five framings: the first byte chooses which, the next eight how the rest is divided.
#![no_main]

#[path = "../../tests/dice/mod.rs"]
mod dice;
#[path = "../../tests/properties/mod.rs"]
mod properties;

use dice::{Dice, cut};
use faultwire_core::array::ArraySplitter;
use faultwire_core::eventstream::{self, EventStreamSplitter};
use faultwire_core::grpc::{self, GrpcSplitter};
use faultwire_core::line::LineSplitter;
use faultwire_core::sse::{self, SseSplitter};
use libfuzzer_sys::fuzz_target;
use properties::framing::divided;
use properties::json::read_json;

const ABOUT: &str = "this input";

fuzz_target!(|data: &[u8]| {
    let Some(([which, seed @ ..], stream)) = data.split_first_chunk::<9>() else {
        return;
    };
    let chunks = cut(&mut Dice(u64::from_le_bytes(*seed)), stream);
    match which % 5 {
        0 => {
            for event in divided::<SseSplitter>(stream, &chunks, ABOUT).pieces {
                drop(sse::parse(&event));
            }
        }
        1 => {
            let found = divided::<LineSplitter>(stream, &chunks, ABOUT);
            found.pieces.iter().for_each(|line| read_json(line));
        }
        2 => {
            for piece in divided::<EventStreamSplitter>(stream, &chunks, ABOUT).pieces {
                if let Ok(frame) = eventstream::parse(&piece) {
                    read_json(frame.payload);
                }
            }
        }
        3 => {
            let found = divided::<ArraySplitter>(stream, &chunks, ABOUT);
            found.pieces.iter().for_each(|element| read_json(element));
        }
        _ => {
            for piece in divided::<GrpcSplitter>(stream, &chunks, ABOUT).pieces {
                if let Ok(frame) = grpc::parse(&piece) {
                    let again = grpc::write(frame.message, frame.compressed);
                    assert_eq!(again.expect("no longer than before"), piece);
                }
            }
        }
    }
});
