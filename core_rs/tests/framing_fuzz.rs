//! A million streams a framing: any division gives the same pieces, no byte is lost, nothing panics.
//!
//! Long: `cargo test --release --test framing_fuzz -- --ignored`; for a time instead of a number with
//! `FAULTWIRE_FUZZ_S=600`, the seconds for each framing.

mod dice;
mod properties;

use dice::{Dice, ELEMENTS, JSON, Seed, cut, damage, joined, seeds};
use properties::framing::{Framing, divided};
use properties::json::read_json;

use faultwire_core::array::ArraySplitter;
use faultwire_core::eventstream::{self, EventStreamSplitter};
use faultwire_core::grpc::{self, GrpcSplitter};
use faultwire_core::json;
use faultwire_core::line::LineSplitter;
use faultwire_core::sse::{self, SseSplitter};

/// Runs a framing on made and damaged streams; `read` is shown every piece.
fn fuzz<F: Framing>(make: impl Fn(&mut Dice) -> Vec<u8>, read: impl Fn(&[u8])) {
    let (mut streams, mut events, mut given_up) = (0u64, 0, 0);
    for seed in seeds() {
        streams += 1;
        let mut dice = Dice(seed);
        let mut stream = make(&mut dice);
        if seed % 2 == 1 {
            damage(&mut dice, &mut stream);
        }
        let chunks = cut(&mut dice, &stream);
        let whole = divided::<F>(&stream, &chunks, Seed(seed));
        whole.pieces.iter().for_each(|piece| read(piece));
        events += whole.pieces.len();
        given_up += usize::from(whole.gave_up);
    }
    println!("{streams} streams, {events} events, {given_up} not of the framing");
    assert!(events > 0);
}

const SSE: [&[u8]; 20] = [
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\r\n\r\n",
    b"data: a",
    b"data:",
    b"data",
    b"event: x",
    b": c",
    b":",
    b"id: 1",
    b"id: \0",
    b"retry: 9",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"x",
    b" ",
    b"\xFF",
    b"data: {\"a\":1}",
];

#[test]
#[ignore = "long"]
fn server_sent_events() {
    fuzz::<SseSplitter>(
        |dice| joined(dice, &SSE, 24),
        |piece| drop(sse::parse(piece)),
    );
}

#[test]
#[ignore = "long"]
fn lines() {
    fuzz::<LineSplitter>(
        |dice| {
            let mut stream = joined(dice, &JSON, 16);
            stream.extend(joined(dice, &[b"\n", b"\r\n", b"{}\n"], 4));
            stream
        },
        read_json,
    );
}

#[test]
#[ignore = "long"]
fn frames() {
    fuzz::<EventStreamSplitter>(
        |dice| {
            let count = dice.below(5);
            (0..count)
                .flat_map(|_| {
                    let headers = [(":event-type".to_owned(), "x".repeat(dice.below(5)))];
                    let payload = joined(dice, &JSON, 8);
                    eventstream::write(&headers[..dice.below(2)], &payload).expect("short enough")
                })
                .collect()
        },
        |piece| {
            if let Ok(frame) = eventstream::parse(piece) {
                read_json(frame.payload);
            }
        },
    );
}

#[test]
#[ignore = "long"]
fn messages() {
    fuzz::<GrpcSplitter>(
        |dice| {
            (0..dice.below(5))
                .flat_map(|_| {
                    let message = joined(dice, &JSON, 8);
                    grpc::write(&message, dice.below(2) == 1).expect("short enough")
                })
                .collect()
        },
        |piece| {
            // What follows a prefix that is none is passed on in pieces that are no frames.
            if let Ok(frame) = grpc::parse(piece) {
                let again = grpc::write(frame.message, frame.compressed);
                assert_eq!(again.expect("no longer than before"), piece);
            }
        },
    );
}

#[test]
#[ignore = "long"]
fn arrays() {
    fuzz::<ArraySplitter>(
        |dice| {
            let blanks: [&[u8]; 4] = [b"", b" ", b"\r\n", b"\t"];
            let mut stream = b"[".to_vec();
            for at in 0..dice.below(6) {
                let comma: &[u8] = if at == 0 { b"" } else { b"," };
                stream.extend(
                    [
                        comma,
                        dice.pick(&blanks),
                        dice.pick(&ELEMENTS),
                        dice.pick(&blanks),
                    ]
                    .concat(),
                );
            }
            stream.extend(b"]");
            if dice.below(4) == 0 {
                stream = joined(dice, &JSON, 24);
            }
            stream
        },
        read_json,
    );
}

/// Whole bodies: read, searched and cut, whatever they hold.
#[test]
#[ignore = "long"]
fn bodies() {
    let (mut made, mut read) = (0u64, 0u64);
    for seed in seeds() {
        made += 1;
        let mut dice = Dice(seed);
        let mut body = if dice.below(2) == 0 {
            joined(&mut dice, &JSON, 24)
        } else {
            [b"{\"a\":".as_slice(), dice.pick(&ELEMENTS), b"}"].concat()
        };
        if seed % 2 == 1 {
            damage(&mut dice, &mut body);
        }
        read_json(&body);
        read += u64::from(json::children(&body, &[]).is_ok());
    }
    println!("{made} bodies, {read} of them JSON");
    assert!(read > 0);
}
