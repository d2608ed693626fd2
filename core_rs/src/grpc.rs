//! gRPC: its length-prefixed framing, which keeps every byte, and the parts of one frame.
//!
//! Source: gRPC over HTTP/2, "Length-Prefixed-Message". A frame: `u8 compressed | u32 length | message`,
//! big-endian; the flag is 0 or 1.

use crate::error::Error;

const PREFIX: usize = 5;
/// A message of 16 MiB: four times what gRPC libraries take by default, and no more is ever held.
pub const LONGEST: usize = 16 << 20;

/// Cuts a byte stream into frames. Once a prefix is not to be trusted, frames end: all that is held and
/// all that follows is passed on as it comes.
#[derive(Default)]
pub struct GrpcSplitter {
    held: Vec<u8>,
    broken: Option<String>,
}

impl GrpcSplitter {
    /// Hands each frame that `chunk` completes to `emit`; only what completes none is copied.
    pub fn feed(&mut self, chunk: &[u8], mut emit: impl FnMut(&[u8])) {
        if self.held.is_empty() {
            let used = self.cut(chunk, &mut emit);
            self.held.extend_from_slice(&chunk[used..]);
            return;
        }
        self.held.extend_from_slice(chunk);
        let held = std::mem::take(&mut self.held);
        let used = self.cut(&held, &mut emit);
        if used == 0 {
            self.held = held;
        } else {
            // A copy, not a drain: one huge frame must not pin its memory for the rest of the stream.
            self.held = held[used..].to_vec();
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

    /// Emits the frames at the front of `bytes`; how many bytes they take.
    fn cut(&mut self, bytes: &[u8], emit: &mut impl FnMut(&[u8])) -> usize {
        let mut from = 0;
        while self.broken.is_none() {
            match length(&bytes[from..]) {
                Ok(Some(total)) if bytes.len() - from >= total => {
                    emit(&bytes[from..from + total]);
                    from += total;
                }
                Ok(_) => return from,
                Err(error) => self.broken = Some(error.to_string()),
            }
        }
        if from < bytes.len() {
            emit(&bytes[from..]);
        }
        bytes.len()
    }
}

/// One frame, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    pub compressed: bool,
    pub message: &'a [u8],
}

/// Reads one whole frame.
pub fn parse(frame: &[u8]) -> Result<Frame<'_>, Error> {
    match length(frame)? {
        Some(total) if total == frame.len() => Ok(Frame {
            compressed: frame[0] == 1,
            message: &frame[PREFIX..],
        }),
        Some(total) => Err(Error::argument(format!(
            "found {} bytes, expected a frame of {total}",
            frame.len()
        ))),
        None => Err(Error::argument(format!(
            "found {} bytes, expected a frame of at least {PREFIX}",
            frame.len()
        ))),
    }
}

/// A message as a frame.
pub fn write(message: &[u8], compressed: bool) -> Result<Vec<u8>, Error> {
    if message.len() > LONGEST {
        return Err(too_long(message.len()));
    }
    let mut frame = Vec::with_capacity(PREFIX + message.len());
    frame.push(u8::from(compressed));
    frame.extend_from_slice(&(message.len() as u32).to_be_bytes());
    frame.extend_from_slice(message);
    Ok(frame)
}

/// The whole length of the frame that begins here, None while its prefix is not whole. A flag that is
/// none is told by the first byte alone, so that how bytes were chunked changes nothing.
fn length(bytes: &[u8]) -> Result<Option<usize>, Error> {
    if let Some(flag) = bytes.first().filter(|flag| **flag > 1) {
        return Err(Error::argument(format!(
            "a frame's flag is {flag}, expected 0 or 1"
        )));
    }
    let Some(prefix) = bytes.first_chunk::<PREFIX>() else {
        return Ok(None);
    };
    let size = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
    if size > LONGEST {
        return Err(too_long(size));
    }
    Ok(Some(PREFIX + size))
}

fn too_long(size: usize) -> Error {
    Error::argument(format!(
        "a message of {size} bytes is longer than {LONGEST}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(chunks: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u8>, bool) {
        let mut splitter = GrpcSplitter::default();
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk, |frame| found.push(frame.to_vec()));
        }
        let broken = splitter.broken().is_some();
        (found, splitter.finish(), broken)
    }

    #[test]
    fn what_is_written_is_read() {
        for (message, compressed) in [(&b""[..], false), (b"\x0a\x01a", true)] {
            let frame = write(message, compressed).unwrap();
            assert_eq!(
                parse(&frame).unwrap(),
                Frame {
                    compressed,
                    message
                }
            );
            assert!(parse(&frame[..frame.len() - 1]).is_err());
        }
    }

    #[test]
    fn every_cut_in_three_gives_the_same_frames() {
        let stream = [
            write(b"one", false).unwrap(),
            write(b"", false).unwrap(),
            write(b"two", true).unwrap(),
            vec![0, 0, 0, 0, 9, b'x'],
        ]
        .concat();
        let whole = split(&[&stream]);
        assert_eq!((whole.0.len(), whole.1.len(), whole.2), (3, 6, false));
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let chunks = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(split(&chunks), whole, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn what_is_no_frame_is_passed_on() {
        let mut junk = write(b"one", false).unwrap();
        junk.extend_from_slice(b"<html>");
        let (found, rest, broken) = split(&[&junk, b"more"]);
        assert_eq!((found.len(), found.concat().len(), broken), (3, 18, true));
        assert!(rest.is_empty());
    }

    #[test]
    fn a_length_beyond_the_limit_is_never_waited_for() {
        let (found, rest, broken) = split(&[&[0, 0xFF, 0xFF, 0xFF, 0xFF, 1]]);
        assert_eq!((found.len(), rest.len(), broken), (1, 0, true));
        assert!(write(&vec![0; LONGEST + 1], false).is_err());
        assert_eq!(
            write(&vec![0; LONGEST], false).unwrap().len(),
            LONGEST + PREFIX
        );
    }

    #[test]
    fn a_long_frame_in_small_chunks_is_linear() {
        let frame = write(&vec![7; 8 << 20], false).unwrap();
        let mut splitter = GrpcSplitter::default();
        let mut sizes = Vec::new();
        for chunk in frame.chunks(64) {
            splitter.feed(chunk, |found| sizes.push(found.len()));
        }
        assert_eq!((sizes, splitter.pending()), (vec![frame.len()], 0));
    }
}
