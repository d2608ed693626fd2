//! Merkle proofs and the growing tree.

use faultwire_core::digest::{Hash, to_hash};
use faultwire_core::proof;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::border::{CoreResult, detached, natural};

type Loose<'py> = Vec<Bound<'py, PyBytes>>;

fn hashes(loose: &Loose<'_>, name: &str) -> CoreResult<Vec<Hash>> {
    let found = loose.iter().map(|hash| to_hash(hash.as_bytes(), name));
    Ok(found.collect::<Result<Vec<Hash>, _>>()?)
}

fn bytes<'py>(py: Python<'py>, found: &[Hash]) -> Loose<'py> {
    found.iter().map(|hash| PyBytes::new(py, hash)).collect()
}

#[pyfunction]
#[pyo3(signature = (leaves, index, /))]
fn inclusion_proof<'py>(py: Python<'py>, leaves: Loose<'py>, index: i64) -> CoreResult<Loose<'py>> {
    let (leaves, index) = (hashes(&leaves, "leaf")?, natural(index, "index")?);
    let found = detached(py, leaves.len() * 32, || {
        proof::inclusion_proof(&leaves, index)
    });
    Ok(bytes(py, &found?))
}

#[pyfunction]
#[pyo3(signature = (leaf, index, size, proof, root, /))]
fn verify_inclusion(
    leaf: &[u8],
    index: i64,
    size: i64,
    proof: Loose<'_>,
    root: &[u8],
) -> CoreResult<bool> {
    Ok(proof::verify_inclusion(
        &to_hash(leaf, "leaf")?,
        natural(index, "index")?,
        natural(size, "size")?,
        &hashes(&proof, "proof")?,
        &to_hash(root, "root")?,
    ))
}

#[pyfunction]
#[pyo3(signature = (leaves, first, /))]
fn consistency_proof<'py>(
    py: Python<'py>,
    leaves: Loose<'py>,
    first: i64,
) -> CoreResult<Loose<'py>> {
    let (leaves, first) = (hashes(&leaves, "leaf")?, natural(first, "first")?);
    let found = detached(py, leaves.len() * 32, || {
        proof::consistency_proof(&leaves, first)
    });
    Ok(bytes(py, &found?))
}

#[pyfunction]
#[pyo3(signature = (first, second, proof, first_root, second_root, /))]
fn verify_consistency(
    first: i64,
    second: i64,
    proof: Loose<'_>,
    first_root: &[u8],
    second_root: &[u8],
) -> CoreResult<bool> {
    Ok(proof::verify_consistency(
        natural(first, "first")?,
        natural(second, "second")?,
        &hashes(&proof, "proof")?,
        &to_hash(first_root, "first_root")?,
        &to_hash(second_root, "second_root")?,
    ))
}

#[pyclass(module = "faultwire._core")]
#[derive(Default)]
struct Frontier(proof::Frontier);

#[pymethods]
impl Frontier {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (leaf, /))]
    fn push(&mut self, leaf: &[u8]) -> CoreResult<()> {
        self.0.push(to_hash(leaf, "leaf")?);
        Ok(())
    }

    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    fn root<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.root())
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Frontier>()?;
    module.add_function(wrap_pyfunction!(inclusion_proof, module)?)?;
    module.add_function(wrap_pyfunction!(verify_inclusion, module)?)?;
    module.add_function(wrap_pyfunction!(consistency_proof, module)?)?;
    module.add_function(wrap_pyfunction!(verify_consistency, module)?)
}
