//! The resilience score of a contract matrix, and the interval of a pass rate.

use statrs::function::beta::checked_beta_reg;

use crate::Error;

/// Sum of weights over evaluated cells, and of those that passed.
#[derive(Default)]
struct Tally {
    passed: u64,
    evaluated: u64,
}

/// 100·Σ(passed·w)/Σ(w) over cells with a verdict, rounded to two digits; `None` without any.
///
/// Rounding is half to even on the exact quotient (all integers), so no platform's floating point
/// can move a score across a threshold.
pub fn resilience_score<'a>(
    cells: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Option<f64>, Error> {
    let mut tally = Tally::default();
    for (severity, verdict) in cells {
        let weight = weight(severity)?;
        match verdict {
            "pass" => {
                tally.passed += weight;
                tally.evaluated += weight;
            }
            "fail" => tally.evaluated += weight,
            "unknown" => {}
            _ => return Err(unknown_word("verdict", verdict, "pass, fail or unknown")),
        }
    }
    Ok((tally.evaluated > 0).then(|| hundredths(&tally) as f64 / 100.0))
}

fn weight(severity: &str) -> Result<u64, Error> {
    match severity {
        "critical" => Ok(3),
        "high" => Ok(2),
        "medium" | "low" => Ok(1),
        _ => Err(unknown_word(
            "severity",
            severity,
            "critical, high, medium or low",
        )),
    }
}

fn hundredths(tally: &Tally) -> u64 {
    let scaled = tally.passed * 10_000;
    let (quotient, rest) = (scaled / tally.evaluated, scaled % tally.evaluated);
    let up = match (rest * 2).cmp(&tally.evaluated) {
        std::cmp::Ordering::Less => 0,
        std::cmp::Ordering::Equal => quotient % 2,
        std::cmp::Ordering::Greater => 1,
    };
    quotient + up
}

fn unknown_word(what: &str, found: &str, expected: &str) -> Error {
    Error::argument(format!("unknown {what} `{found}`, expected {expected}"))
}

/// Jeffreys interval of a pass rate: quantiles of Beta(passed + ½, failed + ½).
///
/// Source: Brown, Cai, DasGupta (2001), "Interval Estimation for a Binomial Proportion", §3.1.3,
/// with their rule that no pass gives lower 0 and no failure gives upper 1.
pub fn jeffreys_interval(passed: u64, total: u64, confidence: f64) -> Result<(f64, f64), Error> {
    if passed > total {
        let reason = format!("`passed` is {passed}, more than `total` {total}");
        return Err(Error::argument(reason));
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        let reason = format!("`confidence` is {confidence}, expected a number between 0 and 1");
        return Err(Error::argument(reason));
    }
    let (a, b) = (passed as f64 + 0.5, (total - passed) as f64 + 0.5);
    let tail = (1.0 - confidence) / 2.0;
    let lower = match passed {
        0 => 0.0,
        _ => beta_quantile(a, b, tail)?,
    };
    let upper = match total - passed {
        0 => 1.0,
        _ => 1.0 - beta_quantile(b, a, tail)?, // mirrored: the small tail keeps its digits
    };
    Ok((lower, upper))
}

/// Inverse of the regularised incomplete beta function, by bisection to the last bit.
///
/// `statrs` has a Newton search for this, but a bracketed one cannot miss; a double ends it after
/// 1,100 halvings at worst, and some sixty in practice.
pub(crate) fn beta_quantile(a: f64, b: f64, p: f64) -> Result<f64, Error> {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return Ok(middle);
        }
        let below = checked_beta_reg(a, b, middle).map_err(|e| Error::argument(e.to_string()))?;
        if below < p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_even() {
        // 1/32 = 3.125 %, 3/32 = 9.375 %: both exact halves of a hundredth.
        let score = |passed, evaluated| hundredths(&Tally { passed, evaluated });
        assert_eq!(score(1, 32), 312);
        assert_eq!(score(3, 32), 938);
        assert_eq!(score(2, 3), 6667);
    }

    #[test]
    fn cells_weigh_three_two_one_and_one() {
        let score = |cells: &[(&str, &str)]| resilience_score(cells.iter().copied()).unwrap();
        assert_eq!(score(&[("critical", "pass"), ("high", "fail")]), Some(60.0));
        assert_eq!(score(&[("critical", "fail"), ("high", "pass")]), Some(40.0));
        assert_eq!(score(&[("low", "pass"), ("high", "fail")]), Some(33.33));
        assert_eq!(score(&[("medium", "pass"), ("high", "fail")]), Some(33.33));
        assert_eq!(score(&[("low", "pass"), ("high", "unknown")]), Some(100.0));
        assert_eq!(score(&[("high", "fail"), ("low", "fail")]), Some(0.0));
        assert_eq!(score(&[]), None);
    }

    #[test]
    fn words_are_checked_even_in_unknown_cells() {
        assert!(resilience_score([("severe", "unknown")]).is_err());
        assert!(resilience_score([("low", "passed")]).is_err());
        assert_eq!(resilience_score([("low", "unknown")]), Ok(None));
    }

    #[test]
    fn interval_domain() {
        assert!(jeffreys_interval(2, 1, 0.95).is_err());
        assert!(jeffreys_interval(1, 1, 1.0).is_err());
        assert!(jeffreys_interval(1, 1, f64::NAN).is_err());
        assert_eq!(jeffreys_interval(0, 0, 0.95), Ok((0.0, 1.0)));
    }
}
