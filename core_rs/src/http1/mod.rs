//! Reading HTTP/1.0 and HTTP/1.1 messages without I/O (RFC 9112): bytes in, events out, the same events
//! however the bytes were divided. What a head may hold is the business of `heads`; here is where heads and
//! bodies begin and end. No line ends otherwise than with CR LF, and nothing is folded.

mod body;
mod head;
mod reader;

pub use body::Framing;
pub use head::Head;
pub use reader::{Event, Flaw, Kind, Reader};

/// Bytes of a head, of trailers, and of the line before a chunk; beyond it a message is refused.
pub const LIMIT: usize = 64 << 10;

/// Field lines of a trailer section: names and values.
pub type Lines = Vec<(Vec<u8>, Vec<u8>)>;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(reader: &mut Reader, data: &[u8]) -> Result<Vec<Event>, Flaw> {
        reader.feed(data);
        let mut found = Vec::new();
        while let Some(event) = reader.read()? {
            found.push(event);
        }
        Ok(found)
    }

    fn refused(data: &str) -> String {
        let mut reader = Reader::requests();
        all(&mut reader, data.as_bytes())
            .expect_err("it is refused")
            .text
    }

    fn chunked(body: &str) -> String {
        format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{body}")
    }

    #[test]
    fn a_request_is_read_and_the_next_one_waits() {
        let mut reader = Reader::requests();
        let one = b"POST /a HTTP/1.1\r\nHost:b \r\nContent-Length: 2\r\n\r\nhiGET / HTTP/1.1\r\n";
        let found = all(&mut reader, one).expect("it has no flaw");
        let [Event::Head(head, false), Event::Data(data), Event::End] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!((head.method(), head.target()), (&b"POST"[..], &b"/a"[..]));
        assert_eq!(head.value(b"host"), Some(&b"b"[..]));
        assert_eq!(
            head.written(),
            b"POST /a HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\n"
        );
        assert_eq!(data, b"hi");
        assert_eq!(reader.pending(), 16);
        reader.next(false);
        assert!(matches!(
            all(&mut reader, b"host: c\r\n\r\n").as_deref(),
            Ok([Event::Head(_, true), Event::End])
        ));
    }

    #[test]
    fn what_frames_a_body_in_two_ways_is_refused() {
        assert!(refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n").contains("both"));
        assert!(
            refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n")
                .contains("several")
        );
        assert!(refused("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n").contains("folded"));
        assert!(refused("GET / HTTP/1.1\r\nHost: a\n\r\n").contains("carriage return"));
        assert!(refused("GET / HTTP/1.1\r\nHost: a\r\nx: \0\r\n\r\n").contains("0x00"));
    }

    #[test]
    fn chunks_end_with_crlf_and_have_a_size() {
        for body in [
            "5\r\nhello!\r\n",
            "\r\n",
            "5 ;a\r\n",
            "g\r\n",
            "-1\r\n",
            "5\nhello",
            "0x5\r\n",
            "1000000000000000\r\n",
            "5;\u{1}\r\n",
            "0\r\n a: b\r\n\r\n",
            "0\r\na\r\n\r\n",
            "0\r\nhost: b\r\n\r\n",
            "0\r\na: b\n\r\n",
            "1\r\nx\n",
        ] {
            let mut reader = Reader::requests();
            let found = all(&mut reader, chunked(body).as_bytes());
            assert!(
                matches!(&found, Err(flaw) if flaw.kind == Kind::Body),
                "{body:?} {found:?}"
            );
        }
        for body in [
            "5\r\nhello\r\n0\r\n\r\n",
            "05;a=b;c\r\nhello\r\n000\r\nt: 1\r\n\r\n",
            "5 \r\nhello\r\n0\t\r\n\r\n",
        ] {
            let mut reader = Reader::requests();
            let found = all(&mut reader, chunked(body).as_bytes()).expect(body);
            assert_eq!(found[1], Event::Data(b"hello".to_vec()));
            assert_eq!(found.last(), Some(&Event::End));
        }
    }

    #[test]
    fn a_response_says_by_its_request_and_status_where_it_ends() {
        let read = |to_head, data: &[u8]| {
            let mut reader = Reader::responses();
            reader.next(to_head);
            let found = all(&mut reader, data);
            (found, reader)
        };
        let (found, _) = read(true, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
        assert!(matches!(
            found.as_deref(),
            Ok([Event::Head(_, true), Event::End])
        ));
        let (found, mut reader) = read(false, b"HTTP/1.0 200 OK\r\n\r\nhe");
        assert!(
            matches!(found.as_deref(), Ok([Event::Head(head, false), Event::Data(_)]) if head.status() == 200)
        );
        assert!(reader.until_close());
        assert_eq!(reader.finish(), Ok(Some(Event::End)));
        let (found, mut reader) = read(false, b"HTTP/1.1 101 Switching\r\n\r\n\x81\x00");
        assert!(matches!(
            found.as_deref(),
            Ok([Event::Head(_, true), Event::End])
        ));
        assert_eq!(reader.rest(), b"\x81\x00");
        let hints = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
        let (found, _) = read(false, hints);
        assert!(matches!(
            found.as_deref(),
            Ok([Event::Interim(_), Event::Head(_, true), Event::End])
        ));
    }

    #[test]
    fn a_body_that_is_cut_short_is_no_whole_one() {
        for (data, what) in [
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe",
                "received 2 bytes, expected 5",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
                "incomplete chunked read",
            ),
        ] {
            let mut reader = Reader::responses();
            reader.next(false);
            all(&mut reader, data.as_bytes()).expect("it has no flaw so far");
            let flaw = reader.finish().expect_err("it is not whole");
            assert!(flaw.text.contains(what), "{}", flaw.text);
        }
    }
}
