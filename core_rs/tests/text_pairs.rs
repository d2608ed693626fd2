//! Labelled pairs: meaning flips must not pass, and accepted paraphrases are counted. `docs/reference/patterns.md` has the table.
//!
//! `held_back.tsv` was written before the rules, and no rule was made for a pair of it.
use std::cmp::Ordering;
use std::time::Instant;

use faultwire_core::text::compare::{Comparison, Outcome, compare};
use faultwire_core::text::refusal::refusal;

const TUNED: &str = include_str!("../../tests/data/text_pairs/tuned.tsv");
const HELD_BACK: &str = include_str!("../../tests/data/text_pairs/held_back.tsv");
const FIELD_CHECKED: &str = include_str!("../../tests/data/text_pairs/field_checked.tsv");
const FIELD_SCORED: &str = include_str!("../../tests/data/text_pairs/field_scored.tsv");
const AGENT_ANSWERS: &str = include_str!("../../tests/data/text_pairs/agent_answers.tsv");

/// What a table of pairs comes to.
#[derive(Debug)]
struct Figures {
    flips: usize,
    paraphrases: usize,
    /// Share of flips that are called the same.
    passed: f64,
    /// Share of paraphrases that are called the same.
    accepted: f64,
    /// Share of paraphrases that are called different.
    refused: f64,
    /// How often a paraphrase ranks above a flip, by outcome and then similarity.
    auc: f64,
}

fn figures(table: &str) -> Figures {
    let (mut flips, mut others) = (Vec::new(), Vec::new());
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [label, _writer, _kind, a, b] = cells[..] else {
            panic!("five columns, found `{line}`");
        };
        let list = if label == "flip" {
            &mut flips
        } else {
            &mut others
        };
        list.push(compare(a, b));
    }
    let share = |list: &[Comparison], outcome: Outcome| {
        list.iter().filter(|found| found.outcome == outcome).count() as f64 / list.len() as f64
    };
    let rank = |found: &Comparison| (found.outcome, found.similarity);
    let pairs = flips
        .iter()
        .flat_map(|flip| others.iter().map(move |other| (flip, other)));
    let above: f64 = pairs
        .map(|(flip, other)| match rank(other).partial_cmp(&rank(flip)) {
            Some(Ordering::Greater) => 1.0,
            Some(Ordering::Equal) => 0.5,
            _ => 0.0,
        })
        .sum();
    Figures {
        flips: flips.len(),
        paraphrases: others.len(),
        passed: share(&flips, Outcome::Same),
        accepted: share(&others, Outcome::Same),
        refused: share(&others, Outcome::Different),
        auc: above / (flips.len() * others.len()) as f64,
    }
}

#[test]
fn pairs_that_the_rules_were_made_on() {
    let found = figures(TUNED);
    println!("tuned: {found:?}");
    assert!(found.flips >= 100 && found.paraphrases >= 100);
    assert!(
        found.passed <= 0.02
            && found.accepted >= 0.70
            && found.refused <= 0.03
            && found.auc >= 0.95,
        "{found:?}"
    );
}

#[test]
fn pairs_that_were_held_back() {
    let found = figures(HELD_BACK);
    println!("held back: {found:?}");
    assert!(found.flips >= 50 && found.paraphrases >= 50);
    assert!(
        found.passed <= 0.02
            && found.accepted >= 0.50
            && found.refused <= 0.08
            && found.auc >= 0.95,
        "{found:?}"
    );
}

/// Another writer's pairs, of operations, medicine and law; `docs/reference/patterns.md` states how they were used.
#[test]
fn pairs_of_another_writer() {
    for (name, table) in [
        ("field checked", FIELD_CHECKED),
        ("field scored", FIELD_SCORED),
    ] {
        let found = figures(table);
        println!("{name}: {found:?}");
        assert!(found.flips == 25 && found.paraphrases == 25);
        assert!(
            found.passed <= 0.04 && found.accepted >= 0.48 && found.auc >= 0.86,
            "{found:?}"
        );
    }
}

/// Answers of an agent, written before anything was measured on them: the odd rows were looked at, the even ones not.
#[test]
fn pairs_of_an_agents_answers() {
    for (name, rest) in [("looked at", 0), ("only measured", 1)] {
        let rows = AGENT_ANSWERS.lines().skip(1).enumerate();
        let part: Vec<&str> = rows
            .filter_map(|(at, line)| (at % 2 == rest).then_some(line))
            .collect();
        let found = figures(&format!("header\n{}", part.join("\n")));
        println!("agent answers, {name}: {found:?}");
        assert!(found.flips == 20 && found.paraphrases == 20);
        assert!(found.passed == 0.0 && found.accepted >= 0.15, "{found:?}");
    }
}

/// A flip is no less one where its other side is worded anew: pairs of a flip's side and a rewording of its other side.
#[test]
fn reworded_flips_do_not_pass() {
    fn rows(label: &str) -> Vec<(&'static str, &'static str)> {
        let cells = AGENT_ANSWERS.lines().skip(1).map(|line| line.split('\t'));
        cells
            .map(|cells| cells.collect::<Vec<_>>())
            .filter(|cells| cells[0] == label)
            .map(|cells| (cells[3], cells[4]))
            .collect()
    }
    let both = |(a, b): (&'static str, &'static str)| [(a, b), (b, a)];
    let mut pairs = 0;
    for (known, reworded) in rows("paraphrase").into_iter().flat_map(both) {
        for (one, other) in rows("flip").into_iter().flat_map(both) {
            if one == known {
                pairs += 1;
                assert_ne!(
                    compare(reworded, other).outcome,
                    Outcome::Same,
                    "{reworded} {other}"
                );
            }
        }
    }
    assert!(pairs >= 35, "{pairs}");
}

/// What each rule of arrangement is for, and the paraphrase that it must leave alone.
#[test]
fn arrangement_is_part_of_what_is_stated() {
    let outcome = |a: &str, b: &str| compare(a, b).outcome;
    for (a, b) in [
        ("Prices rose by 8 %.", "Prices rose to 8 %."),
        (
            "Gate 7 is nearer than gate 9.",
            "Gate 9 is nearer than gate 7.",
        ),
        ("Call Anna before you sign.", "Sign before you call Anna."),
        (
            "It stops if the lid opens.",
            "It stops unless the lid opens.",
        ),
        (
            "The club asked Ann about Ben.",
            "The club asked Ben about Ann.",
        ),
        (
            "The store has confirmed the order.",
            "The store may confirm the order.",
        ),
        (
            "Lock the door, then call the guard.",
            "Call the guard, then lock the door.",
        ),
        (
            "I took the box from the cellar to the attic.",
            "The box is in the cellar; I took it from the attic.",
        ),
        (
            "The bike has a lock, so nothing else is needed.",
            "The bike has no lock, so something else is needed.",
        ),
    ] {
        assert_ne!(outcome(a, b), Outcome::Same, "{a} {b}");
    }
    for (a, b) in [
        ("It rose from 5 to 7 metres.", "It rose to 7 from 5 metres."),
        (
            "After the leak, production stopped.",
            "Production stopped after the leak.",
        ),
        ("You may leave early.", "You can leave early."),
        (
            "Ann could not find the key.",
            "Ann was unable to find the key.",
        ),
        (
            "Lock the door, then call the guard.",
            "Lock the door and then call the guard.",
        ),
        (
            "The train from Lyon is late.",
            "The train that comes from Lyon is late.",
        ),
    ] {
        assert_ne!(outcome(a, b), Outcome::Different, "{a} {b}");
    }
}

/// Every text says the same as itself, and the order of the sides does not matter.
#[test]
fn comparison_is_reflexive_and_symmetrical() {
    for line in TUNED.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let (a, b) = (cells[3], cells[4]);
        assert!(compare(a, &format!(" {a}\n")).same());
        assert_eq!(compare(a, b).outcome, compare(b, a).outcome, "{a} {b}");
    }
}

/// Four times the text takes about four times as long, whatever it is made of.
#[test]
fn time_grows_with_the_length() {
    let evil: [fn(usize) -> String; 4] = [
        |n| "5 -".repeat(n / 2),
        |n| "according to ".repeat(n / 6),
        |n| "2.10 not of A1 ".repeat(n / 7),
        |n| (0..n / 3).map(|at| format!("unw{at} ")).collect(),
    ];
    for (kind, made) in evil.iter().enumerate() {
        let took = |n: usize| {
            let (a, b) = (made(n), made(n + n / 10));
            let began = Instant::now();
            assert!(compare(&a, &b).similarity >= 0.0);
            refusal(&a, 0);
            began.elapsed().as_secs_f64()
        };
        // beyond the lengths up to which distance and order are looked at
        let (small, large) = (took(20_000), took(80_000));
        assert!(
            large < 12.0 * small + 0.1,
            "text {kind}: {small:.3} s, {large:.3} s for four times as much"
        );
    }
}
