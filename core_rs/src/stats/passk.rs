//! pass^k: how likely k runs in a row all pass.

use crate::Error;
use crate::stats::binomial::ln_choose;
use crate::stats::interval::lower_bound;
use crate::stats::{counts, open_unit};

/// The unbiased estimate C(passed, k) / C(total, k); none where fewer than k runs were made.
/// Source: Yao et al. (2024), "τ-bench", §3.
pub fn pass_hat(passed: u64, total: u64, k: u64) -> Result<Option<f64>, Error> {
    counts(passed, total)?;
    if k == 0 {
        return Err(Error::argument("`k` is 0, expected at least 1".to_owned()));
    }
    Ok((k <= total).then(|| (ln_choose(passed, k) - ln_choose(total, k)).exp()))
}

/// What the runs support at least: the exact lower limit of the pass rate, to the power of k.
pub fn pass_bound(passed: u64, total: u64, k: u64, confidence: f64) -> Result<f64, Error> {
    let low = lower_bound(passed, total, 1.0 - open_unit(confidence, "confidence")?)?;
    Ok(low.powf(k as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_of_ten_is_no_certainty() {
        assert_eq!(pass_hat(10, 10, 10), Ok(Some(1.0)));
        let bound = pass_bound(10, 10, 10, 0.95).unwrap();
        assert!(
            (bound - 0.05).abs() < 1e-12,
            "0.05^(1/10) to the power of 10 is {bound}"
        );
        assert_eq!(pass_hat(3, 10, 4), Ok(Some(0.0)));
        assert_eq!(pass_hat(3, 10, 11), Ok(None));
        assert!(pass_hat(3, 10, 0).is_err());
    }
}
