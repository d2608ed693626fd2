//! HTTP/1.1 messages: any division of the bytes gives the same events, and nothing panics.
//!
//! Long: `cargo test --release --test http1_fuzz -- --ignored`; for a time instead of a number with
//! `FAULTWIRE_FUZZ_S=600`, the seconds for each direction.

mod dice;
mod properties;

use dice::{Dice, Seed, cut, damage, joined, seeds};
use properties::http1::{divided, events};

use faultwire_core::http1::{Event, Kind, LIMIT};

const REQUESTS: [&[u8]; 12] = [
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"\r\nPOST /v1 HTTP/1.1\r\nhost: a\r\nContent-Length: 5\r\n\r\nhello",
    b"POST /v1 HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost:a\r\nTransfer-Encoding: chunked\r\n\r\nA;x=\"y\"\r\n0123456789\r\n00\r\nt: 1\r\nu:2\r\n\r\n",
    b"PUT http://a/b HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
    b"GET / HTTP/1.0\r\n\r\n",
    b"GET / HTTP/1.1\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\n0\r\n\r\n",
];

const RESPONSES: [&[u8]; 12] = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;a\r\nabc\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\ngrpc-status: 0\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nuntil the end",
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\ncontent-length: 4\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\ncontent-length: 3\r\n\r\n",
];

fn fuzz(requests: bool, seeds: impl Iterator<Item = u64>) {
    let parts = if requests { &REQUESTS } else { &RESPONSES };
    let (mut streams, mut heads, mut refused) = (0u64, 0, 0u64);
    for seed in seeds {
        streams += 1;
        let mut dice = Dice(seed);
        let mut stream = joined(&mut dice, parts, 5);
        if seed % 2 == 1 {
            damage(&mut dice, &mut stream);
        }
        let ends = dice.below(2) == 1;
        let chunks = cut(&mut dice, &stream);
        let (found, flaw) = divided(requests, &stream, &chunks, ends, Seed(seed));
        heads += found
            .iter()
            .filter(|one| matches!(one, Event::Head(..)))
            .count();
        refused += u64::from(flaw.is_some());
    }
    println!("{streams} streams, {heads} heads, {refused} refused");
    assert!(heads > 0 && refused > 0);
}

#[test]
fn some_divisions() {
    fuzz(true, 0..4000);
    fuzz(false, 0..4000);
}

#[test]
#[ignore = "long"]
fn requests() {
    fuzz(true, seeds());
}

#[test]
#[ignore = "long"]
fn responses() {
    fuzz(false, seeds());
}

/// Cuts at every place where a limit is reached: what is too large is too large however it comes.
#[test]
fn limits_hold_at_any_division() {
    let long = "x".repeat(LIMIT);
    let chunked = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
    let streams = [
        (
            format!("GET / HTTP/1.1\r\nhost: a\r\na: {long}\r\n\r\n"),
            Kind::Large,
        ),
        (
            format!("GET / HTTP/1.1\r\nhost: a\r\na: {long}"),
            Kind::Large,
        ),
        (format!("{chunked}1;{long}\r\nx\r\n0\r\n\r\n"), Kind::Body),
        (format!("{chunked}0\r\na: {long}\n\r\n"), Kind::Body),
        (
            format!("{chunked}0\r\na: 1\r\nb: {long}\r\n\r\n"),
            Kind::Body,
        ),
    ];
    for (stream, kind) in streams {
        let stream = stream.as_bytes();
        let whole = events(true, &[stream], false);
        assert_eq!(whole.1.as_ref().map(|flaw| flaw.kind), Some(kind));
        for size in [1, 7, 4096, LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + 2] {
            let pieces: Vec<&[u8]> = stream.chunks(size).collect();
            assert_eq!(events(true, &pieces, false), whole, "{size}");
        }
    }
}
