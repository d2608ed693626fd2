//! What Python knows of packed values, as the core asks for it.

use std::sync::Mutex;

use faultwire_core::redact::{Reading, Unpack};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// What Python knows of packed values. What it raises is kept until the work is done; until then all must go.
pub struct Layer {
    readings: Py<PyAny>,
    streams: Py<PyAny>,
    unpacked_at: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl Layer {
    pub fn new(readings: Py<PyAny>, streams: Py<PyAny>, unpacked_at: Py<PyAny>) -> Self {
        Layer {
            readings,
            streams,
            unpacked_at,
            raised: Mutex::new(None),
        }
    }

    pub fn keep<T>(&self, result: PyResult<T>, otherwise: T) -> T {
        result.unwrap_or_else(|error| {
            if let Ok(mut raised) = self.raised.lock() {
                raised.get_or_insert(error);
            }
            otherwise
        })
    }

    /// Raises what was raised meanwhile.
    pub fn raised(&self) -> PyResult<()> {
        let raised = self.raised.lock().ok().and_then(|mut one| one.take());
        raised.map_or(Ok(()), Err)
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
