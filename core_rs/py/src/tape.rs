//! The verifier of exported tapes.

use faultwire_core::Error;
use faultwire_core::tape;
use pyo3::prelude::*;

use crate::border::{CoreResult, detached};

/// `(code, message, event)` of one finding.
type Finding = (&'static str, String, Option<usize>);

#[pyclass(module = "faultwire._core", frozen, get_all)]
struct TapeVerdict {
    events: usize,
    root: String,
    origin: Option<String>,
    settings: Option<String>,
    sessions: usize,
    exchanges: usize,
    blobs: usize,
    key: Option<String>,
    trusted: bool,
    findings: Vec<Finding>,
}

impl From<tape::Verdict> for TapeVerdict {
    fn from(found: tape::Verdict) -> Self {
        let finding = |one: tape::Finding| (one.code, one.message, one.seq);
        Self {
            events: found.events,
            root: found
                .root
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            origin: found.origin,
            settings: found.settings,
            sessions: found.sessions,
            exchanges: found.exchanges,
            blobs: found.blobs,
            key: found.key,
            trusted: found.trusted,
            findings: found.findings.into_iter().map(finding).collect(),
        }
    }
}

#[pyclass(module = "faultwire._core")]
struct TapeVerifier(Option<tape::TapeVerifier>);

#[pymethods]
impl TapeVerifier {
    #[new]
    #[pyo3(signature = (keys, demanded, /))]
    fn new(keys: Vec<String>, demanded: bool) -> CoreResult<Self> {
        let parse = |text: &String| {
            tape::VerifierKey::parse(text)
                .ok_or_else(|| Error::argument(format!("`{text}` is no verifier key")))
        };
        let keys = keys.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        Ok(Self(Some(tape::TapeVerifier::new(keys, demanded))))
    }

    #[pyo3(signature = (line, /))]
    fn line(&mut self, py: Python<'_>, line: &[u8]) -> CoreResult<usize> {
        let verifier = self.0.as_mut().ok_or_else(closed)?;
        Ok(detached(py, line.len(), || verifier.line(line)))
    }

    fn close(&mut self) -> CoreResult<TapeVerdict> {
        Ok(self.0.take().ok_or_else(closed)?.close().into())
    }
}

#[pyfunction]
#[pyo3(signature = (text, /))]
fn is_verifier_key(text: &str) -> bool {
    tape::VerifierKey::parse(text).is_some()
}

fn closed() -> Error {
    Error::argument("this verifier is closed")
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TapeVerdict>()?;
    module.add_function(wrap_pyfunction!(is_verifier_key, module)?)?;
    module.add_class::<TapeVerifier>()
}
