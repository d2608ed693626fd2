//! What keeps a text of nothing but keys from being read anew for each of them.
use super::shape::Set;

/// How much of a longer name may follow a key in `ASSIGNED`, with all that may be read as a part of it: `string`,
/// and two signs of an assignment.
const LONGEST_NAME: usize = 24 + 6 + 2;

/// So many keys of one entry are tried that stand within what was found and refused at an earlier one.
const TRIES: u32 = 4;

/// What is kept of an entry over the keys of one text, in their order. Without it, a text of nothing but keys
/// would be read anew for each of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// No match (no value, where one stands near a key) begins before it.
    pub barren: usize,
    /// Where what was refused ends, and how often something was.
    until: usize,
    refused: u32,
}

impl Memory {
    /// Is this key one of many within what was refused?
    pub fn tired(&mut self, start: usize) -> bool {
        if start >= self.until {
            self.refused = 0;
        }
        self.refused >= TRIES
    }

    pub fn refuse(&mut self, until: usize) {
        self.until = self.until.max(until);
        self.refused += 1;
    }
}

/// Can an assignment follow a key before `part`? Not where the name goes on for too long.
pub fn may_be_assigned(part: &[u8]) -> bool {
    let name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    part.iter().take(LONGEST_NAME + 1).take_while(name).count() <= LONGEST_NAME
}

/// Where the first `least` bytes of a set stand in a row.
pub fn run(text: &[u8], least: usize, set: &Set) -> Option<usize> {
    let fits = |byte: u8| set[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0;
    let mut at = least;
    // From the end of a possible run backwards: most bytes are never looked at.
    while at <= text.len() {
        match text[at - least..at].iter().rposition(|byte| !fits(*byte)) {
            Some(last) => at = at - least + last + 1 + least,
            None => return Some(at - least),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::shape::made_of;
    use super::*;

    #[test]
    fn runs_of_a_set_are_found() {
        let (_, set) = made_of("[0-9a-f]").expect("an expression");
        assert_eq!(run(b"xx0123zz", 4, &set), Some(2));
        assert_eq!(run(b"xx0123zz", 5, &set), None);
        assert_eq!(run(b"0123", 4, &set), Some(0));
        assert_eq!(run(b"z01z0123", 4, &set), Some(4));
        assert_eq!(run(b"", 1, &set), None);
    }

    #[test]
    fn keys_within_what_was_refused_are_tried_a_few_times() {
        let mut memory = Memory::default();
        for start in 0..TRIES as usize {
            assert!(!memory.tired(start));
            memory.refuse(100 + start);
        }
        assert!(memory.tired(50));
        assert!(!memory.tired(103));
    }

    #[test]
    fn no_assignment_follows_a_name_without_end() {
        assert!(may_be_assigned(b"_of_the_service = 'x'"));
        assert!(!may_be_assigned(&[b'a'; 40]));
        assert!(may_be_assigned(&[b'a'; LONGEST_NAME]));
    }
}
