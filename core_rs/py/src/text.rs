//! Judging and comparing texts.

use faultwire_core::text::{compare, compressed, leak, packed, refusal};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::border::{detached, lenient, natural};

/// (path, left, right)
type Change = (String, Option<String>, Option<String>);
/// (similarity, distance, outcome, reasons, changes, json, open, (words of the left alone, of the right alone))
type Compared = (
    f64,
    usize,
    &'static str,
    Vec<String>,
    Vec<Change>,
    bool,
    bool,
    (Vec<String>, Vec<String>),
);
/// (leaked, form, score, coverage, longest)
type Leaked = (bool, &'static str, f64, f64, usize);

#[pyfunction]
#[pyo3(signature = (text, tool_calls, /))]
fn judge_refusal(
    text: &Bound<'_, PyString>,
    tool_calls: i64,
) -> PyResult<(&'static str, String, Vec<String>)> {
    let calls = natural(tool_calls, "tool_calls")?;
    let found = refusal::refusal(&lenient(text)?, calls);
    Ok((found.verdict.name(), found.language, found.reasons))
}

#[pyfunction]
#[pyo3(signature = (text, prompt, /))]
fn find_leak(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    prompt: &Bound<'_, PyString>,
) -> PyResult<Leaked> {
    let (text, prompt) = (lenient(text)?, lenient(prompt)?);
    let found = detached(py, text.len(), || leak::leaks(&text, &prompt));
    Ok((
        found.leaked,
        found.form.name(),
        found.score,
        found.coverage,
        found.longest,
    ))
}

#[pyfunction]
#[pyo3(signature = (left, right, threshold, /))]
fn compare_texts(
    py: Python<'_>,
    left: &Bound<'_, PyString>,
    right: &Bound<'_, PyString>,
    threshold: Option<f64>,
) -> PyResult<Compared> {
    let (left, right) = (lenient(left)?, lenient(right)?);
    let found = detached(py, left.len() + right.len(), || {
        compare::compare_at(&left, &right, threshold)
    });
    let changes = found
        .changes
        .into_iter()
        .map(|change| (change.path, change.left, change.right))
        .collect();
    Ok((
        found.similarity,
        found.distance,
        found.outcome.name(),
        found.reasons,
        changes,
        found.json,
        found.open,
        (found.left, found.right),
    ))
}

/// (start, end, form, what it decodes to)
type Stretch<'py> = (usize, usize, &'static str, Bound<'py, PyBytes>);

#[pyfunction]
#[pyo3(signature = (text, /))]
fn packed_stretches<'py>(py: Python<'py>, text: &[u8]) -> Vec<Stretch<'py>> {
    let found = detached(py, text.len(), || packed::stretches(text));
    found
        .into_iter()
        .map(|one| (one.start, one.end, one.form, PyBytes::new(py, &one.plain)))
        .collect()
}

#[pyfunction]
#[pyo3(signature = (text, /))]
fn holds_packed(py: Python<'_>, text: &[u8]) -> bool {
    detached(py, text.len(), || packed::any(text))
}

#[pyfunction]
#[pyo3(signature = (data, /))]
fn holds_compressed(py: Python<'_>, data: &[u8]) -> bool {
    detached(py, data.len(), || compressed::any(data))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(packed_stretches, module)?)?;
    module.add_function(wrap_pyfunction!(holds_packed, module)?)?;
    module.add_function(wrap_pyfunction!(holds_compressed, module)?)?;
    module.add_function(wrap_pyfunction!(judge_refusal, module)?)?;
    module.add_function(wrap_pyfunction!(find_leak, module)?)?;
    module.add_function(wrap_pyfunction!(compare_texts, module)?)
}
