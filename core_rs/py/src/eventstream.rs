//! Framing of AWS event streams.

use faultwire_core::eventstream;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::border::CoreResult;

#[pyclass(module = "faultwire._core")]
#[derive(Default)]
struct EventStreamSplitter(eventstream::EventStreamSplitter);

#[pymethods]
impl EventStreamSplitter {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (chunk, /))]
    fn feed<'py>(&mut self, py: Python<'py>, chunk: &[u8]) -> Vec<Bound<'py, PyBytes>> {
        let mut frames = Vec::new();
        self.0
            .feed(chunk, |frame| frames.push(PyBytes::new(py, frame)));
        frames
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.finish())
    }

    #[getter]
    fn pending(&self) -> usize {
        self.0.pending()
    }

    #[getter]
    fn broken(&self) -> Option<String> {
        self.0.broken().map(str::to_owned)
    }
}

type PyFrame<'py> = (Vec<(String, String)>, Bound<'py, PyBytes>);

#[pyfunction]
#[pyo3(signature = (frame, /))]
fn eventstream_parse<'py>(py: Python<'py>, frame: &[u8]) -> CoreResult<PyFrame<'py>> {
    let read = eventstream::parse(frame)?;
    Ok((read.headers, PyBytes::new(py, read.payload)))
}

#[pyfunction]
#[pyo3(signature = (headers, payload, /))]
fn eventstream_write<'py>(
    py: Python<'py>,
    headers: Vec<(String, String)>,
    payload: &[u8],
) -> CoreResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &eventstream::write(&headers, payload)?))
}

#[pyfunction]
#[pyo3(signature = (frame, payload, /))]
fn eventstream_with_payload<'py>(
    py: Python<'py>,
    frame: &[u8],
    payload: &[u8],
) -> CoreResult<Bound<'py, PyBytes>> {
    let changed = eventstream::with_payload(frame, payload)?;
    Ok(PyBytes::new(py, &changed))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<EventStreamSplitter>()?;
    module.add_function(wrap_pyfunction!(eventstream_parse, module)?)?;
    module.add_function(wrap_pyfunction!(eventstream_write, module)?)?;
    module.add_function(wrap_pyfunction!(eventstream_with_payload, module)?)
}
