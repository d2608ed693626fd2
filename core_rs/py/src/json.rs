//! Canonical JSON, fingerprints, spans and byte-preserving edits.

use faultwire_core::digest;
use faultwire_core::json::{self, Edit, Span, Step};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::border::{CoreError, CoreResult, detached, natural};

/// A path step as Python writes it.
enum PyStep {
    Key(String),
    Index(i64),
}

/// By hand: the derived version builds and drops an exception for every index.
impl<'py> FromPyObject<'_, 'py> for PyStep {
    type Error = PyErr;

    fn extract(step: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match step.cast::<PyString>() {
            Ok(key) => key.extract().map(Self::Key),
            Err(_) => step.extract().map(Self::Index),
        }
    }
}

/// A child's name as Python reads it.
#[derive(IntoPyObject)]
enum PyKey {
    Key(String),
    Index(usize),
}

impl From<Step> for PyKey {
    fn from(step: Step) -> Self {
        match step {
            Step::Key(key) => Self::Key(key),
            Step::Index(index) => Self::Index(index),
        }
    }
}

fn steps(path: Vec<PyStep>) -> CoreResult<Vec<Step>> {
    let step = |step| match step {
        PyStep::Key(key) => Ok(Step::Key(key)),
        PyStep::Index(index) => natural(index, "index").map(Step::Index),
    };
    path.into_iter().map(step).collect()
}

fn pair(span: Option<Span>) -> Option<(usize, usize)> {
    span.map(|span| (span.start, span.end))
}

#[pyfunction]
#[pyo3(signature = (data, /))]
fn jcs<'py>(py: Python<'py>, data: &[u8]) -> CoreResult<Bound<'py, PyBytes>> {
    let text = detached(py, data.len(), || json::jcs(data))?;
    Ok(PyBytes::new(py, &text))
}

#[pyfunction]
#[pyo3(signature = (body, mask, /))]
fn json_fingerprint<'py>(
    py: Python<'py>,
    body: &[u8],
    mask: Vec<String>,
) -> CoreResult<Bound<'py, PyBytes>> {
    let hash = detached(py, body.len(), || {
        let masked: Vec<&str> = mask.iter().map(String::as_str).collect();
        json::fingerprint(body, &masked)
    })?;
    Ok(PyBytes::new(py, &hash))
}

#[pyclass(module = "faultwire._core", frozen)]
struct JsonMask {
    paths: Vec<String>,
    mask: Option<json::Mask>,
}

#[pymethods]
impl JsonMask {
    #[new]
    #[pyo3(signature = (paths, /))]
    fn new(paths: Vec<String>) -> Self {
        let mask = json::Mask::of(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        Self { paths, mask }
    }

    #[pyo3(signature = (body, /))]
    fn fingerprint(&self, py: Python<'_>, body: &[u8]) -> CoreResult<String> {
        let hash = detached(py, body.len(), || {
            let masked: Vec<&str> = self.paths.iter().map(String::as_str).collect();
            json::fingerprint_under(body, &masked, self.mask.as_ref())
        })?;
        Ok(digest::hex(&hash))
    }
}

#[pyfunction]
#[pyo3(signature = (body, path, /))]
fn json_span(py: Python<'_>, body: &[u8], path: Vec<PyStep>) -> CoreResult<Option<(usize, usize)>> {
    let path = steps(path)?;
    Ok(pair(detached(py, body.len(), || json::span(body, &path))?))
}

#[pyfunction]
#[pyo3(signature = (body, path, /))]
fn json_member_span(
    py: Python<'_>,
    body: &[u8],
    path: Vec<PyStep>,
) -> CoreResult<Option<(usize, usize)>> {
    let path = steps(path)?;
    let span = detached(py, body.len(), || json::member_span(body, &path))?;
    Ok(pair(span))
}

#[pyfunction]
#[pyo3(signature = (body, path, /))]
fn json_children(
    py: Python<'_>,
    body: &[u8],
    path: Vec<PyStep>,
) -> CoreResult<Vec<(PyKey, usize, usize)>> {
    let path = steps(path)?;
    let children = detached(py, body.len(), || json::children(body, &path))?;
    let child = |(key, span): (Step, Span)| (PyKey::from(key), span.start, span.end);
    Ok(children.into_iter().map(child).collect())
}

#[pyfunction]
#[pyo3(signature = (body, edits, /))]
fn json_splice<'py>(
    py: Python<'py>,
    body: &[u8],
    edits: Vec<(i64, i64, Bound<'py, PyBytes>)>,
) -> CoreResult<Bound<'py, PyBytes>> {
    let edit = |(start, end, bytes): &'_ (i64, i64, Bound<'py, PyBytes>)| {
        Ok((
            natural(*start, "start")?..natural(*end, "end")?,
            bytes.clone(),
        ))
    };
    let edits = edits.iter().map(edit).collect::<CoreResult<Vec<_>>>()?;
    let edits: Vec<Edit<'_>> = edits
        .iter()
        .map(|(span, bytes)| (span.clone(), bytes.as_bytes()))
        .collect();
    let result =
        detached(py, body.len(), || json::splice(body, &edits)).map_err(CoreError::from)?;
    Ok(PyBytes::new(py, &result))
}

#[pyfunction]
#[pyo3(signature = (body, /))]
fn json_marks(py: Python<'_>, body: &[u8]) -> usize {
    detached(py, body.len(), || json::marks(body))
}

#[pyfunction]
#[pyo3(signature = (body, longer, most, /))]
fn json_marks_in_texts(py: Python<'_>, body: &[u8], longer: i64, most: i64) -> CoreResult<usize> {
    let (longer, most) = (natural(longer, "longer")?, natural(most, "most")?);
    Ok(detached(py, body.len(), || {
        json::marks_in_texts(body, longer, most)
    }))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<JsonMask>()?;
    module.add_function(wrap_pyfunction!(jcs, module)?)?;
    module.add_function(wrap_pyfunction!(json_fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(json_marks, module)?)?;
    module.add_function(wrap_pyfunction!(json_marks_in_texts, module)?)?;
    module.add_function(wrap_pyfunction!(json_span, module)?)?;
    module.add_function(wrap_pyfunction!(json_member_span, module)?)?;
    module.add_function(wrap_pyfunction!(json_children, module)?)?;
    module.add_function(wrap_pyfunction!(json_splice, module)?)
}
