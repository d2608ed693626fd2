//! What the fuzzers of the core are made of: chance that a seed decides, and bytes that something reads.
//!
//! A failure names its seed. `FAULTWIRE_FUZZ_S` is how many seconds each fuzzer runs; without it each
//! makes a million inputs.

#![allow(dead_code)] // each test file uses a part of it

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

const NUMBER: u64 = 1_000_000;

/// The seeds of a run, one for each input.
pub fn seeds() -> impl Iterator<Item = u64> {
    let seconds: Option<u64> = std::env::var("FAULTWIRE_FUZZ_S").ok().map(|text| {
        text.parse()
            .expect("FAULTWIRE_FUZZ_S is a number of seconds")
    });
    let end = seconds.map(|found| Instant::now() + Duration::from_secs(found));
    (0..).take_while(move |seed| match end {
        Some(end) => seed % 256 != 0 || Instant::now() < end,
        None => *seed < NUMBER,
    })
}

/// What a failure of a property names.
pub struct Seed(pub u64);

impl Display for Seed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}", self.0)
    }
}

/// SplitMix64: the same stream for the same seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn pick<'a>(&mut self, of: &[&'a [u8]]) -> &'a [u8] {
        of[self.below(of.len())]
    }
}

pub fn cut<'a>(dice: &mut Dice, stream: &'a [u8]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    let most = 1 + dice.below(16);
    let mut rest = stream;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at((1 + dice.below(most)).min(rest.len()));
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

pub fn damage(dice: &mut Dice, stream: &mut Vec<u8>) {
    for _ in 0..dice.below(3) {
        let at = dice.below(stream.len() + 1);
        match dice.below(3) {
            0 => stream.insert(at, dice.next() as u8),
            1 if at < stream.len() => drop(stream.remove(at)),
            _ if at < stream.len() => stream[at] ^= 1 << dice.below(8),
            _ => {}
        }
    }
}

pub fn joined(dice: &mut Dice, parts: &[&[u8]], most: usize) -> Vec<u8> {
    let count = dice.below(most);
    (0..count).flat_map(|_| dice.pick(parts).to_vec()).collect()
}

pub const JSON: [&[u8]; 26] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"\\\"",
    b"\\u00e9",
    b"\\ud800",
    b"\"a\"",
    b"\"a\":",
    b"1",
    b"-2.5e+3",
    b"null",
    b"true",
    b" ",
    b"\r\n",
    b"\t",
    b"{}",
    b"[]",
    b"{\"a\":[1]}",
    b"\xFF",
    b"\xE4\xB8\xAD",
    b"x",
];

pub const ELEMENTS: [&[u8]; 10] = [
    b"{}",
    b"{\"a\":\"]}\\\"\\\\\"}",
    b"[[],{}]",
    b"\"x,]\"",
    b"1",
    b"-0.5e9",
    b"null",
    b"true",
    b"{\"b\":{\"c\":[1,2]}}",
    b"\"\"",
];
