//! The vectors that the Python face reads too.
use faultwire_core::patterns::{Kind, Options, engine};
use faultwire_core::text::{compare, leak, offsets, refusal};
use serde_json::Value;

#[test]
fn shared_vectors() {
    let data: Value = serde_json::from_str(include_str!("../../tests/vectors/patterns.json"))
        .expect("valid JSON");
    let engine = engine().expect("the catalogue compiles");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    for case in data["scan"].as_array().expect("a list") {
        let source = text(&case["text"]);
        let kinds = case["kinds"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|k| Kind::from_name(k.as_str()?))
            .collect();
        let locales = case["locales"]
            .as_array()
            .map(|list| list.iter().map(text).collect());
        let hits = engine.scan(
            source.as_bytes(),
            &Options {
                kinds,
                locales,
                ..Options::default()
            },
        );
        let mut places: Vec<usize> = hits.iter().flat_map(|hit| [hit.start, hit.end]).collect();
        offsets::characters(&source, &mut places);
        let found: Vec<Value> = hits
            .iter()
            .zip(places.chunks(2))
            .map(|(hit, span)| {
                serde_json::json!([hit.kind.name(), hit.id, span[0], span[1], hit.masked])
            })
            .collect();
        assert_eq!(Value::Array(found), case["hits"], "{source}");
    }
    for case in data["refusal"].as_array().expect("a list") {
        let calls = case["tool_calls"].as_u64().unwrap_or(0) as usize;
        assert_eq!(
            refusal::refusal(&text(&case["text"]), calls).verdict.name(),
            text(&case["verdict"]),
            "{case}"
        );
    }
    for case in data["leak"].as_array().expect("a list") {
        assert_eq!(
            leak::leaks(&text(&case["text"]), &text(&case["prompt"]))
                .form
                .name(),
            text(&case["form"]),
            "{case}"
        );
    }
    for case in data["compare"].as_array().expect("a list") {
        let found = compare::compare(&text(&case["a"]), &text(&case["b"]));
        assert_eq!(
            Some(found.outcome.name()),
            case["outcome"].as_str(),
            "{case}"
        );
        let reasons: Vec<Value> = found.reasons.into_iter().map(Value::from).collect();
        assert_eq!(Value::Array(reasons), case["reasons"], "{case}");
    }
}
