//! Patterns that users write.

use faultwire_core::{glob, matching};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::border::{CoreResult, detached, lenient};

#[pyclass(module = "faultwire._core", frozen)]
struct Regex(matching::Regex);

#[pymethods]
impl Regex {
    #[new]
    #[pyo3(signature = (pattern, /))]
    fn new(pattern: &str) -> CoreResult<Self> {
        Ok(Self(matching::Regex::new(pattern)?))
    }

    #[pyo3(signature = (text, /))]
    fn search(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
    ) -> PyResult<Option<(usize, usize)>> {
        let text = lenient(text)?;
        Ok(detached(py, text.len(), || self.0.search(&text)))
    }

    #[pyo3(signature = (text, /))]
    fn is_match(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<bool> {
        let text = lenient(text)?;
        Ok(detached(py, text.len(), || self.0.is_match(&text)))
    }

    #[pyo3(signature = (text, /))]
    fn starts(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Vec<usize>> {
        let text = lenient(text)?;
        Ok(detached(py, text.len(), || self.0.starts(&text)))
    }

    #[getter]
    fn pattern(&self) -> &str {
        self.0.pattern()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let pattern = PyString::new(py, self.0.pattern()).repr()?;
        Ok(format!("Regex({pattern})"))
    }
}

#[pyfunction]
#[pyo3(signature = (pattern, text, /))]
fn glob_match(pattern: &str, text: &Bound<'_, PyString>) -> PyResult<bool> {
    Ok(glob::glob_match(pattern, &lenient(text)?))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Regex>()?;
    module.add_function(wrap_pyfunction!(glob_match, module)?)
}
