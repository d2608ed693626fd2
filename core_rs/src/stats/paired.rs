//! The same subjects twice: what changed, and whether chance would do as much.

use crate::stats::binomial::fair_below;

/// McNemar's exact test over the pairs that changed, two-sided.
/// Source: McNemar (1947), Psychometrika 12; exact form as in Agresti (2013), §11.1.
pub fn mcnemar(only_first: u64, only_second: u64) -> f64 {
    let n = only_first + only_second;
    if n == 0 || only_first == only_second {
        return 1.0;
    }
    (2.0 * fair_below(n, only_first.min(only_second))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_changes_one_way() {
        assert!((mcnemar(8, 0) - 2.0 / 256.0).abs() < 1e-12);
        assert_eq!(mcnemar(0, 0), 1.0);
        assert_eq!(mcnemar(4, 4), 1.0);
        assert_eq!(mcnemar(0, 8), mcnemar(8, 0));
    }
}
