//! Stopping while one looks: tests that stay valid however often and whenever that is.

use statrs::function::beta::ln_beta;

use crate::Error;
use crate::stats::{counts, open_unit};

/// What a sequential test says so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The rate is at least the good one.
    Good,
    /// The rate is at most the bad one.
    Bad,
    /// Not decided yet.
    Open,
}

/// Wald's sequential probability ratio test of a bad rate against a good one.
///
/// `alpha` bounds how often a bad agent is called good, `beta` how often a good one is called bad.
/// Source: Wald (1945), Annals of Mathematical Statistics 16, 117-186.
pub fn sprt(
    (passed, total): (u64, u64),
    (bad, good): (f64, f64),
    (alpha, beta): (f64, f64),
) -> Result<Verdict, Error> {
    let (c, n) = counts(passed, total)?;
    open_unit(bad, "bad")?;
    open_unit(good, "good")?;
    open_unit(alpha, "alpha")?;
    open_unit(beta, "beta")?;
    if bad >= good {
        let reason = format!("`bad` is {bad}, expected less than `good` {good}");
        return Err(Error::argument(reason));
    }
    let ratio = c * (good / bad).ln() + (n - c) * ((1.0 - good) / (1.0 - bad)).ln();
    Ok(if ratio >= ((1.0 - beta) / alpha).ln() {
        Verdict::Good
    } else if ratio <= (beta / (1.0 - alpha)).ln() {
        Verdict::Bad
    } else {
        Verdict::Open
    })
}

/// ln of the evidence against the claim that the rate is `rate`: a mixture over Beta(½, ½).
///
/// As a process it is a nonnegative martingale with mean 1 under the claim, so by Ville's inequality
/// it ever exceeds 1/α with probability α at most, however often one looks.
/// Source: Robbins (1970), Annals of Mathematical Statistics 41, 1397-1409; Howard et al. (2021).
pub fn ln_evidence(passed: u64, total: u64, rate: f64) -> Result<f64, Error> {
    let (c, n) = counts(passed, total)?;
    if !(0.0..=1.0).contains(&rate) {
        let reason = format!("`rate` is {rate}, expected 0 to 1");
        return Err(Error::argument(reason));
    }
    let mixture = ln_beta(c + 0.5, n - c + 0.5) - ln_beta(0.5, 0.5);
    let likelihood = term(c, rate) + term(n - c, 1.0 - rate);
    Ok(mixture - likelihood)
}

/// count · ln(p), with 0 · ln(0) = 0.
fn term(count: f64, p: f64) -> f64 {
    if count == 0.0 { 0.0 } else { count * p.ln() }
}

/// All rates that the evidence has not refuted: an interval that holds at every look at once.
pub fn confidence_sequence(passed: u64, total: u64, confidence: f64) -> Result<(f64, f64), Error> {
    let limit = -(1.0 - open_unit(confidence, "confidence")?).ln();
    let (c, n) = counts(passed, total)?;
    if total == 0 {
        return Ok((0.0, 1.0));
    }
    let refuted = |rate: f64| ln_evidence(passed, total, rate).map(|e| e >= limit);
    let best = c / n;
    let low = if refuted(0.0)? {
        edge(best, 0.0, refuted)?
    } else {
        0.0
    };
    let high = if refuted(1.0)? {
        edge(best, 1.0, refuted)?
    } else {
        1.0
    };
    Ok((low, high))
}

/// Where the rates begin to be refuted, between one that is not and one that is.
fn edge(
    inside: f64,
    outside: f64,
    refuted: impl Fn(f64) -> Result<bool, Error>,
) -> Result<f64, Error> {
    let (mut inside, mut outside) = (inside, outside);
    loop {
        let middle = inside + (outside - inside) / 2.0;
        if middle == inside || middle == outside {
            return Ok(outside);
        }
        if refuted(middle)? {
            outside = middle;
        } else {
            inside = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_agent_is_called_good_after_enough_runs_and_not_before() {
        let after = |n| sprt((n, n), (0.7, 0.9), (0.05, 0.05)).unwrap();
        let first = (1..100).find(|&n| after(n) == Verdict::Good).unwrap();
        assert_eq!(first, 12); // ln(19) / ln(9/7) = 11.7
        assert_eq!(after(11), Verdict::Open);
        assert_eq!(sprt((0, 4), (0.7, 0.9), (0.05, 0.05)), Ok(Verdict::Bad));
        assert!(sprt((1, 1), (0.9, 0.7), (0.05, 0.05)).is_err());
    }

    #[test]
    fn evidence_has_mean_one_under_the_claim() {
        for rate in [0.1, 0.5, 0.93] {
            let n = 30;
            let mean: f64 = (0..=n)
                .map(|c| {
                    crate::stats::binomial::mass(n, c, rate)
                        * ln_evidence(c, n, rate).unwrap().exp()
                })
                .sum();
            assert!((mean - 1.0).abs() < 1e-9, "{rate}: {mean}");
        }
    }

    #[test]
    fn the_sequence_is_wider_than_an_interval_and_holds_the_observed_rate() {
        let (low, high) = confidence_sequence(18, 20, 0.95).unwrap();
        assert!(low < 0.9 && 0.9 < high);
        let fixed = crate::score::jeffreys_interval(18, 20, 0.95).unwrap();
        assert!(low < fixed.0 && high > fixed.1);
        assert_eq!(confidence_sequence(0, 0, 0.95), Ok((0.0, 1.0)));
        let (low, high) = confidence_sequence(500, 500, 0.95).unwrap();
        assert!(low > 0.97 && (high - 1.0).abs() < f64::EPSILON);
    }
}
