//! What a handful of runs allows to be said: intervals, tests, corrections and stopping rules.
//!
//! Every function names its source; all are checked against scipy and statsmodels in the tests.

pub mod binomial;
pub mod boschloo;
pub mod interval;
pub mod multiple;
pub mod paired;
pub mod passk;
pub mod sequential;

use crate::Error;

/// `passed` of `total`, as reals. Fails where more passed than were tried.
pub(crate) fn counts(passed: u64, total: u64) -> Result<(f64, f64), Error> {
    if passed > total {
        let reason = format!("`passed` is {passed}, more than `total` {total}");
        return Err(Error::argument(reason));
    }
    Ok((passed as f64, total as f64))
}

/// A number strictly between 0 and 1.
pub(crate) fn open_unit(value: f64, name: &str) -> Result<f64, Error> {
    if value > 0.0 && value < 1.0 {
        return Ok(value);
    }
    let reason = format!("`{name}` is {value}, expected a number between 0 and 1");
    Err(Error::argument(reason))
}
