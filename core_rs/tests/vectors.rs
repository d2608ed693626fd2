//! The cases of `tests/vectors`, which pytest reads too.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use faultwire_core::digest::{self, Hash};
use faultwire_core::sse::{SseEvent, SseSplitter};
use faultwire_core::tape::{TapeVerifier, VerifierKey};
use faultwire_core::{json, score, sse};
use serde_json::Value;

fn vectors(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    let text = fs::read(folder.join(name)).expect("a vector file");
    serde_json::from_slice(&text).expect("JSON")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key]
        .as_array()
        .unwrap_or_else(|| panic!("no list `{key}`"))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("no text `{key}`"))
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
    (0..text.len()).step_by(2).map(byte).collect()
}

fn unhash(value: &Value) -> Hash {
    let bytes = unhex(value.as_str().expect("hex"));
    digest::to_hash(&bytes, "vector").expect("32 bytes")
}

#[test]
fn jcs() {
    let file = vectors("jcs.json");
    for case in list(&file, "cases") {
        let found = json::jcs(text(case, "input").as_bytes());
        let expected = Ok(text(case, "canonical").as_bytes().to_vec());
        assert_eq!(found, expected, "{}", text(case, "name"));
    }
    for case in list(&file, "refused") {
        let found = json::jcs(text(case, "input").as_bytes());
        assert!(found.is_err(), "{}: {found:?}", text(case, "name"));
    }
}

#[test]
fn jcs_numbers() {
    for case in list(&vectors("jcs.json"), "numbers") {
        let bits = u64::from_str_radix(text(case, "bits"), 16).expect("hex");
        assert_eq!(es6(f64::from_bits(bits)), text(case, "text"));
    }
}

/// The published digests of the reference generator's first 1,000 to 100,000 lines.
#[test]
fn jcs_generated_numbers() {
    let file = vectors("jcs.json");
    let published = &file["generated"]["sha256"];
    let fixed = list(&file["generated"], "fixed").iter();
    let fixed =
        fixed.map(|bits| u64::from_str_radix(bits.as_str().expect("hex"), 16).expect("hex"));
    let serial = (0..2000).map(|n| 0x0010_0000_0000_0000 + n);
    let mut lines = String::new();
    let mut count = 0;
    for bits in fixed.chain(serial).chain(hashed_doubles()) {
        lines += &format!("{bits:x},{}\n", es6(f64::from_bits(bits)));
        count += 1;
        if let Some(expected) = published[count.to_string()].as_str() {
            assert_eq!(
                digest::sha256_hex(lines.as_bytes()),
                expected,
                "{count} lines"
            );
        }
        if count == 100_000 {
            return;
        }
    }
}

fn hashed_doubles() -> impl Iterator<Item = u64> {
    let blocks = std::iter::successors(Some(digest::sha256(&[0; 32])), |b| Some(digest::sha256(b)));
    blocks
        .flat_map(|block| {
            let word = |at: usize| u64::from_le_bytes(block[at..at + 8].try_into().expect("eight"));
            [word(0), word(8), word(16), word(24)]
        })
        .filter(|&bits| f64::from_bits(bits) != 0.0 && f64::from_bits(bits).is_finite())
}

fn es6(number: f64) -> String {
    let found = json::jcs(format!("{number:e}").as_bytes()).expect("a number");
    String::from_utf8(found).expect("ASCII")
}

#[test]
fn merkle() {
    let file = vectors("merkle.json");
    let records: Vec<Vec<u8>> = list(&file, "records")
        .iter()
        .map(|record| unhex(record.as_str().expect("hex")))
        .collect();
    let leaves: Vec<Hash> = records
        .iter()
        .map(|record| digest::leaf_hash(record))
        .collect();
    for (size, root) in list(&file, "roots").iter().enumerate() {
        assert_eq!(
            digest::merkle_root(&leaves[..size]),
            unhash(root),
            "{size} leaves"
        );
    }
    let mut previous = unhash(&file["chain"]["first"]);
    for (record, link) in records.iter().zip(list(&file["chain"], "links")) {
        previous = digest::chain_hash(&previous, record);
        assert_eq!(previous, unhash(link));
    }
    for case in list(&file, "unit") {
        let found = digest::unit(text(case, "key").as_bytes());
        assert_eq!(Some(found), case["value"].as_f64());
    }
}

#[test]
fn ed25519() {
    let file = vectors("ed25519.json");
    let key = |public: &Value| {
        let data = [&[1], &*unhex(public.as_str().expect("hex"))].concat();
        let id = digest::sha256(&[b"p\n", &*data].concat());
        let id: String = id[..4].iter().map(|byte| format!("{byte:02x}")).collect();
        VerifierKey::parse(&format!("p+{id}+{}", STANDARD.encode(data)))
    };
    let cases = list(&file, "cases");
    assert_eq!(cases.len(), 151);
    for case in cases {
        let key = key(&case["public"]).expect("a key");
        let found = key.verifies(&unhex(text(case, "text")), &unhex(text(case, "signature")));
        assert_eq!(case["holds"], found, "{}", text(case, "name"));
    }
    for public in ["weak", "weak_written_otherwise"]
        .map(|name| list(&file, name))
        .concat()
    {
        assert!(key(&public).is_none(), "{public}");
    }
}

#[test]
fn sse() {
    for case in list(&vectors("sse.json"), "cases") {
        let stream = text(case, "stream").as_bytes();
        for size in 1..=stream.len().max(1) {
            let mut splitter = SseSplitter::default();
            let mut events = Vec::new();
            for chunk in stream.chunks(size) {
                splitter.feed(chunk, |event| {
                    events.push(String::from_utf8_lossy(event).into_owned())
                });
            }
            assert_eq!(
                events,
                list(case, "events"),
                "{} by {size}",
                text(case, "name")
            );
            assert_eq!(splitter.finish(), text(case, "rest").as_bytes());
        }
        for (event, expected) in list(case, "events").iter().zip(list(case, "parsed")) {
            let found = sse::parse(event.as_str().expect("text").as_bytes());
            assert_eq!(found, expected_event(expected), "{}", text(case, "name"));
        }
    }
}

fn expected_event(parsed: &Value) -> Option<SseEvent> {
    let fields = parsed.as_array()?;
    let owned = |at: usize| fields[at].as_str().map(str::to_owned);
    Some(SseEvent {
        name: owned(0),
        data: owned(1)?.into_bytes(),
        id: owned(2),
        retry: fields[3].as_u64(),
    })
}

fn cells(value: &Value) -> Vec<score::Cell<'_>> {
    let rows = value.as_array().expect("cells").iter();
    rows.map(|cell| {
        let word = |at: usize| cell[at].as_str().expect("text");
        score::Cell {
            scenario: word(0),
            invocation: word(1),
            severity: word(2),
            verdict: word(3),
        }
    })
    .collect()
}

#[test]
fn scores() {
    let file = vectors("score.json");
    for case in list(&file, "scores") {
        let found = score::resilience_score(cells(&case["cells"])).expect("known words");
        assert_eq!(found.score, case["score"].as_f64());
        let rows: Vec<Value> = found
            .scenarios
            .iter()
            .map(|one| serde_json::json!([one.name, one.score, one.judged, one.asked]))
            .collect();
        assert_eq!(Value::from(rows), case["scenarios"]);
    }
    for case in list(&file, "refused") {
        assert!(score::resilience_score(cells(case)).is_err(), "{case}");
    }
    for case in list(&file, "jeffreys") {
        let number = |key: &str| case[key].as_f64().expect("a number");
        let (passed, total) = (number("passed") as u64, number("total") as u64);
        let (lower, upper) =
            score::jeffreys_interval(passed, total, number("confidence")).expect("valid");
        assert!((lower - number("lower")).abs() < 1e-12, "{case}: {lower}");
        assert!((upper - number("upper")).abs() < 1e-12, "{case}: {upper}");
    }
}

#[test]
fn tapes() {
    let file = vectors("tapes.json");
    let key = VerifierKey::parse(text(&file, "key")).expect("a verifier key");
    for case in list(&file, "tapes") {
        let mut verifier = TapeVerifier::new(vec![key.clone()], true);
        for line in list(case, "lines") {
            verifier.line(line.as_str().expect("a line").as_bytes());
        }
        let verdict = verifier.close();
        let codes: BTreeSet<&str> = verdict.findings.iter().map(|found| found.code).collect();
        let expected: BTreeSet<&str> = list(case, "codes")
            .iter()
            .map(|code| code.as_str().expect("a code"))
            .collect();
        assert_eq!(codes, expected, "{}", text(case, "name"));
        assert_eq!(
            verdict.root,
            unhash(&case["root"]),
            "{}",
            text(case, "name")
        );
    }
}

/// Without the key, the same tape is sealed by somebody whom nobody knows.
#[test]
fn a_sound_tape_under_another_key() {
    let file = vectors("tapes.json");
    let sound = &list(&file, "tapes")[0];
    let mut verifier = TapeVerifier::new(Vec::new(), false);
    for line in list(sound, "lines") {
        verifier.line(line.as_str().expect("a line").as_bytes());
    }
    let verdict = verifier.close();
    let codes: Vec<&str> = verdict.findings.iter().map(|found| found.code).collect();
    assert!(codes.contains(&"seal_untrusted"), "{codes:?}");
    assert_eq!(
        (verdict.key.as_deref(), verdict.trusted),
        (file["key"].as_str(), false)
    );
}
