//! The search for secrets over what Python knows of packed values and of protocols.

use faultwire_core::redact::{self, Edit, Piece, Text};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::layer::Layer;
use super::texts::{Row, edits_of, known, rows, string, text};
use crate::border::detached;

/// (member name, start, end)
type PieceRow = (String, usize, usize);

/// The search for secrets over one layer that unpacks values, and over the streams of some protocols.
#[pyclass(frozen, module = "faultwire._core")]
pub struct SecretSearch {
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
        self.layer.raised()?;
        rows(py, text, found)
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
            layer: Layer::new(readings, streams, unpacked_at),
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
        self.layer.raised()?;
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
        self.layer.raised()?;
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
        self.layer.raised()?;
        rows(py, &whole, found)
    }
}

impl SecretSearch {
    fn held(&self, py: Python<'_>, holds: &Bound<'_, PyAny>, one: &Text) -> bool {
        let asked = || holds.call1((PyString::new(py, one.plain()),))?.is_truthy();
        self.layer.keep(asked(), true)
    }
}
