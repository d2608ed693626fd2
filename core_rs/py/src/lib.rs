//! Python face of the core: conversions only; every rule lives in `faultwire-core`.

mod border;
mod digest;
mod eventstream;
mod gate;
mod grpc;
mod heads;
mod json;
mod matching;
mod patterns;
mod proof;
mod recorder;
mod redact;
mod score;
mod sse;
mod stats;
mod tape;
mod text;
mod tunnel;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    digest::register(module)?;
    eventstream::register(module)?;
    gate::register(module)?;
    grpc::register(module)?;
    heads::register(module)?;
    json::register(module)?;
    matching::register(module)?;
    patterns::register(module)?;
    proof::register(module)?;
    recorder::register(module)?;
    redact::register(module)?;
    score::register(module)?;
    sse::register(module)?;
    stats::register(module)?;
    tape::register(module)?;
    text::register(module)?;
    tunnel::register(module)?;
    Ok(())
}
