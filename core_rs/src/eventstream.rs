//! AWS event streams: framing that keeps every byte, and the parts of one frame.
//!
//! Source: Smithy, "Amazon Event Stream specification". A frame, big-endian:
//! `u32 total | u32 headers | u32 crc(first 8) | headers | payload | u32 crc(all before)`.

use crate::error::Error;

const PRELUDE: usize = 12;
const OVERHEAD: usize = PRELUDE + 4;
/// 16 MiB of payload and 128 KiB of headers are what the specification allows.
const LONGEST: usize = (16 << 20) + (128 << 10) + OVERHEAD;
const TEXT: u8 = 7;

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut made = [0u32; 256];
    let mut at = 0;
    while at < 256 {
        let mut value = at as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 {
                0xEDB8_8320 ^ (value >> 1)
            } else {
                value >> 1
            };
            bit += 1;
        }
        made[at] = value;
        at += 1;
    }
    made
}

/// CRC-32 as in gzip (IEEE 802.3).
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        TABLE[((crc ^ u32::from(*byte)) & 0xFF) as usize] ^ (crc >> 8)
    })
}

/// Cuts a byte stream into frames. Once a prelude is not to be trusted, frames end: all that is held
/// and all that follows is passed on as it comes.
#[derive(Default)]
pub struct EventStreamSplitter {
    held: Vec<u8>,
    broken: Option<String>,
}

impl EventStreamSplitter {
    /// Hands each frame that `chunk` completes to `emit`.
    pub fn feed(&mut self, chunk: &[u8], mut emit: impl FnMut(&[u8])) {
        self.held.extend_from_slice(chunk);
        let mut from = 0;
        while self.broken.is_none() && self.held.len() - from >= PRELUDE {
            match length(&self.held[from..]) {
                Ok(total) if self.held.len() - from >= total => {
                    emit(&self.held[from..from + total]);
                    from += total;
                }
                Ok(_) => break,
                Err(error) => self.broken = Some(error.to_string()),
            }
        }
        self.held.drain(..from);
        if self.broken.is_some() && !self.held.is_empty() {
            emit(&self.held);
            self.held = Vec::new();
        }
    }

    /// The frame that never ended.
    pub fn finish(&mut self) -> Vec<u8> {
        self.broken = None;
        std::mem::take(&mut self.held)
    }

    /// Why frames ended before the stream did.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    pub fn pending(&self) -> usize {
        self.held.len()
    }
}

/// The parts of a frame whose checksums are right.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Text headers in order; those of other types are passed over.
    pub headers: Vec<(String, String)>,
    pub payload: &'a [u8],
}

/// Reads one whole frame.
pub fn parse(frame: &[u8]) -> Result<Frame<'_>, Error> {
    let (headers, payload) = checked(frame)?;
    Ok(Frame {
        headers: text_headers(headers)?,
        payload,
    })
}

/// A frame with text headers.
pub fn write(headers: &[(String, String)], payload: &[u8]) -> Result<Vec<u8>, Error> {
    let mut packed = Vec::new();
    for (name, value) in headers {
        let size = u8::try_from(name.len()).ok().filter(|size| *size > 0);
        let size =
            size.ok_or_else(|| Error::argument(format!("header name `{name}` does not fit")))?;
        let length = u16::try_from(value.len())
            .map_err(|_| Error::argument(format!("header `{name}` is too long")))?;
        packed.push(size);
        packed.extend_from_slice(name.as_bytes());
        packed.push(TEXT);
        packed.extend_from_slice(&length.to_be_bytes());
        packed.extend_from_slice(value.as_bytes());
    }
    assembled(&packed, payload)
}

/// The frame with another payload; its header bytes stay.
pub fn with_payload(frame: &[u8], payload: &[u8]) -> Result<Vec<u8>, Error> {
    let (headers, _) = checked(frame)?;
    assembled(headers, payload)
}

fn assembled(headers: &[u8], payload: &[u8]) -> Result<Vec<u8>, Error> {
    let total = OVERHEAD + headers.len() + payload.len();
    if total > LONGEST {
        return Err(Error::argument(format!(
            "a frame of {total} bytes is too long"
        )));
    }
    let mut frame = Vec::with_capacity(total);
    frame.extend_from_slice(&(total as u32).to_be_bytes());
    frame.extend_from_slice(&(headers.len() as u32).to_be_bytes());
    frame.extend_from_slice(&crc32(&frame).to_be_bytes());
    frame.extend_from_slice(headers);
    frame.extend_from_slice(payload);
    frame.extend_from_slice(&crc32(&frame).to_be_bytes());
    Ok(frame)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4]
        .iter()
        .fold(0, |sum, byte| (sum << 8) | u32::from(*byte))
}

/// The frame's length, from a prelude whose checksum is right.
fn length(bytes: &[u8]) -> Result<usize, Error> {
    if number(bytes, 8) != crc32(&bytes[..8]) {
        return Err(Error::argument(
            "the checksum of a frame's prelude is wrong",
        ));
    }
    let (total, headers) = (number(bytes, 0) as usize, number(bytes, 4) as usize);
    if total > LONGEST || headers > total.saturating_sub(OVERHEAD) || total < OVERHEAD {
        return Err(Error::argument(format!(
            "a frame says that it has {total} bytes, {headers} of them headers"
        )));
    }
    Ok(total)
}

fn checked(frame: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    if frame.len() < OVERHEAD {
        return Err(Error::argument(format!(
            "found {} bytes, expected a frame of at least {OVERHEAD}",
            frame.len()
        )));
    }
    let total = length(frame)?;
    if total != frame.len() {
        return Err(Error::argument(format!(
            "found {} bytes, expected a frame of {total}",
            frame.len()
        )));
    }
    let end = total - 4;
    if number(frame, end) != crc32(&frame[..end]) {
        return Err(Error::argument("the checksum of a frame is wrong"));
    }
    let middle = PRELUDE + number(frame, 4) as usize;
    Ok((&frame[PRELUDE..middle], &frame[middle..end]))
}

fn text_headers(mut bytes: &[u8]) -> Result<Vec<(String, String)>, Error> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let size = usize::from(taken(&mut bytes, 1)?[0]);
        let name = String::from_utf8_lossy(taken(&mut bytes, size)?).into_owned();
        let kind = taken(&mut bytes, 1)?[0];
        let size = match kind {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            6 | TEXT => {
                let length = taken(&mut bytes, 2)?;
                (usize::from(length[0]) << 8) | usize::from(length[1])
            }
            9 => 16,
            _ => {
                return Err(Error::argument(format!(
                    "header `{name}` has unknown type {kind}"
                )));
            }
        };
        let value = taken(&mut bytes, size)?;
        if kind == TEXT {
            found.push((name, String::from_utf8_lossy(value).into_owned()));
        }
    }
    Ok(found)
}

fn taken<'a>(bytes: &mut &'a [u8], size: usize) -> Result<&'a [u8], Error> {
    if bytes.len() < size {
        return Err(Error::argument("the headers of a frame end too early"));
    }
    let (front, rest) = bytes.split_at(size);
    *bytes = rest;
    Ok(front)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers() -> Vec<(String, String)> {
        vec![(":event-type".into(), "chunk".into())]
    }

    #[test]
    fn the_checksum_is_the_known_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn what_is_written_is_read() {
        let frame = write(&headers(), b"{}").unwrap();
        let read = parse(&frame).unwrap();
        assert_eq!((read.headers, read.payload), (headers(), &b"{}"[..]));
        let other = parse(&with_payload(&frame, b"[1]").unwrap()).map(|f| f.payload.to_vec());
        assert_eq!(other.unwrap(), b"[1]");
    }

    #[test]
    fn any_chunking_gives_the_same_frames() {
        let stream = [write(&headers(), b"a").unwrap(), write(&[], b"").unwrap()].concat();
        for size in 1..stream.len() {
            let (mut splitter, mut found) = (EventStreamSplitter::default(), Vec::new());
            for chunk in stream.chunks(size) {
                splitter.feed(chunk, |frame| found.push(frame.to_vec()));
            }
            assert_eq!(
                (found.len(), found.concat()),
                (2, stream.clone()),
                "chunks of {size}"
            );
            assert!(splitter.finish().is_empty());
        }
    }

    #[test]
    fn after_a_wrong_prelude_bytes_pass_as_they_come() {
        let mut stream = write(&headers(), b"a").unwrap();
        let good = stream.len();
        stream.extend_from_slice(b"HTTP/1.1 oops, no frame");
        let (mut splitter, mut found) = (EventStreamSplitter::default(), Vec::new());
        splitter.feed(&stream, |frame| found.push(frame.to_vec()));
        splitter.feed(b"more", |frame| found.push(frame.to_vec()));
        assert_eq!(found, [&stream[..good], &stream[good..], b"more"]);
        assert!(splitter.broken().is_some());
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let frame = write(&headers(), b"{\"a\":1}").unwrap();
        for at in 0..frame.len() {
            let mut wrong = frame.clone();
            wrong[at] ^= 1;
            assert!(parse(&wrong).is_err(), "byte {at}");
        }
        assert!(parse(b"").is_err());
    }
}
