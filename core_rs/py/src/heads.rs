//! Heads of HTTP messages.

use faultwire_core::heads;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// Bytes of one field line, borrowed from Python.
type Line<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn lines<'py>(fields: &Bound<'py, PyAny>) -> PyResult<Vec<Line<'py>>> {
    let mut found = Vec::with_capacity(fields.len().unwrap_or(0));
    for field in fields.try_iter()? {
        let field = field?;
        // A field is a tuple, or one of HPACK's subclasses of it.
        let pair = field.cast::<PyTuple>()?;
        let name = pair.get_item(0)?.cast_into::<PyBytes>()?;
        let value = pair.get_item(1)?.cast_into::<PyBytes>()?;
        found.push((name, value));
    }
    Ok(found)
}

fn views<'a>(found: &'a [Line<'_>]) -> impl Iterator<Item = heads::Field<'a>> {
    found
        .iter()
        .map(|(name, value)| (name.as_bytes(), value.as_bytes()))
}

#[pyfunction]
#[pyo3(signature = (head, /))]
fn http1_request_flaw(head: &[u8]) -> Option<String> {
    heads::request(head).err()
}

#[pyfunction]
#[pyo3(signature = (head, /))]
fn http1_response_flaw(head: &[u8]) -> Option<String> {
    heads::response(head).err()
}

#[pyfunction]
#[pyo3(signature = (fields, /))]
fn http2_request_flaw(fields: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    Ok(heads::http2_request(views(&lines(fields)?)).err())
}

#[pyfunction]
#[pyo3(signature = (fields, /))]
fn http2_response_flaw(fields: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    Ok(heads::http2_response(views(&lines(fields)?)).err())
}

#[pyfunction]
#[pyo3(signature = (fields, /, *, http2))]
fn trailers_flaw(fields: &Bound<'_, PyAny>, http2: bool) -> PyResult<Option<String>> {
    Ok(heads::trailers(views(&lines(fields)?), http2).err())
}

#[pyclass(module = "faultwire._core")]
struct RequestCounter(heads::RequestCounter);

#[pymethods]
impl RequestCounter {
    #[new]
    #[pyo3(signature = (*, http2))]
    fn new(http2: bool) -> Self {
        Self(heads::RequestCounter::new(http2))
    }

    #[pyo3(signature = (data, /))]
    fn feed(&mut self, data: &[u8]) -> usize {
        self.0.feed(data)
    }

    fn stop(&mut self) {
        self.0.stop();
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RequestCounter>()?;
    module.add_function(wrap_pyfunction!(http1_request_flaw, module)?)?;
    module.add_function(wrap_pyfunction!(http1_response_flaw, module)?)?;
    module.add_function(wrap_pyfunction!(http2_request_flaw, module)?)?;
    module.add_function(wrap_pyfunction!(http2_response_flaw, module)?)?;
    module.add_function(wrap_pyfunction!(trailers_flaw, module)?)
}
