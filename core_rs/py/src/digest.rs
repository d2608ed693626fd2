//! Digests, the Merkle tree, and dice.

use faultwire_core::digest::{self, Hash, to_hash};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::border::{CoreResult, detached};

#[pyfunction]
#[pyo3(signature = (data, /))]
fn sha256_hex(py: Python<'_>, data: &[u8]) -> String {
    detached(py, data.len(), || digest::sha256_hex(data))
}

#[pyfunction]
#[pyo3(signature = (record, /))]
fn leaf_hash<'py>(py: Python<'py>, record: &[u8]) -> Bound<'py, PyBytes> {
    let hash = detached(py, record.len(), || digest::leaf_hash(record));
    PyBytes::new(py, &hash)
}

#[pyfunction]
#[pyo3(signature = (left, right, /))]
fn node_hash<'py>(py: Python<'py>, left: &[u8], right: &[u8]) -> CoreResult<Bound<'py, PyBytes>> {
    let hash = digest::node_hash(&to_hash(left, "left")?, &to_hash(right, "right")?);
    Ok(PyBytes::new(py, &hash))
}

#[pyfunction]
#[pyo3(signature = (previous, record, /))]
fn chain_hash<'py>(
    py: Python<'py>,
    previous: &[u8],
    record: &[u8],
) -> CoreResult<Bound<'py, PyBytes>> {
    let previous = to_hash(previous, "previous")?;
    let hash = detached(py, record.len(), || digest::chain_hash(&previous, record));
    Ok(PyBytes::new(py, &hash))
}

#[pyfunction]
#[pyo3(signature = (leaves, /))]
fn merkle_root<'py>(
    py: Python<'py>,
    leaves: Vec<Bound<'py, PyBytes>>,
) -> CoreResult<Bound<'py, PyBytes>> {
    let hashes = leaves.iter().map(|leaf| to_hash(leaf.as_bytes(), "leaf"));
    let hashes = hashes.collect::<Result<Vec<Hash>, _>>()?;
    let root = detached(py, hashes.len() * 32, || digest::merkle_root(&hashes));
    Ok(PyBytes::new(py, &root))
}

#[pyfunction]
#[pyo3(signature = (key, /))]
fn unit(key: &[u8]) -> f64 {
    digest::unit(key)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sha256_hex, module)?)?;
    module.add_function(wrap_pyfunction!(leaf_hash, module)?)?;
    module.add_function(wrap_pyfunction!(node_hash, module)?)?;
    module.add_function(wrap_pyfunction!(chain_hash, module)?)?;
    module.add_function(wrap_pyfunction!(merkle_root, module)?)?;
    module.add_function(wrap_pyfunction!(unit, module)?)
}
