//! Where compressed streams may begin in a body, by their first bytes.
use memchr::{memchr_iter, memmem};

const GZIP: &[u8] = b"\x1f\x8b\x08";

/// May one of gzip (RFC 1952) begin anywhere, or one of zlib (RFC 1950) at the start or behind an empty line?
pub fn any(data: &[u8]) -> bool {
    if zlib(data) || memmem::find(data, GZIP).is_some() {
        return true;
    }
    memchr_iter(b'\n', data).any(|at| {
        let rest = &data[at + 1..];
        let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
        rest.strip_prefix(b"\n").is_some_and(zlib)
    })
}

fn zlib(data: &[u8]) -> bool {
    matches!(data, [b'x', 0x01 | 0x5e | 0x9c | 0xda, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_anywhere_zlib_where_a_body_or_a_part_begins() {
        for data in [
            &b"a\x1f\x8b\x08"[..],
            b"x\x9c",
            b"a\n\nx\x01",
            b"a\n\r\nx\xda",
            b"\n\n\n\nx^",
        ] {
            assert!(any(data), "{data:?}");
        }
        for data in [
            &b""[..],
            b"x",
            b"\x1f\x8b",
            b"ax\x9c",
            b"a\nx\x9c",
            b"a\n\nx",
            b"a\n\rx\x9c",
            b"a\r\rx\x9c",
            b"\n\nxy",
        ] {
            assert!(!any(data), "{data:?}");
        }
    }
}
