//! The fast search for the words of secrets: what the slow one finds it finds, wherever that stands.
mod templates;

use faultwire_core::patterns::{Kind, Options, catalog, engine};
use templates::fill;

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.next(all.len())]
    }
}

const BETWEEN: [&str; 16] = [
    " ",
    "\n",
    "\"",
    ": ",
    "=",
    "/",
    "\\n",
    "%3D",
    "a",
    "7",
    "_",
    "-",
    ".",
    "{\"a\":\"",
    "é",
    "\0",
];

/// Pieces of what entries look for: their words, their examples, whole and cut, in any spelling.
fn text(random: &mut Random, words: &[String], examples: &[String]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for _ in 0..1 + random.next(6) {
        let mut piece: Vec<u8> = match random.next(5) {
            0 => (0..random.next(24))
                .map(|_| random.next(256) as u8)
                .collect(),
            1 => (0..random.next(40))
                .map(|_| 32 + random.next(95) as u8)
                .collect(),
            2 => random.pick(words).clone().into_bytes(),
            _ => random.pick(examples).clone().into_bytes(),
        };
        match random.next(8) {
            0 => piece.make_ascii_uppercase(),
            1 => piece.make_ascii_lowercase(),
            2 => piece.truncate(random.next(piece.len() + 1)),
            3 if !piece.is_empty() => {
                let at = random.next(piece.len());
                piece[at] = 32 + random.next(95) as u8;
            }
            4 if !piece.is_empty() => piece[0].make_ascii_uppercase(),
            _ => {}
        }
        bytes.extend(piece);
        bytes.extend_from_slice(random.pick(&BETWEEN).as_bytes());
    }
    bytes
}

/// Secrets alone are looked for in the fast way, secrets and anything else in the slow one.
fn ways() -> [Options; 2] {
    [vec![Kind::Secrets], vec![Kind::Secrets, Kind::User]].map(|kinds| Options {
        kinds,
        ..Options::default()
    })
}

#[test]
fn both_ways_find_the_same() {
    let count = std::env::var("FAULTWIRE_FUZZ")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(30_000);
    let engine = engine().expect("the catalogue compiles");
    let entries = catalog().expect("the data files parse");
    let secrets = entries.iter().filter(|entry| entry.kind == Kind::Secrets);
    let words: Vec<String> = secrets
        .clone()
        .flat_map(|entry| entry.keys.clone())
        .collect();
    let examples: Vec<String> = secrets
        .flat_map(|entry| &entry.yes)
        .map(|yes| fill(yes))
        .collect();
    let [fast, slow] = ways();
    let mut random = Random(11);
    let mut found = 0;
    for _ in 0..count {
        let text = text(&mut random, &words, &examples);
        let hits = engine.scan(&text, &fast);
        assert_eq!(
            hits,
            engine.scan(&text, &slow),
            "{:?}",
            String::from_utf8_lossy(&text)
        );
        assert_eq!(engine.holds_secret(&text), !hits.is_empty());
        found += usize::from(!hits.is_empty());
    }
    assert!(
        found > count / 4 && found < count,
        "{found} of {count} hold a secret"
    );
}

#[test]
fn each_example_is_found_at_any_place_of_a_block() {
    let engine = engine().expect("the catalogue compiles");
    let [fast, slow] = ways();
    let mut found = 0;
    for entry in catalog().expect("the data files parse") {
        for example in entry.yes.iter().filter(|_| entry.kind == Kind::Secrets) {
            let example = fill(example);
            for before in 0..20 {
                for after in ["", " ", " and so on, for quite a while"] {
                    let text = format!("{:.<before$} {example}{after}", "");
                    let hits = engine.scan(text.as_bytes(), &fast);
                    assert_eq!(hits, engine.scan(text.as_bytes(), &slow), "{text}");
                    found += usize::from(!hits.is_empty());
                }
            }
        }
    }
    assert!(found > 350 * 60, "{found}");
}

#[test]
fn long_texts_are_searched_to_their_end() {
    let engine = engine().expect("the catalogue compiles");
    let secret = fill("ghp_{x 36}");
    for size in [0, 1, 1000, 131_050, 131_072, 140_000, 300_000] {
        let text = format!("{} {secret}", "lorem ipsum ".repeat(size / 12));
        assert!(engine.holds_secret(text.as_bytes()), "{size}");
        assert!(
            !engine.holds_secret(&text.as_bytes()[..text.len() - 30]),
            "{size}"
        );
    }
}

#[test]
fn records_are_searched_string_by_string() {
    let engine = engine().expect("the catalogue compiles");
    let secret = fill("{hex 32}");
    let holds = |record: &str| engine.record_holds_secret(record.as_bytes());
    assert!(holds(&format!(r#"{{"error":"DD_API_KEY={secret}"}}"#)));
    assert!(holds(&format!(
        r#"{{"error":"x\n\"dd_api_key\": \"{secret}\""}}"#
    )));
    assert!(holds(
        &format!(r#"{{"headers":[["a","b"],["x-dd-api","{secret}"]]}}"#)
            .replace("x-dd-api", "dd-datadog")
    ));
    // What stands in one string says nothing of another one.
    assert!(!holds(&format!(
        r#"{{"provider":"datadog","session":"{secret}"}}"#
    )));
    assert!(!holds(&format!(r#"{{"a":["datadog","x","{secret}"]}}"#)));
    assert!(!holds(
        r#"{"headers":[["x-ratelimit-remaining-tokens","149984"]]}"#
    ));
}
