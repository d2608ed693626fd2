//! Scores and intervals.

use faultwire_core::score::{self, Cell};
use pyo3::prelude::*;

use crate::border::{CoreResult, natural};

/// Scenario, invocation, severity and verdict of a cell.
type Row = (String, String, String, String);
/// Name, score, judged cells and all cells of a scenario.
type Column = (String, Option<f64>, u64, u64);

#[pyfunction]
#[pyo3(signature = (cells, /))]
fn resilience_score(cells: Vec<Row>) -> CoreResult<(Option<f64>, Vec<Column>)> {
    let cells = cells
        .iter()
        .map(|(scenario, invocation, severity, verdict)| Cell {
            scenario,
            invocation,
            severity,
            verdict,
        });
    let found = score::resilience_score(cells)?;
    let scenarios = found.scenarios.into_iter();
    let rows = scenarios.map(|one| (one.name, one.score, one.judged, one.asked));
    Ok((found.score, rows.collect()))
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
