//! Scores and intervals.

use faultwire_core::score;
use pyo3::prelude::*;

use crate::border::{CoreResult, natural};

#[pyfunction]
#[pyo3(signature = (cells, /))]
fn resilience_score(cells: Vec<(String, String)>) -> CoreResult<Option<f64>> {
    let cells = cells
        .iter()
        .map(|(severity, verdict)| (severity.as_str(), verdict.as_str()));
    Ok(score::resilience_score(cells)?)
}

#[pyfunction]
#[pyo3(signature = (passed, total, confidence = 0.95))]
fn jeffreys_interval(passed: i64, total: i64, confidence: f64) -> CoreResult<(f64, f64)> {
    let (passed, total) = (natural(passed, "passed")?, natural(total, "total")?);
    Ok(score::jeffreys_interval(
        passed as u64,
        total as u64,
        confidence,
    )?)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(resilience_score, module)?)?;
    module.add_function(wrap_pyfunction!(jeffreys_interval, module)?)
}
