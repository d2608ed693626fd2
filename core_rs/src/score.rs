//! The resilience score of a contract matrix, and the interval of a pass rate.

use std::collections::{BTreeMap, HashMap};

use statrs::function::beta::checked_beta_reg;

use crate::Error;

/// One cell of the matrix, in the words of the report.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    pub scenario: &'a str,
    /// Unique in the whole matrix.
    pub invocation: &'a str,
    pub severity: &'a str,
    pub verdict: &'a str,
}

/// The score of one scenario, 0 to 100, `None` where no cell was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioScore {
    pub name: String,
    pub score: Option<f64>,
    /// Cells with a verdict.
    pub judged: u64,
    /// All cells.
    pub asked: u64,
}

/// The score of a matrix, with that of each scenario in order of appearance.
#[derive(Debug, Clone, PartialEq)]
pub struct Resilience {
    pub score: Option<f64>,
    pub scenarios: Vec<ScenarioScore>,
}

/// What a failed cell takes from its invocation, in thirds.
fn loss(severity: &str) -> Result<u64, Error> {
    match severity {
        "critical" | "high" => Ok(3),
        "medium" => Ok(2),
        "low" => Ok(1),
        _ => Err(unknown_word(
            "severity",
            severity,
            "critical, high, medium or low",
        )),
    }
}

/// Cells of one scenario: the greatest loss of each judged invocation, and how many cells there are.
#[derive(Default)]
struct Column<'a> {
    losses: BTreeMap<&'a str, u64>,
    judged: u64,
    asked: u64,
}

impl Column<'_> {
    /// The mean of what its judged invocations kept, 0 to 1.
    fn share(&self) -> Option<f64> {
        let whole = 3 * self.losses.len() as u64;
        let lost: u64 = self.losses.values().sum();
        (whole > 0).then(|| (whole - lost) as f64 / whole as f64)
    }
}

/// The resilience score: half the mean over the scenarios, half the worst scenario, 0 to 100.
///
/// An invocation keeps 1 where nothing that was judged on it failed. Its worst failed cell decides what
/// it loses: critical and high all, medium two thirds, low one third; so that passed cells cannot hide a
/// failed one. A scenario is the mean of its judged invocations, and all scenarios count alike, however
/// many cells they have. `None` where no more than half of the cells have a verdict: a number for the
/// rest would be a guess. Rounded to two digits, and never up to 100.
pub fn resilience_score<'a>(
    cells: impl IntoIterator<Item = Cell<'a>>,
) -> Result<Resilience, Error> {
    let mut names: Vec<&str> = Vec::new();
    let mut columns: HashMap<&str, Column<'_>> = HashMap::new();
    for cell in cells {
        let lost = loss(cell.severity)?;
        let column = columns.entry(cell.scenario).or_insert_with(|| {
            names.push(cell.scenario);
            Column::default()
        });
        column.asked += 1;
        let lost = match cell.verdict {
            "pass" => 0,
            "fail" => lost,
            "unknown" => continue,
            other => return Err(unknown_word("verdict", other, "pass, fail or unknown")),
        };
        column.judged += 1;
        let worst = column.losses.entry(cell.invocation).or_default();
        *worst = lost.max(*worst);
    }
    let columns: Vec<Column<'_>> = names
        .iter()
        .filter_map(|name| columns.remove(name))
        .collect();
    let judged: u64 = columns.iter().map(|column| column.judged).sum();
    let asked: u64 = columns.iter().map(|column| column.asked).sum();
    let shares: Vec<f64> = columns.iter().filter_map(Column::share).collect();
    Ok(Resilience {
        score: combined(shares).filter(|_| 2 * judged > asked),
        scenarios: names
            .iter()
            .zip(&columns)
            .map(|(name, column)| ScenarioScore {
                name: (*name).to_owned(),
                score: column.share().map(percent),
                judged: column.judged,
                asked: column.asked,
            })
            .collect(),
    })
}

/// Half the mean and half the least of the shares. They are added in ascending order, so that the order
/// of the scenarios in a file cannot move the last digit.
fn combined(mut shares: Vec<f64>) -> Option<f64> {
    shares.sort_by(f64::total_cmp);
    let worst = *shares.first()?;
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    Some(percent((mean + worst) / 2.0))
}

/// A share as a number of 0 to 100 with two digits: half to even, and 100 only for a share of 1.
fn percent(share: f64) -> f64 {
    let rounded = (share * 10_000.0).round_ties_even();
    if rounded >= 10_000.0 && share < 1.0 {
        return 99.99;
    }
    rounded / 100.0
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

    fn matrix(cells: &[(&'static str, &'static str, &'static str, &'static str)]) -> Resilience {
        let cells = cells
            .iter()
            .map(|&(scenario, invocation, severity, verdict)| Cell {
                scenario,
                invocation,
                severity,
                verdict,
            });
        resilience_score(cells).unwrap()
    }

    #[test]
    fn the_worst_failed_cell_decides_what_an_invocation_keeps() {
        let one =
            |severity| matrix(&[("s", "1", "critical", "pass"), ("s", "1", severity, "fail")]);
        assert_eq!(one("critical").score, Some(0.0));
        assert_eq!(one("high").score, Some(0.0));
        assert_eq!(one("medium").score, Some(33.33));
        assert_eq!(one("low").score, Some(66.67));
        let both = [("s", "1", "high", "fail"), ("s", "1", "low", "fail")];
        assert_eq!(matrix(&both).score, Some(0.0));
        let turned = [("s", "1", "low", "fail"), ("s", "1", "medium", "fail")];
        assert_eq!(matrix(&turned).score, Some(33.33));
    }

    #[test]
    fn scenarios_count_alike_and_the_worst_counts_twice() {
        let found = matrix(&[
            ("calm", "1", "high", "pass"),
            ("calm", "2", "high", "pass"),
            ("calm", "3", "high", "pass"),
            ("cut", "4", "high", "fail"),
        ]);
        assert_eq!(found.score, Some(25.0)); // (mean 50 + worst 0) / 2
        let names: Vec<_> = found
            .scenarios
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["calm", "cut"]);
        assert_eq!(found.scenarios[0].score, Some(100.0));
        assert_eq!(found.scenarios[1].score, Some(0.0));
    }

    #[test]
    fn no_number_where_half_of_the_cells_are_unknown() {
        let half = [("s", "1", "low", "pass"), ("s", "1", "low", "unknown")];
        assert_eq!(matrix(&half).score, None);
        assert_eq!(matrix(&half).scenarios[0].score, Some(100.0));
        assert_eq!(
            (
                matrix(&half).scenarios[0].judged,
                matrix(&half).scenarios[0].asked
            ),
            (1, 2)
        );
        let more = [half[0], ("s", "2", "low", "pass"), half[1]];
        assert_eq!(matrix(&more).score, Some(100.0));
        assert_eq!(matrix(&[]).score, None);
        assert_eq!(
            matrix(&[("s", "1", "low", "unknown")]).scenarios[0].score,
            None
        );
    }

    #[test]
    fn a_failure_is_never_rounded_away() {
        assert_eq!(percent(0.999_999), 99.99);
        assert_eq!(percent(1.0), 100.0);
        assert_eq!(percent(0.03125), 3.12); // the tie goes to the even digit
        assert_eq!(percent(0.09375), 9.38);
    }

    #[test]
    fn the_order_of_scenarios_changes_no_digit() {
        let shares = [0.1, 0.7, 1.0 / 3.0, 0.9];
        let mut turned = shares;
        turned.reverse();
        assert_eq!(combined(shares.to_vec()), combined(turned.to_vec()));
    }

    #[test]
    fn words_are_checked_even_in_unknown_cells() {
        let one = |severity, verdict| {
            resilience_score([Cell {
                scenario: "s",
                invocation: "1",
                severity,
                verdict,
            }])
        };
        assert!(one("severe", "unknown").is_err());
        assert!(one("low", "passed").is_err());
        assert_eq!(one("low", "unknown").unwrap().score, None);
    }

    #[test]
    fn interval_domain() {
        assert!(jeffreys_interval(2, 1, 0.95).is_err());
        assert!(jeffreys_interval(1, 1, 1.0).is_err());
        assert!(jeffreys_interval(1, 1, f64::NAN).is_err());
        assert_eq!(jeffreys_interval(0, 0, 0.95), Ok((0.0, 1.0)));
    }
}
