//! Tunnels: what each side says becomes a list of tuples, its kind first.

use std::sync::Arc;

use faultwire_core::http1::{Event, Head, Kind};
use faultwire_core::tunnel::{self, Side, Word};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

type Hello<'py> = (Option<String>, Vec<Bound<'py, PyBytes>>, bool);

#[pyfunction]
#[pyo3(signature = (data, /))]
fn client_hello<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Option<Hello<'py>>> {
    let found = tunnel::hello(data).map_err(PyValueError::new_err)?;
    Ok(found.map(|said| {
        let offers = said.alpn.iter().map(|offer| PyBytes::new(py, offer));
        (said.name, offers.collect(), said.fits)
    }))
}

#[pyclass(frozen, module = "faultwire._core")]
struct Terms(Arc<tunnel::Terms>);

#[pymethods]
impl Terms {
    #[new]
    #[pyo3(signature = (bundle, /))]
    fn new(bundle: &[u8]) -> PyResult<Self> {
        let made = tunnel::Terms::new(bundle).map_err(PyValueError::new_err)?;
        Ok(Self(Arc::new(made)))
    }

    #[pyo3(signature = (name, chain, key, /))]
    fn add_leaf(&self, name: &str, chain: Vec<Vec<u8>>, key: Vec<u8>) -> PyResult<()> {
        self.0
            .add_leaf(name, chain, key)
            .map_err(PyValueError::new_err)
    }

    #[pyo3(signature = (name, /))]
    fn drop_leaf(&self, name: &str) {
        self.0.drop_leaf(name);
    }
}

#[pyclass(module = "faultwire._core")]
struct Tunnel {
    terms: Arc<tunnel::Terms>,
    core: tunnel::Tunnel,
}

fn side(server: bool) -> Side {
    if server { Side::Server } else { Side::Client }
}

#[pymethods]
impl Tunnel {
    #[new]
    #[pyo3(signature = (terms, name, /))]
    fn new(terms: &Terms, name: Option<&str>) -> PyResult<Self> {
        let core = tunnel::Tunnel::new(&terms.0, name).map_err(PyValueError::new_err)?;
        let terms = terms.0.clone();
        Ok(Self { terms, core })
    }

    #[pyo3(signature = (name, /))]
    fn open_server(&mut self, name: Option<&str>) -> PyResult<()> {
        self.core
            .open_server(&self.terms, name)
            .map_err(PyValueError::new_err)
    }

    #[pyo3(signature = (data, /, *, server))]
    fn receive<'py>(
        &mut self,
        py: Python<'py>,
        data: &[u8],
        server: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let words = self.core.receive(side(server), data);
        listed(py, words, server)
    }

    #[pyo3(signature = (*, server, to_head = false))]
    fn next<'py>(
        &mut self,
        py: Python<'py>,
        server: bool,
        to_head: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let words = self.core.next(side(server), to_head);
        listed(py, words, server)
    }

    #[pyo3(signature = (*, server))]
    fn finish<'py>(&mut self, py: Python<'py>, server: bool) -> PyResult<Bound<'py, PyList>> {
        let words = self.core.finish(side(server));
        listed(py, words, server)
    }

    fn switch<'py>(&mut self, py: Python<'py>) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
        let [client, server] = self.core.switch();
        (PyBytes::new(py, &client), PyBytes::new(py, &server))
    }

    #[pyo3(signature = (data, /, *, server))]
    fn send(&mut self, data: &[u8], server: bool) -> usize {
        self.core.send(side(server), data)
    }

    #[pyo3(signature = (*, server))]
    fn close(&mut self, server: bool) {
        self.core.close(side(server));
    }

    #[pyo3(signature = (*, server))]
    fn take<'py>(&mut self, py: Python<'py>, server: bool) -> Option<Bound<'py, PyBytes>> {
        let bytes = self.core.take(side(server));
        (!bytes.is_empty()).then(|| PyBytes::new(py, &bytes))
    }

    #[pyo3(signature = (*, server))]
    fn pending(&self, server: bool) -> usize {
        self.core.pending(side(server))
    }

    #[pyo3(signature = (*, server))]
    fn rest<'py>(&mut self, py: Python<'py>, server: bool) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.core.rest(side(server)))
    }
}

fn listed<'py>(py: Python<'py>, words: Vec<Word>, server: bool) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for word in words {
        list.append(told(py, word, server)?)?;
    }
    Ok(list)
}

fn told<'py>(py: Python<'py>, word: Word, server: bool) -> PyResult<Bound<'py, PyTuple>> {
    match word {
        Word::Open => ("open",).into_pyobject(py),
        Word::Closed => ("closed",).into_pyobject(py),
        Word::Failed(why) => ("failed", why).into_pyobject(py),
        Word::Raw(data) => ("raw", PyBytes::new(py, &data)).into_pyobject(py),
        Word::Flaw(flaw) => {
            let kind = match flaw.kind {
                Kind::Head => "head",
                Kind::Large => "large",
                Kind::Body => "body",
            };
            ("flaw", kind, flaw.text).into_pyobject(py)
        }
        Word::Http(Event::Head(head, bodiless)) => {
            let fields = fields(py, head.fields())?;
            let written = PyBytes::new(py, &head.written());
            if server {
                let (version, reason) =
                    (text(py, head.response_version()), text(py, head.reason()));
                return (
                    "head",
                    head.status(),
                    version,
                    reason,
                    fields,
                    bodiless,
                    written,
                )
                    .into_pyobject(py);
            }
            let start = start(py, &head);
            ("head", start.0, start.1, start.2, fields, bodiless, written).into_pyobject(py)
        }
        Word::Http(Event::Interim(head)) => ("interim", head.status()).into_pyobject(py),
        Word::Http(Event::Data(data)) => ("data", PyBytes::new(py, &data)).into_pyobject(py),
        Word::Http(Event::Trailers(list)) => {
            let pairs = list.iter().map(|(name, value)| (&name[..], &value[..]));
            ("trailers", fields(py, pairs)?).into_pyobject(py)
        }
        Word::Http(Event::End) => ("end",).into_pyobject(py),
    }
}

type Start<'py> = (
    Bound<'py, PyString>,
    Bound<'py, PyString>,
    Bound<'py, PyString>,
);

fn start<'py>(py: Python<'py>, head: &Head) -> Start<'py> {
    (
        text(py, head.method()),
        text(py, head.target()),
        text(py, head.version()),
    )
}

fn fields<'py, 'a>(
    py: Python<'py>,
    list: impl Iterator<Item = (&'a [u8], &'a [u8])>,
) -> PyResult<Bound<'py, PyTuple>> {
    let pairs: Vec<_> = list
        .map(|(name, value)| PyTuple::new(py, [text(py, name), text(py, value)]))
        .collect::<PyResult<_>>()?;
    PyTuple::new(py, pairs)
}

/// Bytes as Latin-1.
fn text<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    match std::str::from_utf8(bytes) {
        Ok(ascii) if ascii.is_ascii() => PyString::new(py, ascii),
        _ => {
            let latin: String = bytes.iter().map(|&byte| char::from(byte)).collect();
            PyString::new(py, &latin)
        }
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Terms>()?;
    module.add_class::<Tunnel>()?;
    module.add_function(wrap_pyfunction!(client_hello, module)?)
}
