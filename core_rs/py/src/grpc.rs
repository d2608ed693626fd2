//! Framing of gRPC.

use faultwire_core::grpc;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::border::CoreResult;

#[pyclass(module = "faultwire._core")]
#[derive(Default)]
struct GrpcSplitter(grpc::GrpcSplitter);

#[pymethods]
impl GrpcSplitter {
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

#[pyfunction]
#[pyo3(signature = (frame, /))]
fn grpc_parse<'py>(py: Python<'py>, frame: &[u8]) -> CoreResult<(bool, Bound<'py, PyBytes>)> {
    let read = grpc::parse(frame)?;
    Ok((read.compressed, PyBytes::new(py, read.message)))
}

#[pyfunction]
#[pyo3(signature = (message, /, *, compressed=false))]
fn grpc_write<'py>(
    py: Python<'py>,
    message: &[u8],
    compressed: bool,
) -> CoreResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &grpc::write(message, compressed)?))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<GrpcSplitter>()?;
    module.add_function(wrap_pyfunction!(grpc_parse, module)?)?;
    module.add_function(wrap_pyfunction!(grpc_write, module)?)
}
