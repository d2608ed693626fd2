//! Heads of requests: what is taken is one head to every parser, and counting does not depend on division.

use std::fmt::Display;

use faultwire_core::heads;

/// A head that is taken has nothing in it that some parser takes for the end of a line or of the head.
pub fn request(head: &[u8], about: impl Display) -> bool {
    let _ = heads::response(head);
    if let Err(reason) = heads::request(head) {
        assert!(!reason.contains(char::is_control), "{about}");
        return false;
    }
    let lines: Vec<&[u8]> = head[..head.len() - 4]
        .split(|byte| *byte == b'\n')
        .collect();
    let (last, ended) = lines.split_last().expect("a line");
    assert!(
        head.ends_with(b"\r\n\r\n") && !last.contains(&b'\r'),
        "{about}"
    );
    for line in ended {
        assert!(line.ends_with(b"\r"), "{about}");
        assert!(!line[..line.len() - 1].contains(&b'\r'), "{about}");
    }
    assert!(!head.contains(&0), "{about}");
    true
}

/// How many requests are in the stream, in one piece and in these.
pub fn count(stream: &[u8], chunks: &[&[u8]], http2: bool, about: impl Display) -> usize {
    let found = heads::RequestCounter::new(http2).feed(stream);
    let mut divided = heads::RequestCounter::new(http2);
    let sum: usize = chunks.iter().map(|piece| divided.feed(piece)).sum();
    assert_eq!(found, sum, "{about}");
    found
}
