//! Where secrets are in a text, and whether there may be any.

use faultwire_core::redact;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::texts::{Row, known, rows, text};
use crate::border::detached;

#[pyfunction]
#[pyo3(signature = (whole, /))]
fn secret_suspected(py: Python<'_>, whole: &Bound<'_, PyString>) -> PyResult<bool> {
    let whole = text(whole)?;
    Ok(detached(py, whole.plain().len(), || {
        redact::suspects(&whole)
    }))
}

#[pyfunction]
#[pyo3(signature = (record, /))]
fn secret_suspected_in_record(py: Python<'_>, record: &[u8]) -> bool {
    detached(py, record.len(), || redact::suspects_record(record))
}

#[pyfunction]
#[pyo3(signature = (whole, /))]
fn is_encoding(py: Python<'_>, whole: &Bound<'_, PyString>) -> PyResult<bool> {
    let whole = text(whole)?;
    Ok(detached(py, whole.plain().len(), || {
        redact::encodes(&whole)
    }))
}

#[pyfunction]
#[pyo3(signature = (whole, /))]
fn is_packed(whole: &Bound<'_, PyString>) -> PyResult<bool> {
    Ok(redact::is_packed(&text(whole)?))
}

/// Secrets by their shape alone: (start, end, class, lead).
#[pyfunction]
#[pyo3(signature = (whole, /))]
fn shaped_values(
    whole: &Bound<'_, PyString>,
) -> PyResult<Vec<(usize, usize, &'static str, usize)>> {
    let whole = text(whole)?;
    let mut found = redact::values(&whole);
    let mut places: Vec<&mut usize> = Vec::with_capacity(3 * found.len());
    for value in &mut found {
        places.extend([&mut value.start, &mut value.end, &mut value.lead]);
    }
    whole.characters(&mut places);
    Ok(found
        .into_iter()
        .map(|value| (value.start, value.end, value.what, value.lead))
        .collect())
}

/// Secrets that the pattern engine knows.
#[pyfunction]
#[pyo3(signature = (whole, which, /))]
fn known_edits<'py>(
    py: Python<'py>,
    whole: &Bound<'py, PyString>,
    which: &str,
) -> PyResult<Vec<Row<'py>>> {
    let which = known(which)?;
    let whole = text(whole)?;
    let found = detached(py, whole.plain().len(), || {
        redact::known_edits(&whole, which)
    });
    rows(py, &whole, found)
}

#[pyfunction]
#[pyo3(signature = (whole, /))]
fn query_edits<'py>(py: Python<'py>, whole: &Bound<'py, PyString>) -> PyResult<Vec<Row<'py>>> {
    let whole = text(whole)?;
    rows(py, &whole, redact::url_edits(&whole))
}

#[pyfunction]
#[pyo3(signature = (whole, /))]
fn form_edits<'py>(py: Python<'py>, whole: &Bound<'py, PyString>) -> PyResult<Vec<Row<'py>>> {
    let whole = text(whole)?;
    rows(py, &whole, redact::form_edits(&whole))
}

/// The first character that may belong to a secret which has not come whole.
#[pyfunction]
#[pyo3(signature = (whole, /))]
fn open_tail(whole: &Bound<'_, PyString>) -> PyResult<usize> {
    let whole = text(whole)?;
    let mut place = redact::open_tail(&whole);
    whole.characters(&mut [&mut place]);
    Ok(place)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(secret_suspected, module)?)?;
    module.add_function(wrap_pyfunction!(secret_suspected_in_record, module)?)?;
    module.add_function(wrap_pyfunction!(is_encoding, module)?)?;
    module.add_function(wrap_pyfunction!(is_packed, module)?)?;
    module.add_function(wrap_pyfunction!(shaped_values, module)?)?;
    module.add_function(wrap_pyfunction!(known_edits, module)?)?;
    module.add_function(wrap_pyfunction!(query_edits, module)?)?;
    module.add_function(wrap_pyfunction!(form_edits, module)?)?;
    module.add_function(wrap_pyfunction!(open_tail, module)?)?;
    Ok(())
}
