//! Framing of SSE and NDJSON streams, and of JSON arrays.

use faultwire_core::{array, line, sse};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

#[pyclass(module = "faultwire._core")]
#[derive(Default)]
struct SseSplitter(sse::SseSplitter);

#[pymethods]
impl SseSplitter {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (chunk, /))]
    fn feed<'py>(&mut self, py: Python<'py>, chunk: &[u8]) -> Vec<Bound<'py, PyBytes>> {
        let mut events = Vec::new();
        self.0
            .feed(chunk, |event| events.push(PyBytes::new(py, event)));
        events
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.finish())
    }

    #[getter]
    fn pending(&self) -> usize {
        self.0.pending()
    }
}

#[pyclass(module = "faultwire._core")]
#[derive(Default)]
struct LineSplitter(line::LineSplitter);

#[pymethods]
impl LineSplitter {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (chunk, /))]
    fn feed<'py>(&mut self, py: Python<'py>, chunk: &[u8]) -> Vec<Bound<'py, PyBytes>> {
        let mut lines = Vec::new();
        self.0
            .feed(chunk, |line| lines.push(PyBytes::new(py, line)));
        lines
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.finish())
    }

    #[getter]
    fn pending(&self) -> usize {
        self.0.pending()
    }
}

#[pyclass(module = "faultwire._core")]
#[derive(Default)]
struct ArraySplitter(array::ArraySplitter);

#[pymethods]
impl ArraySplitter {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (chunk, /))]
    fn feed<'py>(&mut self, py: Python<'py>, chunk: &[u8]) -> Vec<Bound<'py, PyBytes>> {
        let mut elements = Vec::new();
        self.0
            .feed(chunk, |element| elements.push(PyBytes::new(py, element)));
        elements
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.finish())
    }

    #[getter]
    fn broken(&self) -> bool {
        self.0.broken()
    }

    #[getter]
    fn pending(&self) -> usize {
        self.0.pending()
    }
}

type PyEvent<'py> = (
    Option<String>,
    Bound<'py, PyBytes>,
    Option<String>,
    Option<u64>,
);

#[pyfunction]
#[pyo3(signature = (event, /))]
fn sse_parse<'py>(py: Python<'py>, event: &[u8]) -> Option<PyEvent<'py>> {
    let event = sse::parse(event)?;
    let data = PyBytes::new(py, &event.data);
    Some((event.name, data, event.id, event.retry))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SseSplitter>()?;
    module.add_class::<LineSplitter>()?;
    module.add_class::<ArraySplitter>()?;
    module.add_function(wrap_pyfunction!(sse_parse, module)?)
}
