//! Intervals, tests, corrections and stopping rules.

use faultwire_core::stats::{boschloo, interval, multiple, paired, passk, sequential};
use pyo3::prelude::*;

use crate::border::{CoreResult, natural};

type Counts = (i64, i64);

fn count(value: i64, name: &str) -> CoreResult<u64> {
    Ok(natural(value, name)? as u64)
}

fn sample((passed, total): Counts) -> CoreResult<(u64, u64)> {
    Ok((count(passed, "passed")?, count(total, "total")?))
}

#[pyfunction]
#[pyo3(signature = (passed, total, confidence = 0.95))]
fn wilson_interval(passed: i64, total: i64, confidence: f64) -> CoreResult<(f64, f64)> {
    let (passed, total) = sample((passed, total))?;
    Ok(interval::wilson(passed, total, confidence)?)
}

#[pyfunction]
#[pyo3(signature = (passed, total, confidence = 0.95))]
fn clopper_pearson_interval(passed: i64, total: i64, confidence: f64) -> CoreResult<(f64, f64)> {
    let (passed, total) = sample((passed, total))?;
    Ok(interval::clopper_pearson(passed, total, confidence)?)
}

#[pyfunction]
#[pyo3(signature = (first, second, confidence = 0.95))]
fn newcombe_interval(first: Counts, second: Counts, confidence: f64) -> CoreResult<(f64, f64)> {
    Ok(interval::newcombe(
        sample(first)?,
        sample(second)?,
        confidence,
    )?)
}

#[pyfunction]
#[pyo3(signature = (both, first, second, neither, confidence = 0.95))]
fn newcombe_paired_interval(
    both: i64,
    first: i64,
    second: i64,
    neither: i64,
    confidence: f64,
) -> CoreResult<(f64, f64)> {
    let table = [
        count(both, "both")?,
        count(first, "first")?,
        count(second, "second")?,
        count(neither, "neither")?,
    ];
    Ok(interval::newcombe_paired(table, confidence)?)
}

#[pyfunction]
#[pyo3(signature = (passed, total, k, /))]
fn pass_hat(passed: i64, total: i64, k: i64) -> CoreResult<Option<f64>> {
    let (passed, total) = sample((passed, total))?;
    Ok(passk::pass_hat(passed, total, count(k, "k")?)?)
}

#[pyfunction]
#[pyo3(signature = (passed, total, k, confidence = 0.95))]
fn pass_bound(passed: i64, total: i64, k: i64, confidence: f64) -> CoreResult<f64> {
    let (passed, total) = sample((passed, total))?;
    Ok(passk::pass_bound(
        passed,
        total,
        count(k, "k")?,
        confidence,
    )?)
}

#[pyfunction]
#[pyo3(signature = (only_first, only_second, /))]
fn mcnemar(only_first: i64, only_second: i64) -> CoreResult<f64> {
    let first = count(only_first, "only_first")?;
    Ok(paired::mcnemar(first, count(only_second, "only_second")?))
}

#[pyfunction]
#[pyo3(signature = (first, second, /))]
fn boschloo_test(py: Python<'_>, first: Counts, second: Counts) -> CoreResult<f64> {
    let (first, second) = (sample(first)?, sample(second)?);
    Ok(py.detach(|| boschloo::boschloo(first, second))?)
}

#[pyfunction]
#[pyo3(signature = (p_values, /))]
fn holm(p_values: Vec<f64>) -> CoreResult<Vec<f64>> {
    Ok(multiple::holm(&p_values)?)
}

#[pyfunction]
#[pyo3(signature = (p_values, /))]
fn benjamini_hochberg(p_values: Vec<f64>) -> CoreResult<Vec<f64>> {
    Ok(multiple::benjamini_hochberg(&p_values)?)
}

#[pyfunction]
#[pyo3(signature = (passed, total, bad, good, alpha = 0.05, beta = 0.05))]
fn sprt(
    passed: i64,
    total: i64,
    bad: f64,
    good: f64,
    alpha: f64,
    beta: f64,
) -> CoreResult<&'static str> {
    let found = sequential::sprt(sample((passed, total))?, (bad, good), (alpha, beta))?;
    Ok(match found {
        sequential::Verdict::Good => "good",
        sequential::Verdict::Bad => "bad",
        sequential::Verdict::Open => "open",
    })
}

#[pyfunction]
#[pyo3(signature = (passed, total, rate, /))]
fn ln_evidence(passed: i64, total: i64, rate: f64) -> CoreResult<f64> {
    let (passed, total) = sample((passed, total))?;
    Ok(sequential::ln_evidence(passed, total, rate)?)
}

#[pyfunction]
#[pyo3(signature = (passed, total, confidence = 0.95))]
fn confidence_sequence(passed: i64, total: i64, confidence: f64) -> CoreResult<(f64, f64)> {
    let (passed, total) = sample((passed, total))?;
    Ok(sequential::confidence_sequence(passed, total, confidence)?)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(wilson_interval, module)?)?;
    module.add_function(wrap_pyfunction!(clopper_pearson_interval, module)?)?;
    module.add_function(wrap_pyfunction!(newcombe_interval, module)?)?;
    module.add_function(wrap_pyfunction!(newcombe_paired_interval, module)?)?;
    module.add_function(wrap_pyfunction!(pass_hat, module)?)?;
    module.add_function(wrap_pyfunction!(pass_bound, module)?)?;
    module.add_function(wrap_pyfunction!(mcnemar, module)?)?;
    module.add_function(wrap_pyfunction!(boschloo_test, module)?)?;
    module.add_function(wrap_pyfunction!(holm, module)?)?;
    module.add_function(wrap_pyfunction!(benjamini_hochberg, module)?)?;
    module.add_function(wrap_pyfunction!(sprt, module)?)?;
    module.add_function(wrap_pyfunction!(ln_evidence, module)?)?;
    module.add_function(wrap_pyfunction!(confidence_sequence, module)?)
}
