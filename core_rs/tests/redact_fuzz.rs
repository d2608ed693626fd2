//! Redaction of any bytes: nothing panics, and what is found can be replaced.
//!
//! Long: `cargo test --release --test redact_fuzz -- --ignored`; for a time instead of a number with
//! `FAULTWIRE_FUZZ_S=600`.

mod dice;
mod properties;

use std::time::{Duration, Instant};

use dice::{Dice, Seed, damage, joined, seeds};
use faultwire_core::redact::{Known, Text, edits, suspects};
use properties::redact::{Plain, redacted};

const PARTS: [&[u8]; 26] = [
    b"sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA",
    b"-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIAA\n-----END EC PRIVATE KEY-----",
    b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    b"https://user:word@host/?code=SECRETCODE123&state=zz",
    b"DATADOG_API_KEY=4f1c9be27a60d83e5b7c19fa02d6e8b4",
    b"{\"password\": \"hunter2\", \"pwd\": 12, \"secret\": [\"a\"]}",
    b"{\"a\":\"{\\\"pwd\\\":\\\"x\\\",\\\"n\\\":1}\"}",
    b"data: {\"content\": \"sk-ant-\"}\n\ndata: {\"content\": \"api03-AAAAAAAA\"}\n\n",
    b"data: {\"content\": \"AAAAAAAAAAAA\"}\n\n",
    b"data: hello\n\n",
    b"\\u0073k-ant-api03-AAAAAAAAAAAAAAAA",
    b"s%6b-ant-api03-AAAAAAAAAAAAAAAAAAAA%C3%A9+",
    b"s&#107;-ant<b>x</b>&quot;&notit;</script>\xe2\x80\xae",
    b"quoted-printable: a=2Db=\nc",
    b"QUtJQUlPU0ZPRE5ON0VYQU1QTEU=",
    b"\x1f\x8b\x08\x00abc",
    b"redacted:v1:0123456789abcdef0123456789abcdef",
    b"\xc3\xa9\xff\xf0\x9f\x98\x80\xed\xa0\xbd",
    b"'password': \"it's\"",
    b"\"\\",
    b"\n",
    b" ",
    b"Bearer ",
    b"?key=",
    b"&",
    b"<",
];

fn fuzz(seeds: impl Iterator<Item = u64>) {
    let (mut texts, mut found) = (0u64, 0);
    for seed in seeds {
        texts += 1;
        let mut dice = Dice(seed);
        let mut text = joined(&mut dice, &PARTS, 9);
        if seed % 2 == 1 {
            damage(&mut dice, &mut text);
        }
        found += redacted(&text, &Seed(seed).to_string());
    }
    println!("{texts} texts, {found} secrets");
    assert!(found > 0);
}

#[test]
fn some_texts() {
    fuzz(0..300);
}

#[test]
#[ignore = "long"]
fn texts() {
    fuzz(seeds());
}

/// Evil texts: sixteen times as much of each costs no more than so many times as much time.
#[test]
fn the_search_is_linear() {
    for unit in [
        "%41!",
        "c2st ",
        "eyJ",
        "sk-",
        "\\",
        "\\\"",
        "?key=a&",
        "\"pwd\":",
        "'pwd':\"",
        "\"pwd\":[1,",
        "<a<",
        "&lt",
        "://a:",
        "\\u0041",
        "eyJ.eyJ12345678",
        "\"text\":\"",
        "data:a\n",
        "é",
    ] {
        let spent = |size: usize| {
            let text = unit.repeat(size / unit.len()) + "\"password\": \"x\" .eyJ12345678";
            let text = Text::new(text);
            let once = || {
                let began = Instant::now();
                suspects(&text);
                edits(&text, 0, Known::All, &Plain);
                began.elapsed()
            };
            once().min(once()).max(Duration::from_millis(1))
        };
        let small = spent(4 << 10);
        // Other work on the machine slows single runs; 256 where each place looks through all the others.
        assert!((0..3).any(|_| spent(64 << 10) < small * 64), "{unit}");
    }
}
