//! Many tests at once: adjusted p-values, in the order in which they came.

use crate::Error;

/// Holm's step-down adjustment: no false alarm at all, with the probability that one asks for.
/// Source: Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
pub fn holm(values: &[f64]) -> Result<Vec<f64>, Error> {
    let order = ascending(values)?;
    let count = values.len();
    let mut adjusted = vec![0.0; count];
    let mut least = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        least = least.max(((count - rank) as f64 * values[at]).min(1.0));
        adjusted[at] = least;
    }
    Ok(adjusted)
}

/// Benjamini's and Hochberg's step-up adjustment: the share of false ones among the alarms.
/// Source: Benjamini, Hochberg (1995), JRSS B 57, 289-300.
pub fn benjamini_hochberg(values: &[f64]) -> Result<Vec<f64>, Error> {
    let order = ascending(values)?;
    let count = values.len();
    let mut adjusted = vec![0.0; count];
    let mut most = 1.0_f64;
    for (rank, &at) in order.iter().enumerate().rev() {
        most = most.min(count as f64 / (rank + 1) as f64 * values[at]);
        adjusted[at] = most;
    }
    Ok(adjusted)
}

fn ascending(values: &[f64]) -> Result<Vec<usize>, Error> {
    if let Some(bad) = values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        let reason = format!("a p-value is {bad}, expected 0 to 1");
        return Err(Error::argument(reason));
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worked_example() {
        let near = |found: Vec<f64>, wanted: [f64; 4]| {
            found.iter().zip(wanted).all(|(f, w)| (f - w).abs() < 1e-12)
        };
        let p = [0.01, 0.04, 0.03, 0.005];
        assert!(near(holm(&p).unwrap(), [0.03, 0.06, 0.06, 0.02]));
        assert!(near(
            benjamini_hochberg(&p).unwrap(),
            [0.02, 0.04, 0.04, 0.02]
        ));
        assert!(holm(&[f64::NAN]).is_err());
        assert_eq!(holm(&[]), Ok(vec![]));
    }
}
