//! What every face shares: errors, argument checks, and when to let go of the GIL.

use std::borrow::Cow;

use faultwire_core::Error;
use faultwire_core::redact::Text;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Below this many bytes the work is cheaper than handing the GIL over.
const WORTH_DETACHING: usize = 64 << 10;

/// The one way in which an error of the core becomes a Python exception.
pub struct CoreError(Error);

impl From<Error> for CoreError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<CoreError> for PyErr {
    fn from(CoreError(error): CoreError) -> Self {
        PyValueError::new_err(error.to_string())
    }
}

pub type CoreResult<T> = Result<T, CoreError>;

/// Runs `work` on `size` bytes of input, without the GIL when that pays.
pub fn detached<T: Send>(py: Python<'_>, size: usize, work: impl FnOnce() -> T + Send) -> T {
    if size > WORTH_DETACHING {
        py.detach(work)
    } else {
        work()
    }
}

/// A count or offset; a negative one is a `ValueError`, where PyO3 would raise `OverflowError`.
pub fn natural(value: i64, name: &str) -> CoreResult<usize> {
    let checked = usize::try_from(value);
    Ok(
        checked
            .map_err(|_| Error::argument(format!("`{name}` is {value}, expected at least 0")))?,
    )
}

/// Text that may hold lone surrogates (Python's `json` lets them in); each becomes one U+FFFD.
///
/// Both take three bytes of UTF-8 and count as one character, so offsets stay true.
pub fn lenient<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = text.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    let plain = Text::wtf8(encoded.cast::<PyBytes>()?.as_bytes());
    Ok(Cow::Owned(plain.plain().to_owned()))
}
