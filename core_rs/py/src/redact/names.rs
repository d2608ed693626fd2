//! Which names are secret, and what of a value is.

use faultwire_core::redact::{self, Text};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::texts::{string, text};

#[pyfunction]
#[pyo3(signature = (name, value, /))]
fn pair_class(name: &Bound<'_, PyString>, value: &Bound<'_, PyString>) -> PyResult<Option<String>> {
    Ok(redact::pair_class(
        text(name)?.plain(),
        text(value)?.plain(),
    ))
}

#[pyfunction]
#[pyo3(signature = (name, /))]
fn header_class(name: &Bound<'_, PyString>) -> PyResult<Option<&'static str>> {
    Ok(redact::header_class(text(name)?.plain()))
}

#[pyfunction]
#[pyo3(signature = (name, /))]
fn query_class(name: &Bound<'_, PyString>) -> PyResult<Option<&'static str>> {
    Ok(redact::query_class(text(name)?.plain()))
}

#[pyfunction]
#[pyo3(signature = (host, /))]
fn has_secret_path(host: &Bound<'_, PyString>) -> PyResult<bool> {
    Ok(redact::has_secret_path(text(host)?.plain()))
}

/// The parts of a text around a split that was made by places in its UTF-8.
fn cut<'py, const N: usize>(
    py: Python<'py>,
    whole: &Text,
    parts: [&str; N],
) -> PyResult<[Bound<'py, PyString>; N]> {
    let mut at = 0;
    let mut out = Vec::with_capacity(N);
    for part in parts {
        out.push(string(py, whole.part(at, at + part.len()))?);
        at += part.len();
    }
    out.try_into()
        .map_err(|_| PyValueError::new_err("no such parts"))
}

#[pyfunction]
#[pyo3(signature = (value, /))]
fn kept_scheme<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyString>,
) -> PyResult<[Bound<'py, PyString>; 2]> {
    let value = text(value)?;
    let (scheme, rest) = redact::kept_scheme(value.plain());
    cut(py, &value, [scheme, rest])
}

#[pyfunction]
#[pyo3(signature = (value, /))]
fn key_offered<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyString>,
) -> PyResult<[Bound<'py, PyString>; 3]> {
    let value = text(value)?;
    let (before, key, after) = redact::key_offered(value.plain());
    cut(py, &value, [before, key, after])
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pair_class, module)?)?;
    module.add_function(wrap_pyfunction!(header_class, module)?)?;
    module.add_function(wrap_pyfunction!(query_class, module)?)?;
    module.add_function(wrap_pyfunction!(has_secret_path, module)?)?;
    module.add_function(wrap_pyfunction!(kept_scheme, module)?)?;
    module.add_function(wrap_pyfunction!(key_offered, module)?)?;
    Ok(())
}
