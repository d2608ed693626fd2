//! Replacing spans, leaving every other byte as the peer sent it.

use crate::Error;
use crate::json::Span;

/// Replace the bytes of the span; an empty span inserts.
pub type Edit<'a> = (Span, &'a [u8]);

/// Applies edits given in any order; insertions at one place keep theirs.
pub fn splice(body: &[u8], edits: &[Edit<'_>]) -> Result<Vec<u8>, Error> {
    let mut edits: Vec<&Edit<'_>> = edits.iter().collect();
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let grown: usize = edits.iter().map(|(_, bytes)| bytes.len()).sum();
    let mut result = Vec::with_capacity(body.len() + grown);
    let mut done = 0;
    for (Span { start, end }, bytes) in edits {
        if start > end || *end > body.len() {
            let size = body.len();
            let reason = format!("edit {start}..{end} is out of range for {size} bytes");
            return Err(Error::argument(reason));
        }
        if *start < done {
            let reason = format!("edit {start}..{end} overlaps the one that ends at {done}");
            return Err(Error::argument(reason));
        }
        result.extend_from_slice(&body[done..*start]);
        result.extend_from_slice(bytes);
        done = *end;
    }
    result.extend_from_slice(&body[done..]);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_in_any_order() {
        let edits: [Edit<'_>; 4] = [(4..5, b"E"), (0..1, b""), (2..2, b"<"), (2..2, b">")];
        assert_eq!(splice(b"abcdef", &edits).unwrap(), b"b<>cdEf");
    }

    #[test]
    fn bad_edits_are_refused() {
        for edits in [
            &[(0..2, &b""[..]), (1..3, b"")][..],
            &[(5..7, b"")],
            #[allow(clippy::reversed_empty_ranges)]
            &[(3..2, b"")],
        ] {
            assert!(splice(b"abcdef", edits).is_err(), "{edits:?}");
        }
    }
}
