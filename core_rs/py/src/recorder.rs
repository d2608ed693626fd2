//! Writing a tape: its log, and its connection. Whatever waits for the disk does so without the GIL.

use std::sync::{Mutex, PoisonError};

use faultwire_core::digest::hex;
use faultwire_core::tape::record::{self, Batch, StoreError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::border::{CoreResult, detached};

/// seq, session, record, hash.
type EventRow<'py> = (u64, String, Bound<'py, PyBytes>, Bound<'py, PyBytes>);
/// digest, size, packed, data.
type BlobRow<'py> = (Bound<'py, PyBytes>, usize, u8, Bound<'py, PyBytes>);

#[pyclass(module = "faultwire._core")]
#[derive(Default)]
struct TapeLog(record::EventLog);

#[pymethods]
impl TapeLog {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (data, /))]
    fn put(&mut self, py: Python<'_>, data: &[u8]) -> String {
        let log = &mut self.0;
        hex(&detached(py, data.len(), || log.put(data)))
    }

    #[pyo3(signature = (session, event, /))]
    fn append(&mut self, session: &str, event: &[u8]) -> CoreResult<()> {
        Ok(self.0.append(session, event)?)
    }

    #[getter]
    fn seq(&self) -> u64 {
        self.0.seq()
    }

    #[getter]
    fn prev(&self) -> String {
        hex(self.0.prev())
    }

    #[getter]
    fn waits(&self) -> bool {
        self.0.waits()
    }

    fn root<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.root())
    }

    fn drain<'py>(&mut self, py: Python<'py>) -> (Vec<EventRow<'py>>, Vec<BlobRow<'py>>) {
        let mut batch = self.0.take();
        py.detach(|| batch.pack());
        let bytes = |data: &[u8]| PyBytes::new(py, data);
        let events = batch.events.into_iter();
        let events = events.map(|row| (row.seq, row.session, bytes(&row.record), bytes(&row.hash)));
        let blobs = batch.blobs.iter();
        let blobs = blobs.map(|row| {
            (
                bytes(&row.digest),
                row.size,
                row.packed.into(),
                bytes(&row.data),
            )
        });
        (events.collect(), blobs.collect())
    }
}

#[pyclass(module = "faultwire._core", frozen)]
struct TapeStore(Mutex<Option<record::Store>>);

#[pymethods]
impl TapeStore {
    #[new]
    #[pyo3(signature = (uri, /))]
    fn new(py: Python<'_>, uri: &str) -> PyResult<Self> {
        let store = py.detach(|| record::Store::open(uri)).map_err(failed)?;
        Ok(Self(Mutex::new(Some(store))))
    }

    #[pyo3(signature = (sql, /))]
    fn execute(&self, py: Python<'_>, sql: &str) -> PyResult<()> {
        self.with(py, |store| store.execute(sql))
    }

    #[pyo3(signature = (log, /))]
    fn commit(&self, py: Python<'_>, log: &Bound<'_, TapeLog>) -> PyResult<()> {
        let mut batch: Batch = log.borrow_mut().0.take();
        self.with(py, move |store| {
            batch.pack();
            store.commit(&batch)
        })
    }

    fn fold(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, record::Store::fold)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let store = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            store.map_or(Ok(()), record::Store::close)
        })
        .map_err(failed)
    }
}

impl TapeStore {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&record::Store) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            store.as_ref().map(work)
        });
        done.ok_or_else(|| PyValueError::new_err("this tape is closed"))?
            .map_err(failed)
    }
}

fn failed(error: StoreError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// Lets the core use the SQLite at whose table of functions `address` is; false where it is too old for that.
#[pyfunction]
#[pyo3(signature = (address, /))]
fn share_sqlite(address: usize) -> bool {
    let table = std::ptr::with_exposed_provenance_mut(address);
    // SAFETY: SQLite itself gave this address to an entry point of an extension, as the pointer to its table,
    // which is a static of the library. `shared_sqlite.py`, the one caller, never unloads that library.
    unsafe { rusqlite::ffi::rusqlite_extension_init2(table) }.is_ok()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(share_sqlite, module)?)?;
    module.add_class::<TapeLog>()?;
    module.add_class::<TapeStore>()
}
