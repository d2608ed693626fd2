//! What stands for a secret.

use faultwire_core::redact;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::texts::text;

/// Digests of values under one key.
#[pyclass(module = "faultwire._core")]
pub struct Placeholders(redact::Placeholders);

#[pymethods]
impl Placeholders {
    #[new]
    #[pyo3(signature = (key, /))]
    fn new(key: &[u8]) -> Self {
        Placeholders(redact::Placeholders::new(key))
    }

    #[pyo3(signature = (what, value, /))]
    fn digest(&mut self, what: &str, value: &Bound<'_, PyString>) -> PyResult<String> {
        let value = text(value)?;
        Ok(self.0.digest(what, value.part(0, value.plain().len())))
    }
}
