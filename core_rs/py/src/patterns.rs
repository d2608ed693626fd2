//! Scanning: personal data, secrets, prompt injections, users' patterns.

use faultwire_core::Error;
use faultwire_core::patterns::{
    self, Engine, Hit, Kind, Options, Severity, Stream, UserPattern, UserPatterns,
};
use faultwire_core::text::offsets::characters;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::border::{CoreResult, detached, lenient};

/// (kind, id, category, severity, start, end, score, masked)
type Row = (
    &'static str,
    String,
    String,
    &'static str,
    usize,
    usize,
    f64,
    String,
);
/// (kind, id, category, severity, locale, source)
type Listed = (&'static str, String, String, &'static str, String, String);
/// (id, regex, category, severity, context)
type Written = (String, String, String, String, Vec<String>);

fn engine() -> CoreResult<&'static Engine> {
    Ok(patterns::engine().map_err(|why| Error::argument(why.to_string()))?)
}

fn row(hit: Hit) -> Row {
    (
        hit.kind.name(),
        hit.id,
        hit.category,
        hit.severity.name(),
        hit.start,
        hit.end,
        hit.score,
        hit.masked,
    )
}

fn severity(name: &str) -> CoreResult<Severity> {
    let known = [
        Severity::Low,
        Severity::Medium,
        Severity::High,
        Severity::Critical,
    ];
    let found = known.into_iter().find(|one| one.name() == name);
    Ok(found.ok_or_else(|| {
        Error::argument(format!(
            "severity `{name}`, expected `low`, `medium`, `high` or `critical`"
        ))
    })?)
}

fn options(
    kinds: Vec<String>,
    locales: Option<Vec<String>>,
    user: Option<&Patterns>,
    recall: bool,
) -> CoreResult<Options> {
    let kind = |name: &String| {
        Kind::from_name(name).ok_or_else(|| {
            Error::argument(format!(
                "kind `{name}`, expected `pii`, `secrets`, `injection`, `user`, `dates` or `urls`"
            ))
        })
    };
    let kinds = kinds.iter().map(kind).collect::<Result<Vec<_>, Error>>()?;
    let user = user
        .map(|patterns| patterns.inner.clone())
        .unwrap_or_default();
    Ok(Options {
        kinds,
        locales,
        user,
        recall,
    })
}

/// Users' patterns, compiled once.
#[pyclass(frozen, name = "UserPatterns", module = "faultwire._core")]
struct Patterns {
    inner: UserPatterns,
}

#[pymethods]
impl Patterns {
    #[new]
    #[pyo3(signature = (patterns, /))]
    fn new(patterns: Vec<Written>) -> CoreResult<Self> {
        let read = |(id, regex, category, level, context): Written| {
            Ok(UserPattern {
                id,
                regex,
                category,
                severity: severity(&level)?,
                context,
            })
        };
        let list = patterns
            .into_iter()
            .map(read)
            .collect::<CoreResult<Vec<_>>>()?;
        Ok(Patterns {
            inner: UserPatterns::new(list).map_err(Error::argument)?,
        })
    }
}

#[pyfunction]
#[pyo3(signature = (text, kinds, locales, user, recall=false, /))]
fn scan_text(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    kinds: Vec<String>,
    locales: Option<Vec<String>>,
    user: Option<&Patterns>,
    recall: bool,
) -> PyResult<Vec<Row>> {
    let options = options(kinds, locales, user, recall)?;
    let (engine, text) = (engine()?, lenient(text)?);
    let mut hits = detached(py, text.len(), || engine.scan(text.as_bytes(), &options));
    let mut offsets: Vec<usize> = hits.iter().flat_map(|hit| [hit.start, hit.end]).collect();
    characters(&text, &mut offsets);
    for (hit, span) in hits.iter_mut().zip(offsets.chunks_exact(2)) {
        (hit.start, hit.end) = (span[0], span[1]);
    }
    Ok(hits.into_iter().map(row).collect())
}

#[pyfunction]
#[pyo3(signature = (data, /))]
fn secret_spans(py: Python<'_>, data: &[u8]) -> CoreResult<Vec<(usize, usize, String)>> {
    let engine = engine()?;
    let options = Options {
        kinds: vec![Kind::Secrets],
        ..Options::default()
    };
    let hits = detached(py, data.len(), || engine.scan(data, &options));
    Ok(hits
        .into_iter()
        .map(|hit| (hit.start, hit.end, hit.id))
        .collect())
}

#[pyfunction]
#[pyo3(signature = (record, /))]
fn record_holds_secret(py: Python<'_>, record: &[u8]) -> CoreResult<bool> {
    let engine = engine()?;
    Ok(detached(py, record.len(), || {
        engine.record_holds_secret(record)
    }))
}

/// (kind, id, category, severity, locale, source) of every built-in entry; injections have no locale.
#[pyfunction]
fn pattern_catalog() -> CoreResult<Vec<Listed>> {
    let engine = engine()?;
    let entries = engine.entries.iter().map(|entry| {
        (
            entry.kind.name(),
            entry.id.clone(),
            entry.category.clone(),
            entry.severity.name(),
            entry.locale.clone(),
            entry.source.clone(),
        )
    });
    let injections = engine.injections().map(|(id, category, ..)| {
        (
            "injection",
            id.to_string(),
            category.to_string(),
            "high",
            String::new(),
            String::new(),
        )
    });
    Ok(entries.chain(injections).collect())
}

/// A scan over bytes that arrive in pieces; offsets are bytes from the start of the stream.
#[pyclass(name = "PatternStream", module = "faultwire._core")]
struct PatternStream {
    inner: Stream<'static>,
}

#[pymethods]
impl PatternStream {
    #[new]
    #[pyo3(signature = (kinds, locales, user, recall=false, /))]
    fn new(
        kinds: Vec<String>,
        locales: Option<Vec<String>>,
        user: Option<&Patterns>,
        recall: bool,
    ) -> CoreResult<Self> {
        Ok(PatternStream {
            inner: Stream::new(engine()?, options(kinds, locales, user, recall)?),
        })
    }

    #[pyo3(signature = (chunk, /))]
    fn feed(&mut self, py: Python<'_>, chunk: &[u8]) -> Vec<Row> {
        let inner = &mut self.inner;
        detached(py, chunk.len(), || inner.feed(chunk))
            .into_iter()
            .map(row)
            .collect()
    }

    fn finish(&mut self, py: Python<'_>) -> Vec<Row> {
        let inner = &mut self.inner;
        detached(py, usize::MAX, || inner.finish())
            .into_iter()
            .map(row)
            .collect()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Patterns>()?;
    module.add_class::<PatternStream>()?;
    module.add_function(wrap_pyfunction!(scan_text, module)?)?;
    module.add_function(wrap_pyfunction!(secret_spans, module)?)?;
    module.add_function(wrap_pyfunction!(record_holds_secret, module)?)?;
    module.add_function(wrap_pyfunction!(pattern_catalog, module)?)
}
