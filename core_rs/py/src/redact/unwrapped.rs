//! What wrapped texts say: JSON strings, percent-encoding, HTML.

use faultwire_core::redact::{self, Text};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::texts::{string, text};

/// The text of what was unwrapped, and where each of its characters stood.
type Unwrapped<'py> = (Bound<'py, PyString>, Vec<usize>);

/// Of the map for bytes one for characters, with places in characters.
fn unwrapped<'py>(
    py: Python<'py>,
    whole: &Text,
    mut inner: redact::Inner,
) -> PyResult<Unwrapped<'py>> {
    let plain = inner.text.plain();
    let kept = (0..=plain.len()).filter(|at| plain.is_char_boundary(*at));
    let mut starts: Vec<usize> = kept.map(|at| inner.starts[at]).collect();
    whole.characters(&mut starts.iter_mut().collect::<Vec<_>>());
    inner.starts.clear();
    Ok((string(py, inner.text.part(0, plain.len()))?, starts))
}

#[pyfunction]
#[pyo3(signature = (inside, /))]
fn unescape_json<'py>(py: Python<'py>, inside: &Bound<'py, PyString>) -> PyResult<Unwrapped<'py>> {
    let inside = text(inside)?;
    unwrapped(
        py,
        &inside,
        redact::unescape(&inside, 0, inside.plain().len()),
    )
}

#[pyfunction]
#[pyo3(signature = (word, blanks, /))]
fn unquote_word<'py>(
    py: Python<'py>,
    word: &Bound<'py, PyString>,
    blanks: bool,
) -> PyResult<Unwrapped<'py>> {
    let word = text(word)?;
    let plus = if blanks { b' ' } else { b'+' };
    unwrapped(
        py,
        &word,
        redact::unquote(&word, 0, word.plain().len(), plus),
    )
}

/// What HTML and quoted-printable in a text say, where there are any.
#[pyfunction]
#[pyo3(signature = (whole, /))]
fn unwrap_markup<'py>(
    py: Python<'py>,
    whole: &Bound<'py, PyString>,
) -> PyResult<Vec<Unwrapped<'py>>> {
    let whole = text(whole)?;
    let both = [redact::unmarked(&whole), redact::unprinted(&whole)];
    both.into_iter()
        .flatten()
        .map(|inner| unwrapped(py, &whole, inner))
        .collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(unescape_json, module)?)?;
    module.add_function(wrap_pyfunction!(unquote_word, module)?)?;
    module.add_function(wrap_pyfunction!(unwrap_markup, module)?)?;
    Ok(())
}
