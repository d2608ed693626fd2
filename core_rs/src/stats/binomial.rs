//! Binomial and hypergeometric probabilities from logarithms of factorials.

use statrs::function::factorial::ln_factorial;

/// ln of the binomial coefficient; minus infinity where it is 0.
pub fn ln_choose(n: u64, k: u64) -> f64 {
    if k > n {
        return f64::NEG_INFINITY;
    }
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// Every P(X = k), k from 0 to n, for X of n trials with probability p.
pub fn masses(n: u64, p: f64) -> Vec<f64> {
    (0..=n).map(|k| mass(n, k, p)).collect()
}

/// P(X = k).
pub fn mass(n: u64, k: u64, p: f64) -> f64 {
    if p <= 0.0 {
        return f64::from(u8::from(k == 0));
    }
    if p >= 1.0 {
        return f64::from(u8::from(k == n));
    }
    (ln_choose(n, k) + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p()).exp()
}

/// P(X ≤ k) for a fair coin, the smaller terms first so that their digits count.
pub fn fair_below(n: u64, k: u64) -> f64 {
    let scale = n as f64 * std::f64::consts::LN_2;
    (0..=k.min(n))
        .map(|i| (ln_choose(n, i) - scale).exp())
        .sum()
}

/// P(X ≥ x) where `drawn` are drawn of `total`, `marked` of which are marked.
pub fn hypergeometric_above(total: u64, marked: u64, drawn: u64, x: u64) -> f64 {
    let all = ln_choose(total, drawn);
    let most = marked.min(drawn);
    (x..=most)
        .rev()
        .map(|k| {
            if drawn - k > total - marked {
                return 0.0;
            }
            (ln_choose(marked, k) + ln_choose(total - marked, drawn - k) - all).exp()
        })
        .sum::<f64>()
        .min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_sum_to_one() {
        for p in [0.0, 0.1, 0.5, 1.0] {
            let sum: f64 = masses(40, p).iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{p}");
        }
        assert!((fair_below(9, 9) - 1.0).abs() < 1e-12);
        assert!((hypergeometric_above(20, 7, 9, 0) - 1.0).abs() < 1e-12);
    }
}
