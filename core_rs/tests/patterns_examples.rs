//! Every entry's examples: all of `yes` must match, none of `no`.
mod templates;

use faultwire_core::patterns::{Entry, Kind, Options, catalog, engine};
use templates::fill;

/// Whether the entry (or, for a generic one that is `wanted`, a national entry of its category) finds it.
fn found(entry: &Entry, text: &str, wanted: bool) -> bool {
    let locales =
        (!entry.locale.is_empty()).then(|| entry.locale.split(' ').map(String::from).collect());
    let options = Options {
        kinds: vec![entry.kind],
        locales,
        recall: entry.wide,
        ..Options::default()
    };
    let engine = engine().expect("the catalogue compiles");
    let near = |hit: &faultwire_core::patterns::Hit| {
        entry.locale.is_empty() && hit.category == entry.category
    };
    engine
        .scan(text.as_bytes(), &options)
        .iter()
        .any(|hit| hit.id == entry.id || (wanted && near(hit)))
}

#[test]
fn every_example_holds() {
    let mut wrong = Vec::new();
    for entry in catalog().expect("the data files parse") {
        assert!(!entry.yes.is_empty(), "{}: no example", entry.id);
        for example in &entry.yes {
            let text = fill(example);
            if !found(&entry, &text, true) {
                wrong.push(format!("{}: misses `{text}`", entry.id));
            }
        }
        for example in &entry.no {
            let text = fill(example);
            if found(&entry, &text, false) {
                wrong.push(format!("{}: takes `{text}`", entry.id));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n{} wrong",
        wrong.join("\n"),
        wrong.len()
    );
}

#[test]
fn the_catalogue_is_as_large_as_promised() {
    let entries = catalog().expect("the data files parse");
    let count = |kind: Kind| entries.iter().filter(|entry| entry.kind == kind).count();
    let mut countries: Vec<&str> = entries
        .iter()
        .flat_map(|entry| entry.locale.split(' '))
        .filter(|c| !c.is_empty())
        .collect();
    countries.sort_unstable();
    countries.dedup();
    let mut ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "an id twice");
    assert!(
        count(Kind::Pii) >= 90,
        "{} kinds of personal data",
        count(Kind::Pii)
    );
    assert!(
        count(Kind::Secrets) >= 220,
        "{} kinds of secrets",
        count(Kind::Secrets)
    );
    assert!(countries.len() >= 20, "{} countries", countries.len());
}

#[test]
fn every_injection_example_holds() {
    let engine = engine().expect("the catalogue compiles");
    let options = Options {
        kinds: vec![Kind::Injection],
        ..Options::default()
    };
    let mut wrong = Vec::new();
    for (id, _, yes, no) in engine.injections() {
        for text in yes {
            if engine.scan(text.as_bytes(), &options).is_empty() {
                wrong.push(format!("{id}: misses `{text}`"));
            } else if !engine.matches(text).contains(&id.to_string()) {
                wrong.push(format!("{id}: itself misses `{text}`"));
            }
        }
        for text in no {
            if engine.matches(text).contains(&id.to_string()) {
                wrong.push(format!("{id}: takes `{text}`"));
            }
        }
    }
    assert!(engine.injections().count() >= 120);
    assert!(
        wrong.is_empty(),
        "{}\n{} wrong",
        wrong.join("\n"),
        wrong.len()
    );
}
