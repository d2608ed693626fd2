//! Globs of `*` and `?`, the shape of tool names and hosts in profiles.

/// Whether `pattern` covers all of `text`; case-sensitive, `*` any run, `?` any one character.
///
/// Only the last star is ever retried, so the cost is at most text times pattern, never exponential.
pub fn glob_match(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None; // behind the last star, and what it has eaten up to
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                star = Some((p, t));
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((behind, eaten)) = star else {
                    return false;
                };
                p = behind;
                t = eaten + 1;
                star = Some((behind, t));
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::glob_match;

    #[test]
    fn table() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
            ("search*", "search_web", true),
            ("*.openai.com", "api.openai.com", true),
            ("*.openai.com", "openai.com", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-c-", false),
            ("*aab", "aaaaab", true),
            ("?", "é", true),
            ("Search", "search", false),
            ("[a]", "a", false),
        ] {
            assert_eq!(glob_match(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn many_stars_stay_cheap() {
        let pattern = "a*".repeat(50) + "b";
        assert!(!glob_match(&pattern, &"a".repeat(5_000)));
    }
}
