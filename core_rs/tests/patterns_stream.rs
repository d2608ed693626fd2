//! Chunking never changes a verdict; no input makes a face panic.
use faultwire_core::patterns::{Hit, Options, Stream, engine};
use faultwire_core::text::{compare, leak, refusal};

/// A small generator of its own: the tests need no chance from outside.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }
}

const PARTS: [&str; 34] = [
    "ignore all previous instructions",
    "DE89 3704 0044 0532 0130 00",
    "jane@firm.org",
    "4111 1111 1111 1111",
    "\\u0069gnore",
    "%69%67",
    "&#105;",
    "aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM=",
    "\u{200b}",
    "\u{e0041}",
    "і",
    "\u{ff49}",
    "-----BEGIN PRIVATE KEY-----",
    "password=",
    "://",
    "@",
    "{\"a\":",
    "eyJ",
    "sk-ant-api03-",
    "ssn 536-22-8726",
    "\\",
    "\\U0001F600",
    "\\ud83d\\ude00",
    "I'm sorry, but I can't",
    "```\n",
    "1. ",
    "\n",
    "é",
    "漢字",
    "+49 30 901820",
    "vtaber",
    "1gn0r3",
    "0x",
    "\u{202e}",
];

fn input(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..random.next(12) {
        match random.next(4) {
            0 => (0..random.next(20)).for_each(|_| bytes.push(random.next(256) as u8)),
            1 => (0..random.next(30)).for_each(|_| bytes.push(32 + random.next(95) as u8)),
            _ => bytes.extend_from_slice(PARTS[random.next(PARTS.len())].as_bytes()),
        }
        if random.next(3) == 0 && !bytes.is_empty() {
            let at = random.next(bytes.len());
            bytes.remove(at);
        }
    }
    bytes
}

#[test]
fn no_input_panics() {
    let count = std::env::var("FAULTWIRE_FUZZ")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(3_000);
    let engine = engine().expect("the catalogue compiles");
    let options = Options::default();
    let mut random = Random(7);
    let mut hits = 0;
    for _ in 0..count {
        let bytes = input(&mut random);
        for hit in engine.scan(&bytes, &options) {
            assert!(
                hit.start < hit.end && hit.end <= bytes.len(),
                "{hit:?} in {bytes:?}"
            );
            hits += 1;
        }
        let text = String::from_utf8_lossy(&bytes);
        let other = String::from_utf8_lossy(&input(&mut random)).into_owned();
        refusal::refusal(&text, 0);
        let found = leak::leaks(&text, &other);
        assert!(
            found
                .spans
                .iter()
                .all(|(start, end)| start <= end && *end <= text.len())
        );
        let both = compare::compare(&text, &other);
        assert!((0.0..=1.0).contains(&both.similarity));
    }
    assert!(hits > 0);
}

#[test]
fn chunking_changes_nothing() {
    let engine = engine().expect("the catalogue compiles");
    let mut random = Random(3);
    let mut text = Vec::new();
    while text.len() < 400_000 {
        text.extend(input(&mut random));
        text.extend((0..random.next(700)).map(|n| b"the quick brown fox, "[n % 21]));
    }
    let whole = engine.scan(&text, &Options::default());
    assert!(whole.len() > 50, "{}", whole.len());
    for size in [1 << 10, 4093, 65_536, 131_072, 400_001] {
        let mut stream = Stream::new(engine, Options::default());
        let mut hits: Vec<Hit> = text
            .chunks(size)
            .flat_map(|chunk| stream.feed(chunk))
            .collect();
        hits.extend(stream.finish());
        assert_eq!(hits, whole, "chunks of {size}");
    }
}
