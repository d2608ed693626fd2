//! Boschloo's exact test for two independent pass rates.

use crate::Error;
use crate::stats::binomial::{hypergeometric_above, masses};
use crate::stats::counts;

/// Grid of the nuisance rate; between its points the supremum is then searched.
const GRID: usize = 200;
const REFINED: usize = 6;
const STEPS: usize = 60;
/// Tables are as extreme as the observed one up to this: equal ones differ in their last digits.
const SLACK: f64 = 1e-7;

/// Samples this large cost too much time to test exactly.
pub const MOST: u64 = 1000;

/// Two-sided p-value: twice the smaller one-sided one, at most 1.
///
/// One-sided: the supremum over the common rate of the probability of a table whose Fisher p-value
/// is no larger than the observed one. Source: Boschloo (1970), Statistica Neerlandica 24, 1-35.
pub fn boschloo(first: (u64, u64), second: (u64, u64)) -> Result<f64, Error> {
    counts(first.0, first.1)?;
    counts(second.0, second.1)?;
    if first.1 > MOST || second.1 > MOST {
        let size = first.1.max(second.1);
        return Err(Error::argument(format!(
            "`total` is {size}, expected at most {MOST}"
        )));
    }
    if first.1 == 0 || second.1 == 0 {
        return Ok(1.0);
    }
    let greater = one_sided(first, second);
    let less = one_sided(second, first);
    Ok((2.0 * greater.min(less)).min(1.0))
}

/// The alternative is that the first rate is greater.
fn one_sided((c1, n1): (u64, u64), (c2, n2): (u64, u64)) -> f64 {
    let fisher = |x: u64, y: u64| hypergeometric_above(n1 + n2, x + y, n1, x);
    let observed = fisher(c1, c2) * (1.0 + SLACK);
    // For each first count, the second counts that are as extreme are those up to a limit.
    let limits: Vec<Option<u64>> = (0..=n1)
        .map(|x| {
            let extreme = |y: u64| fisher(x, y) <= observed;
            let (mut low, mut high) = (0, n2 + 1);
            while low < high {
                let middle = (low + high) / 2;
                if extreme(middle) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low.checked_sub(1)
        })
        .collect();
    supremum(|rate| rejected(n1, n2, &limits, rate))
}

fn rejected(n1: u64, n2: u64, limits: &[Option<u64>], rate: f64) -> f64 {
    let below: Vec<f64> = masses(n2, rate)
        .iter()
        .scan(0.0, |sum, mass| {
            *sum += mass;
            Some(*sum)
        })
        .collect();
    masses(n1, rate)
        .iter()
        .zip(limits)
        .filter_map(|(mass, limit)| limit.map(|limit| mass * below[limit as usize]))
        .sum()
}

fn supremum(value: impl Fn(f64) -> f64) -> f64 {
    let at = |i: usize| i as f64 / GRID as f64;
    let mut points: Vec<(f64, usize)> = (0..=GRID).map(|i| (value(at(i)), i)).collect();
    points.sort_by(|a, b| b.0.total_cmp(&a.0));
    points
        .iter()
        .take(REFINED)
        .map(|&(_, i)| golden(&value, at(i.saturating_sub(1)), at((i + 1).min(GRID))))
        .fold(points[0].0, f64::max)
        .min(1.0)
}

/// Golden-section search for the largest value between two places.
fn golden(value: &impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_8;
    let (mut low, mut high) = (low, high);
    let mut left = high - RATIO * (high - low);
    let mut right = low + RATIO * (high - low);
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..STEPS {
        if at_left > at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = high - RATIO * (high - low);
            at_left = value(left);
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = low + RATIO * (high - low);
            at_right = value(right);
        }
    }
    at_left.max(at_right)
}
