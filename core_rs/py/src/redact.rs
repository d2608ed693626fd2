//! Redaction: where the secrets are in texts, streams, fields and paths, and what stands for them.

use std::sync::Mutex;

use faultwire_core::redact::{self, Edit, Known, Piece, Reading, Text, Unpack};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::border::detached;

/// (start, end, class, value, quote, lead); a lead of -1 is none.
type Row<'py> = (
    usize,
    usize,
    Option<String>,
    Bound<'py, PyString>,
    String,
    isize,
);
/// (member name, start, end)
type PieceRow = (String, usize, usize);
/// The text of what was unwrapped, and where each of its characters stood.
type Unwrapped<'py> = (Bound<'py, PyString>, Vec<usize>);

/// A text that may hold lone surrogates.
fn text<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Text<'a>> {
    if let Ok(plain) = text.to_str() {
        return Ok(Text::new(plain));
    }
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    Ok(Text::wtf8(encoded.cast::<PyBytes>()?.as_bytes().to_vec()))
}

fn string<'py>(py: Python<'py>, raw: &[u8]) -> PyResult<Bound<'py, PyString>> {
    if let Ok(plain) = std::str::from_utf8(raw) {
        return Ok(PyString::new(py, plain));
    }
    let decoded = PyBytes::new(py, raw).call_method1("decode", ("utf-8", "surrogatepass"))?;
    Ok(decoded.cast_into::<PyString>()?)
}

fn rows<'py>(py: Python<'py>, text: &Text, mut edits: Vec<Edit>) -> PyResult<Vec<Row<'py>>> {
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
fn edits_of(text: &Text, rows: Vec<Row<'_>>) -> PyResult<Vec<Edit>> {
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

/// What Python knows of packed values. What it raises is kept until the work is done; until then all must go.
struct Layer {
    readings: Py<PyAny>,
    streams: Py<PyAny>,
    unpacked_at: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl Layer {
    fn keep<T>(&self, result: PyResult<T>, otherwise: T) -> T {
        result.unwrap_or_else(|error| {
            if let Ok(mut raised) = self.raised.lock() {
                raised.get_or_insert(error);
            }
            otherwise
        })
    }

    fn going(
        &self,
        py: Python<'_>,
        data: &[u8],
        must_go: &mut dyn FnMut(&[u8]) -> bool,
    ) -> PyResult<Vec<(usize, usize)>> {
        let raw = PyBytes::new(py, data);
        let places = self.streams.bind(py).call1((&raw,))?.try_iter()?;
        let mut places = places
            .map(|at| at?.extract())
            .collect::<PyResult<Vec<usize>>>()?;
        places.sort_unstable();
        let (mut found, mut done) = (Vec::new(), 0);
        for at in places.into_iter().filter(|at| *at < data.len()) {
            if at < done {
                continue;
            }
            let row = self.unpacked_at.bind(py).call1((&raw, at))?;
            let (plain, end, whole): (Bound<'_, PyBytes>, usize, bool) = row.extract()?;
            let plain = plain.as_bytes();
            if !plain.is_empty() && must_go(plain) {
                done = if whole { end } else { data.len() };
                found.push((at, done));
            }
        }
        Ok(found)
    }
}

impl Unpack for Layer {
    fn readings(&self, data: &[u8]) -> Reading {
        let otherwise = Reading {
            texts: Vec::new(),
            limited: true,
        };
        Python::attach(|py| {
            let read = || -> PyResult<Reading> {
                let found = self.readings.bind(py).call1((PyBytes::new(py, data),))?;
                let (texts, _, limited): (Vec<Bound<'_, PyString>>, Option<String>, bool) =
                    found.extract()?;
                let texts = texts.iter().map(|one| Ok(one.to_str()?.to_owned()));
                Ok(Reading {
                    texts: texts.collect::<PyResult<_>>()?,
                    limited,
                })
            };
            self.keep(read(), otherwise)
        })
    }

    fn streams(&self, data: &[u8], must_go: &mut dyn FnMut(&[u8]) -> bool) -> Vec<(usize, usize)> {
        Python::attach(|py| self.keep(self.going(py, data, must_go), vec![(0, data.len())]))
    }
}

fn known(name: &str) -> PyResult<Known> {
    match name {
        "all" => Ok(Known::All),
        "shaped" => Ok(Known::Shaped),
        "none" => Ok(Known::None),
        _ => Err(PyValueError::new_err(format!(
            "known `{name}`, expected `all`, `shaped` or `none`"
        ))),
    }
}

/// The search for secrets over one layer that unpacks values, and over the streams of some protocols.
#[pyclass(frozen, module = "faultwire._core")]
struct SecretSearch {
    layer: Layer,
    stream: redact::Stream,
}

impl SecretSearch {
    /// Runs a search, and raises what the layer raised.
    fn run<'py>(
        &self,
        py: Python<'py>,
        text: &Text,
        work: impl FnOnce(&Text, &Layer) -> Vec<Edit> + Send,
    ) -> PyResult<Vec<Row<'py>>> {
        let found = detached(py, text.plain().len(), || work(text, &self.layer));
        self.raised()?;
        rows(py, text, found)
    }

    fn raised(&self) -> PyResult<()> {
        let raised = self.layer.raised.lock().ok().and_then(|mut one| one.take());
        raised.map_or(Ok(()), Err)
    }
}

#[pymethods]
impl SecretSearch {
    #[new]
    #[pyo3(signature = (readings, streams, unpacked_at, members, /))]
    fn new(
        readings: Py<PyAny>,
        streams: Py<PyAny>,
        unpacked_at: Py<PyAny>,
        members: Vec<String>,
    ) -> Self {
        SecretSearch {
            layer: Layer {
                readings,
                streams,
                unpacked_at,
                raised: Mutex::new(None),
            },
            stream: redact::Stream::new(members),
        }
    }

    #[pyo3(signature = (whole, depth, which, /))]
    fn edits<'py>(
        &self,
        py: Python<'py>,
        whole: &Bound<'py, PyString>,
        depth: usize,
        which: &str,
    ) -> PyResult<Vec<Row<'py>>> {
        let which = known(which)?;
        self.run(py, &text(whole)?, |text, layer| {
            redact::edits(text, depth, which, layer)
        })
    }

    #[pyo3(signature = (name, value, /))]
    fn field_edits<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyString>,
        value: &Bound<'py, PyString>,
    ) -> PyResult<Vec<Row<'py>>> {
        let name = text(name)?;
        self.run(py, &text(value)?, |value, layer| {
            redact::field_edits(name.plain(), value, layer)
        })
    }

    #[pyo3(signature = (path, origin, /))]
    fn path_edits<'py>(
        &self,
        py: Python<'py>,
        path: &Bound<'py, PyString>,
        origin: &Bound<'py, PyString>,
    ) -> PyResult<Vec<Row<'py>>> {
        let origin = text(origin)?;
        self.run(py, &text(path)?, |path, layer| {
            redact::path_edits(path, origin.plain(), layer)
        })
    }

    #[pyo3(signature = (address, /))]
    fn address_edits<'py>(
        &self,
        py: Python<'py>,
        address: &Bound<'py, PyString>,
    ) -> PyResult<Vec<Row<'py>>> {
        self.run(py, &text(address)?, |text, layer| {
            redact::address_edits(text, layer)
        })
    }

    #[pyo3(signature = (whole, /))]
    fn stream_edits<'py>(
        &self,
        py: Python<'py>,
        whole: &Bound<'py, PyString>,
    ) -> PyResult<Vec<Row<'py>>> {
        let stream = &self.stream;
        self.run(py, &text(whole)?, |text, layer| stream.edits(text, layer))
    }

    #[pyo3(signature = (whole, /))]
    fn last_edits<'py>(
        &self,
        py: Python<'py>,
        whole: &Bound<'py, PyString>,
    ) -> PyResult<Vec<Row<'py>>> {
        let stream = &self.stream;
        self.run(py, &text(whole)?, |text, layer| {
            stream.last_edits(text, layer)
        })
    }

    #[pyo3(signature = (whole, /))]
    fn pieces(&self, whole: &Bound<'_, PyString>) -> PyResult<Vec<PieceRow>> {
        let whole = text(whole)?;
        let mut pieces = self.stream.pieces(whole.plain());
        let mut places: Vec<&mut usize> = Vec::with_capacity(2 * pieces.len());
        for piece in &mut pieces {
            places.extend([&mut piece.start, &mut piece.end]);
        }
        whole.characters(&mut places);
        let row = |piece: Piece<'_>| (piece.name.to_owned(), piece.start, piece.end);
        Ok(pieces.into_iter().map(row).collect())
    }

    #[pyo3(signature = (whole, /))]
    fn texts<'py>(
        &self,
        py: Python<'py>,
        whole: &Bound<'py, PyString>,
    ) -> PyResult<Vec<(String, Bound<'py, PyString>)>> {
        let whole = text(whole)?;
        let texts = detached(py, whole.plain().len(), || self.stream.texts(&whole));
        let row = |(name, one): (&str, Text)| {
            Ok((name.to_owned(), string(py, one.part(0, one.plain().len()))?))
        };
        texts.into_iter().map(row).collect()
    }

    #[pyo3(signature = (whole, texts, least, /))]
    fn open_from(
        &self,
        py: Python<'_>,
        whole: &Bound<'_, PyString>,
        texts: Vec<(String, Bound<'_, PyString>)>,
        least: usize,
    ) -> PyResult<usize> {
        let whole = text(whole)?;
        let texts = texts.iter().map(|(name, one)| Ok((&**name, text(one)?)));
        let texts = texts.collect::<PyResult<Vec<(&str, Text)>>>()?;
        let mut place = detached(py, whole.plain().len(), || {
            self.stream.open_from(&whole, &texts, least)
        });
        whole.characters(&mut [&mut place]);
        Ok(place)
    }

    /// The edits of each secret in joined pieces; `look` finds them in place of the search.
    #[pyo3(signature = (whole, pieces, look, /))]
    fn across<'py>(
        &self,
        py: Python<'py>,
        whole: &Bound<'py, PyString>,
        mut pieces: Vec<PieceRow>,
        look: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Vec<Row<'py>>>> {
        let whole = text(whole)?;
        let mut places: Vec<&mut usize> = Vec::with_capacity(2 * pieces.len());
        for (_, start, end) in &mut pieces {
            places.extend([start, end]);
        }
        whole.places(&mut places);
        let piece = |(name, start, end): &'_ PieceRow| (name.clone(), *start, *end);
        let rows_of: Vec<PieceRow> = pieces.iter().map(piece).collect();
        let pieces: Vec<Piece> = rows_of
            .iter()
            .map(|(name, start, end)| Piece {
                name,
                start: *start,
                end: *end,
            })
            .collect();
        let found = match look {
            None => redact::across(&whole, &pieces, &|one| redact::secrets(one, &self.layer)),
            Some(look) => redact::across(&whole, &pieces, &|one| {
                let asked = || -> PyResult<Vec<Edit>> {
                    let said = string(py, one.part(0, one.plain().len()))?;
                    edits_of(one, look.call1((said,))?.extract()?)
                };
                self.layer.keep(asked(), Vec::new())
            }),
        };
        self.raised()?;
        found
            .into_iter()
            .map(|parts| rows(py, &whole, parts))
            .collect()
    }

    /// The packed stretches of which a reading holds something, by what `holds` says of it.
    #[pyo3(signature = (whole, holds, /))]
    fn packed_edits<'py>(
        &self,
        py: Python<'py>,
        whole: &Bound<'py, PyString>,
        holds: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Row<'py>>> {
        let whole = text(whole)?;
        let found = redact::packed_edits(&whole, &self.layer, &|one| self.held(py, holds, one));
        self.raised()?;
        rows(py, &whole, found)
    }

    /// The same of compressed streams.
    #[pyo3(signature = (whole, holds, /))]
    fn compressed_edits<'py>(
        &self,
        py: Python<'py>,
        whole: &Bound<'py, PyString>,
        holds: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Row<'py>>> {
        let whole = text(whole)?;
        let found = redact::compressed_edits(&whole, &self.layer, &|one| self.held(py, holds, one));
        self.raised()?;
        rows(py, &whole, found)
    }
}

impl SecretSearch {
    fn held(&self, py: Python<'_>, holds: &Bound<'_, PyAny>, one: &Text) -> bool {
        let asked = || holds.call1((PyString::new(py, one.plain()),))?.is_truthy();
        self.layer.keep(asked(), true)
    }
}

#[pyfunction]
#[pyo3(signature = (whole, /))]
fn secret_suspected(py: Python<'_>, whole: &Bound<'_, PyString>) -> PyResult<bool> {
    let whole = text(whole)?;
    Ok(detached(py, whole.plain().len(), || {
        redact::suspects(&whole)
    }))
}

#[pyfunction]
#[pyo3(signature = (record, /))]
fn secret_suspected_in_record(py: Python<'_>, record: &[u8]) -> bool {
    detached(py, record.len(), || redact::suspects_record(record))
}

#[pyfunction]
#[pyo3(signature = (whole, /))]
fn is_encoding(py: Python<'_>, whole: &Bound<'_, PyString>) -> PyResult<bool> {
    let whole = text(whole)?;
    Ok(detached(py, whole.plain().len(), || {
        redact::encodes(&whole)
    }))
}

#[pyfunction]
#[pyo3(signature = (whole, /))]
fn is_packed(whole: &Bound<'_, PyString>) -> PyResult<bool> {
    Ok(redact::is_packed(&text(whole)?))
}

/// Secrets by their shape alone: (start, end, class, lead).
#[pyfunction]
#[pyo3(signature = (whole, /))]
fn shaped_values(
    whole: &Bound<'_, PyString>,
) -> PyResult<Vec<(usize, usize, &'static str, usize)>> {
    let whole = text(whole)?;
    let mut found = redact::values(&whole);
    let mut places: Vec<&mut usize> = Vec::with_capacity(3 * found.len());
    for value in &mut found {
        places.extend([&mut value.start, &mut value.end, &mut value.lead]);
    }
    whole.characters(&mut places);
    Ok(found
        .into_iter()
        .map(|value| (value.start, value.end, value.what, value.lead))
        .collect())
}

/// Secrets that the pattern engine knows.
#[pyfunction]
#[pyo3(signature = (whole, which, /))]
fn known_edits<'py>(
    py: Python<'py>,
    whole: &Bound<'py, PyString>,
    which: &str,
) -> PyResult<Vec<Row<'py>>> {
    let which = known(which)?;
    let whole = text(whole)?;
    let found = detached(py, whole.plain().len(), || {
        redact::known_edits(&whole, which)
    });
    rows(py, &whole, found)
}

#[pyfunction]
#[pyo3(signature = (whole, /))]
fn query_edits<'py>(py: Python<'py>, whole: &Bound<'py, PyString>) -> PyResult<Vec<Row<'py>>> {
    let whole = text(whole)?;
    rows(py, &whole, redact::url_edits(&whole))
}

#[pyfunction]
#[pyo3(signature = (whole, /))]
fn form_edits<'py>(py: Python<'py>, whole: &Bound<'py, PyString>) -> PyResult<Vec<Row<'py>>> {
    let whole = text(whole)?;
    rows(py, &whole, redact::form_edits(&whole))
}

#[pyfunction]
#[pyo3(signature = (name, value, /))]
fn pair_class(name: &Bound<'_, PyString>, value: &Bound<'_, PyString>) -> PyResult<Option<String>> {
    Ok(redact::pair_class(
        text(name)?.plain(),
        text(value)?.plain(),
    ))
}

#[pyfunction]
#[pyo3(signature = (name, /))]
fn header_class(name: &Bound<'_, PyString>) -> PyResult<Option<&'static str>> {
    Ok(redact::header_class(text(name)?.plain()))
}

#[pyfunction]
#[pyo3(signature = (name, /))]
fn query_class(name: &Bound<'_, PyString>) -> PyResult<Option<&'static str>> {
    Ok(redact::query_class(text(name)?.plain()))
}

#[pyfunction]
#[pyo3(signature = (host, /))]
fn has_secret_path(host: &Bound<'_, PyString>) -> PyResult<bool> {
    Ok(redact::has_secret_path(text(host)?.plain()))
}

/// The parts of a text around a split that was made by places in its UTF-8.
fn cut<'py, const N: usize>(
    py: Python<'py>,
    whole: &Text,
    parts: [&str; N],
) -> PyResult<[Bound<'py, PyString>; N]> {
    let mut at = 0;
    let mut out = Vec::with_capacity(N);
    for part in parts {
        out.push(string(py, whole.part(at, at + part.len()))?);
        at += part.len();
    }
    out.try_into()
        .map_err(|_| PyValueError::new_err("no such parts"))
}

#[pyfunction]
#[pyo3(signature = (value, /))]
fn kept_scheme<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyString>,
) -> PyResult<[Bound<'py, PyString>; 2]> {
    let value = text(value)?;
    let (scheme, rest) = redact::kept_scheme(value.plain());
    cut(py, &value, [scheme, rest])
}

#[pyfunction]
#[pyo3(signature = (value, /))]
fn key_offered<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyString>,
) -> PyResult<[Bound<'py, PyString>; 3]> {
    let value = text(value)?;
    let (before, key, after) = redact::key_offered(value.plain());
    cut(py, &value, [before, key, after])
}

/// The first character that may belong to a secret which has not come whole.
#[pyfunction]
#[pyo3(signature = (whole, /))]
fn open_tail(whole: &Bound<'_, PyString>) -> PyResult<usize> {
    let whole = text(whole)?;
    let mut place = redact::open_tail(&whole);
    whole.characters(&mut [&mut place]);
    Ok(place)
}

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

/// Digests of values under one key.
#[pyclass(module = "faultwire._core")]
struct Placeholders(redact::Placeholders);

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

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Placeholders>()?;
    module.add_class::<SecretSearch>()?;
    module.add_function(wrap_pyfunction!(secret_suspected, module)?)?;
    module.add_function(wrap_pyfunction!(secret_suspected_in_record, module)?)?;
    module.add_function(wrap_pyfunction!(is_encoding, module)?)?;
    module.add_function(wrap_pyfunction!(is_packed, module)?)?;
    module.add_function(wrap_pyfunction!(shaped_values, module)?)?;
    module.add_function(wrap_pyfunction!(known_edits, module)?)?;
    module.add_function(wrap_pyfunction!(query_edits, module)?)?;
    module.add_function(wrap_pyfunction!(form_edits, module)?)?;
    module.add_function(wrap_pyfunction!(pair_class, module)?)?;
    module.add_function(wrap_pyfunction!(header_class, module)?)?;
    module.add_function(wrap_pyfunction!(query_class, module)?)?;
    module.add_function(wrap_pyfunction!(has_secret_path, module)?)?;
    module.add_function(wrap_pyfunction!(kept_scheme, module)?)?;
    module.add_function(wrap_pyfunction!(key_offered, module)?)?;
    module.add_function(wrap_pyfunction!(open_tail, module)?)?;
    module.add_function(wrap_pyfunction!(unescape_json, module)?)?;
    module.add_function(wrap_pyfunction!(unquote_word, module)?)?;
    module.add_function(wrap_pyfunction!(unwrap_markup, module)?)
}
