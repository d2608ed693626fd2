//! Texts that may hold lone surrogates, and edits of them with places in characters.

use faultwire_core::redact::{Edit, Known, Text};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// (start, end, class, value, quote, lead); a lead of -1 is none.
pub type Row<'py> = (
    usize,
    usize,
    Option<String>,
    Bound<'py, PyString>,
    String,
    isize,
);

/// A text that may hold lone surrogates.
pub fn text<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Text<'a>> {
    if let Ok(plain) = text.to_str() {
        return Ok(Text::new(plain));
    }
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    Ok(Text::wtf8(encoded.cast::<PyBytes>()?.as_bytes().to_vec()))
}

pub fn string<'py>(py: Python<'py>, raw: &[u8]) -> PyResult<Bound<'py, PyString>> {
    if let Ok(plain) = std::str::from_utf8(raw) {
        return Ok(PyString::new(py, plain));
    }
    let decoded = PyBytes::new(py, raw).call_method1("decode", ("utf-8", "surrogatepass"))?;
    Ok(decoded.cast_into::<PyString>()?)
}

pub fn rows<'py>(py: Python<'py>, text: &Text, mut edits: Vec<Edit>) -> PyResult<Vec<Row<'py>>> {
    let mut places: Vec<&mut usize> = Vec::with_capacity(3 * edits.len());
    for edit in &mut edits {
        places.extend([&mut edit.start, &mut edit.end]);
        places.extend(&mut edit.lead);
    }
    text.characters(&mut places);
    let row = |edit: Edit| {
        let lead = edit.lead.map_or(-1, |lead| lead as isize);
        let what = edit.what.map(|what| what.into_owned());
        let value = string(py, &edit.value)?;
        Ok((edit.start, edit.end, what, value, edit.quote, lead))
    };
    edits.into_iter().map(row).collect()
}

/// Edits that Python found, with places in bytes again.
pub fn edits_of(text: &Text, rows: Vec<Row<'_>>) -> PyResult<Vec<Edit>> {
    let edit = |(start, end, what, value, quote, lead): Row<'_>| {
        let encoded = value.call_method1("encode", ("utf-8", "surrogatepass"))?;
        Ok(Edit {
            start,
            end,
            what: what.map(Into::into),
            value: encoded.cast::<PyBytes>()?.as_bytes().to_vec(),
            quote,
            lead: usize::try_from(lead).ok(),
        })
    };
    let mut edits = rows
        .into_iter()
        .map(edit)
        .collect::<PyResult<Vec<Edit>>>()?;
    let mut places: Vec<&mut usize> = Vec::with_capacity(3 * edits.len());
    for edit in &mut edits {
        places.extend([&mut edit.start, &mut edit.end]);
        places.extend(&mut edit.lead);
    }
    text.places(&mut places);
    Ok(edits)
}

pub fn known(name: &str) -> PyResult<Known> {
    match name {
        "all" => Ok(Known::All),
        "shaped" => Ok(Known::Shaped),
        "none" => Ok(Known::None),
        _ => Err(PyValueError::new_err(format!(
            "known `{name}`, expected `all`, `shaped` or `none`"
        ))),
    }
}
