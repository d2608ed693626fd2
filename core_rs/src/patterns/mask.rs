//! Hiding values.

/// Keeps at most two characters at each end of a long value and nothing of a short one.
pub fn mask(value: &str) -> String {
    let length = value.chars().count();
    if length < 8 {
        return "*".repeat(length);
    }
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let head: String = value.chars().take(2).map(clean).collect();
    let tail: String = value.chars().skip(length - 2).map(clean).collect();
    format!("{head}{}{tail}", "*".repeat((length - 4).min(12)))
}
