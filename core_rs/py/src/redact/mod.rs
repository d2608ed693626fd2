//! Redaction: where the secrets are in texts, streams, fields and paths, and what stands for them.

mod find;
mod layer;
mod names;
mod placeholders;
mod search;
mod texts;
mod unwrapped;

use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<placeholders::Placeholders>()?;
    module.add_class::<search::SecretSearch>()?;
    find::register(module)?;
    names::register(module)?;
    unwrapped::register(module)
}
