//! Intervals of a pass rate and of the difference of two.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::Error;
use crate::score::beta_quantile;
use crate::stats::{counts, open_unit};

pub type Interval = (f64, f64);

/// Wilson's score interval. Source: Wilson (1927), JASA 22, eq. 4.
pub fn wilson(passed: u64, total: u64, confidence: f64) -> Result<Interval, Error> {
    let (c, n) = counts(passed, total)?;
    let z = normal_quantile((1.0 + open_unit(confidence, "confidence")?) / 2.0);
    if total == 0 {
        return Ok((0.0, 1.0));
    }
    let (p, zz) = (c / n, z * z);
    let middle = p + zz / (2.0 * n);
    let half = z * ((p * (1.0 - p) + zz / (4.0 * n)) / n).sqrt();
    let scale = 1.0 + zz / n;
    let lower = if passed == 0 {
        0.0
    } else {
        (middle - half) / scale
    };
    let upper = if passed == total {
        1.0
    } else {
        (middle + half) / scale
    };
    Ok((lower.max(0.0), upper.min(1.0)))
}

/// Clopper's and Pearson's exact interval: never covers less often than it says.
/// Source: Clopper, Pearson (1934), Biometrika 26.
pub fn clopper_pearson(passed: u64, total: u64, confidence: f64) -> Result<Interval, Error> {
    counts(passed, total)?;
    let tail = (1.0 - open_unit(confidence, "confidence")?) / 2.0;
    Ok((
        lower_bound(passed, total, tail)?,
        upper_bound(passed, total, tail)?,
    ))
}

/// The exact lower limit alone, wrong with probability `alpha` at most.
pub fn lower_bound(passed: u64, total: u64, alpha: f64) -> Result<f64, Error> {
    let (c, n) = counts(passed, total)?;
    match passed {
        0 => Ok(0.0),
        _ => beta_quantile(c, n - c + 1.0, alpha),
    }
}

fn upper_bound(passed: u64, total: u64, alpha: f64) -> Result<f64, Error> {
    let (c, n) = counts(passed, total)?;
    match total - passed {
        0 => Ok(1.0),
        _ => Ok(1.0 - beta_quantile(n - c, c + 1.0, alpha)?),
    }
}

/// First rate minus second, of two independent samples: Newcombe's hybrid score interval.
/// Source: Newcombe (1998), Statistics in Medicine 17, 873-890, method 10.
pub fn newcombe(first: (u64, u64), second: (u64, u64), confidence: f64) -> Result<Interval, Error> {
    let (l1, u1) = wilson(first.0, first.1, confidence)?;
    let (l2, u2) = wilson(second.0, second.1, confidence)?;
    if first.1 == 0 || second.1 == 0 {
        return Ok((-1.0, 1.0));
    }
    let (p1, p2) = (ratio(first), ratio(second));
    let d = p1 - p2;
    Ok((d - (p1 - l1).hypot(u2 - p2), d + (u1 - p1).hypot(p2 - l2)))
}

/// First rate minus second on the same subjects: both passed, only the first, only the second,
/// neither. Source: Newcombe (1998), Statistics in Medicine 17, 2635-2650, method 10.
pub fn newcombe_paired(table: [u64; 4], confidence: f64) -> Result<Interval, Error> {
    let [both, first, second, neither] = table;
    let n = both + first + second + neither;
    if n == 0 {
        open_unit(confidence, "confidence")?;
        return Ok((-1.0, 1.0));
    }
    let (a, b) = ((both + first, n), (both + second, n));
    let (l1, u1) = wilson(a.0, n, confidence)?;
    let (l2, u2) = wilson(b.0, n, confidence)?;
    let (p1, p2) = (ratio(a), ratio(b));
    let phi = correlation(table, n);
    let (dl1, du1, dl2, du2) = (p1 - l1, u1 - p1, p2 - l2, u2 - p2);
    let low = (dl1 * dl1 - 2.0 * phi * dl1 * du2 + du2 * du2)
        .max(0.0)
        .sqrt();
    let high = (du1 * du1 - 2.0 * phi * du1 * dl2 + dl2 * dl2)
        .max(0.0)
        .sqrt();
    let d = p1 - p2;
    Ok(((d - low).max(-1.0), (d + high).min(1.0)))
}

/// Newcombe's φ̂ with his continuity correction where the samples agree more than chance would.
fn correlation([both, first, second, neither]: [u64; 4], n: u64) -> f64 {
    let [e, f, g, h] = [both, first, second, neither].map(|count| count as f64);
    let margins = (e + f) * (g + h) * (e + g) * (f + h);
    if margins == 0.0 {
        return 0.0;
    }
    let product = e * h - f * g;
    let corrected = if product > 0.0 {
        (product - n as f64 / 2.0).max(0.0)
    } else {
        product
    };
    corrected / margins.sqrt()
}

fn ratio((passed, total): (u64, u64)) -> f64 {
    passed as f64 / total as f64
}

pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}
