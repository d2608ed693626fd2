//! The statistics against `tests/vectors/stats.json`, whose values scipy and statsmodels computed.

use std::fs;
use std::path::Path;

use faultwire_core::score::jeffreys_interval;
use faultwire_core::stats::sequential::Verdict;
use faultwire_core::stats::{binomial, boschloo, interval, multiple, paired, passk, sequential};
use serde_json::Value;

const NEAR: f64 = 1e-12;

fn vectors(key: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/stats.json");
    let text = fs::read(file).expect("the vectors");
    let all: Value = serde_json::from_slice(&text).expect("JSON");
    all[key].as_array().expect("a list").clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn count(value: &Value) -> u64 {
    value.as_u64().expect("a count")
}

fn pair(value: &Value) -> (u64, u64) {
    (count(&value[0]), count(&value[1]))
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .expect("numbers")
        .iter()
        .map(number)
        .collect()
}

/// Equal up to rounding, relative to the size of what is expected where that is above 1.
fn near(found: f64, expected: f64, case: &Value) {
    let slack = NEAR * expected.abs().max(1.0);
    assert!((found - expected).abs() <= slack, "{case}: {found}");
}

fn both(found: (f64, f64), expected: &Value, case: &Value) {
    near(found.0, number(&expected[0]), case);
    near(found.1, number(&expected[1]), case);
}

#[test]
fn stats_intervals_of_a_rate() {
    for case in vectors("rate") {
        let (passed, total) = (count(&case["passed"]), count(&case["total"]));
        let confidence = number(&case["confidence"]);
        for (name, method) in [
            ("jeffreys", jeffreys_interval as fn(_, _, _) -> _),
            ("wilson", interval::wilson),
            ("clopper_pearson", interval::clopper_pearson),
        ] {
            let found = method(passed, total, confidence).expect("an interval");
            both(found, &case[name], &case);
        }
    }
    for method in [
        jeffreys_interval as fn(_, _, _) -> _,
        interval::wilson,
        interval::clopper_pearson,
    ] {
        assert_eq!(method(0, 0, 0.95), Ok((0.0, 1.0)));
        assert!(method(3, 2, 0.95).is_err());
        for level in [0.0, 1.0, -0.5, 1.5, f64::NAN] {
            assert!(method(1, 2, level).is_err(), "{level}");
        }
    }
    assert!(interval::lower_bound(3, 2, 0.05).is_err());
}

#[test]
fn stats_differences() {
    for case in vectors("newcombe") {
        let (first, second) = (pair(&case["first"]), pair(&case["second"]));
        let found = interval::newcombe(first, second, number(&case["confidence"]));
        both(found.expect("an interval"), &case["interval"], &case);
    }
    for (first, second) in [((0, 0), (1, 2)), ((1, 2), (0, 0))] {
        assert_eq!(interval::newcombe(first, second, 0.95), Ok((-1.0, 1.0)));
    }
    assert!(interval::newcombe((0, 0), (2, 1), 0.95).is_err());
    for case in vectors("paired") {
        let table = numbers(&case["table"]);
        let table = [0, 1, 2, 3].map(|at| table[at] as u64);
        let found = interval::newcombe_paired(table, number(&case["confidence"]));
        both(found.expect("an interval"), &case["interval"], &case);
    }
    assert_eq!(interval::newcombe_paired([0; 4], 0.95), Ok((-1.0, 1.0)));
    assert!(interval::newcombe_paired([0; 4], 1.0).is_err());
}

#[test]
fn stats_tests_of_two_samples() {
    for case in vectors("mcnemar") {
        let found = paired::mcnemar(count(&case["first"]), count(&case["second"]));
        near(found, number(&case["p"]), &case);
    }
    for case in vectors("boschloo") {
        let (first, second) = (pair(&case["first"]), pair(&case["second"]));
        let found = boschloo::boschloo(first, second).expect("a p-value");
        near(found, number(&case["p"]), &case);
    }
    assert_eq!(boschloo::boschloo((0, 0), (1, 2)), Ok(1.0));
    assert_eq!(boschloo::boschloo((1, 2), (0, 0)), Ok(1.0));
    for (first, second) in [
        ((2, 1), (1, 2)),
        ((1, 2), (2, 1)),
        ((1, 1001), (1, 2)),
        ((1, 2), (1, 1001)),
    ] {
        assert!(boschloo::boschloo(first, second).is_err(), "{first:?}");
    }
    let said = boschloo::boschloo((1, 1002), (1, 1001)).unwrap_err();
    assert_eq!(said.to_string(), "`total` is 1002, expected at most 1000");
    for (first, second) in [((1000, 1000), (0, 0)), ((0, 0), (1000, 1000))] {
        assert_eq!(boschloo::boschloo(first, second), Ok(1.0), "the largest");
    }
}

#[test]
fn stats_passes_in_a_row() {
    for case in vectors("pass_k") {
        let (passed, total) = (count(&case["passed"]), count(&case["total"]));
        let k = count(&case["k"]);
        let found = passk::pass_hat(passed, total, k).expect("an estimate");
        match case["estimate"].as_f64() {
            None => assert_eq!(found, None, "{case}"),
            Some(estimate) => near(found.expect("enough runs"), estimate, &case),
        }
        let bound = passk::pass_bound(passed, total, k, number(&case["confidence"]));
        near(bound.expect("a bound"), number(&case["bound"]), &case);
    }
    assert!(passk::pass_hat(2, 1, 1).is_err());
    assert!(passk::pass_bound(1, 2, 1, 1.0).is_err());
}

#[test]
fn stats_many_tests_at_once() {
    for case in vectors("adjusted") {
        let values = numbers(&case["values"]);
        for (name, adjusted) in [
            ("holm", multiple::holm(&values)),
            ("benjamini_hochberg", multiple::benjamini_hochberg(&values)),
        ] {
            let (found, expected) = (adjusted.expect("p-values"), numbers(&case[name]));
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.into_iter().zip(expected) {
                near(found, expected, &case);
            }
        }
    }
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(multiple::holm(&[0.5, bad]).is_err());
        assert!(multiple::benjamini_hochberg(&[0.5, bad]).is_err());
    }
}

#[test]
fn stats_stopping_rules() {
    for case in vectors("sprt") {
        let counts = (count(&case["passed"]), count(&case["total"]));
        let rates = (number(&case["bad"]), number(&case["good"]));
        let levels = (number(&case["alpha"]), number(&case["beta"]));
        let expected = match case["verdict"].as_str() {
            Some("good") => Verdict::Good,
            Some("bad") => Verdict::Bad,
            _ => Verdict::Open,
        };
        assert_eq!(
            sequential::sprt(counts, rates, levels),
            Ok(expected),
            "{case}"
        );
    }
    let sound = ((1, 2), (0.5, 0.9), (0.05, 0.05));
    assert_eq!(
        sequential::sprt(sound.0, sound.1, sound.2),
        Ok(Verdict::Open)
    );
    for (counts, rates, levels) in [
        ((2, 1), sound.1, sound.2),
        (sound.0, (0.0, 0.9), sound.2),
        (sound.0, (0.5, 1.0), sound.2),
        (sound.0, (0.9, 0.5), sound.2),
        (sound.0, (0.5, 0.5), sound.2),
        (sound.0, sound.1, (0.0, 0.05)),
        (sound.0, sound.1, (0.05, 1.0)),
    ] {
        assert!(sequential::sprt(counts, rates, levels).is_err());
    }
}

#[test]
fn stats_evidence_at_every_look() {
    for case in vectors("evidence") {
        let (passed, total) = (count(&case["passed"]), count(&case["total"]));
        let found = sequential::ln_evidence(passed, total, number(&case["rate"]));
        near(found.expect("evidence"), number(&case["ln"]), &case);
    }
    assert_eq!(sequential::ln_evidence(1, 2, 0.0), Ok(f64::INFINITY));
    assert_eq!(sequential::ln_evidence(1, 2, 1.0), Ok(f64::INFINITY));
    for rate in [-0.1, 1.1, f64::NAN] {
        assert!(sequential::ln_evidence(1, 2, rate).is_err());
    }
    for case in vectors("sequence") {
        let (passed, total) = (count(&case["passed"]), count(&case["total"]));
        let found = sequential::confidence_sequence(passed, total, number(&case["confidence"]));
        both(found.expect("an interval"), &case["interval"], &case);
    }
    assert!(sequential::confidence_sequence(2, 1, 0.95).is_err());
    assert!(sequential::confidence_sequence(1, 2, 1.0).is_err());
}

/// Where the evidence at an end of the rates is just what refutes it, that end is refuted.
#[test]
fn stats_an_end_that_is_just_refuted_is_left_out() {
    let evidence = sequential::ln_evidence(0, 9, 1.0).expect("evidence");
    assert_eq!(evidence, f64::INFINITY);
    let (low, high) = sequential::confidence_sequence(0, 9, 0.95).expect("an interval");
    assert_eq!(low, 0.0);
    let outside = sequential::ln_evidence(0, 9, high).expect("evidence");
    let inside = sequential::ln_evidence(0, 9, high - 1e-12).expect("evidence");
    let limit = -(1.0 - 0.95_f64).ln();
    assert!(inside < limit && limit <= outside);
}

#[test]
fn stats_probabilities_of_single_outcomes() {
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < NEAR, "{found}");
    near(binomial::ln_choose(10, 3).exp() / 120.0, 1.0);
    assert_eq!(binomial::ln_choose(3, 4), f64::NEG_INFINITY);
    near(binomial::ln_choose(4, 4), 0.0);
    near(binomial::mass(5, 2, 0.3), 0.3087);
    assert_eq!(binomial::masses(2, 0.0), [1.0, 0.0, 0.0]);
    assert_eq!(binomial::masses(2, 1.0), [0.0, 0.0, 1.0]);
    near(binomial::fair_below(4, 1), 5.0 / 16.0);
    near(binomial::fair_below(4, 9), 1.0);
    // 10 balls, 4 marked, 5 drawn: at least 3 marked ones in 66 of 252
    near(binomial::hypergeometric_above(10, 4, 5, 3), 66.0 / 252.0);
    // more are drawn than there are unmarked ones, so that 2 marked ones are sure
    near(binomial::hypergeometric_above(5, 4, 3, 2), 1.0);
    near(binomial::hypergeometric_above(5, 4, 3, 3), 0.4);
    assert_eq!(binomial::hypergeometric_above(10, 4, 5, 5), 0.0);
}
