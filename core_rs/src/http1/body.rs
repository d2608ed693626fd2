//! Where bodies end (RFC 9112 §6 and §7).

use memchr::memchr;

use super::{LIMIT, Lines};
use crate::heads;

/// How a body is framed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    Length(u64),
    Chunked,
    /// By the end of the connection; only a response's.
    UntilClose,
}

/// How far a body has been read.
pub enum Body {
    Length { left: u64, total: u64 },
    Chunked(Chunk),
    UntilClose,
}

/// What comes next of a chunked body.
pub enum Chunk {
    /// The line with its size.
    Line,
    Data(u64),
    /// The line end behind the data.
    DataEnd,
    /// The lines of the trailer section so far, and their size.
    Trailers(Lines, usize),
}

/// What a read has found at the end of the body's bytes.
pub enum Found {
    /// There is more to come.
    More,
    End(Lines),
}

impl Body {
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::Length(total) => Self::Length { left: total, total },
            Framing::Chunked => Self::Chunked(Chunk::Line),
            Framing::UntilClose => Self::UntilClose,
        }
    }

    /// Read from `input` as much as there is: what was consumed of it, and what was found. Data is appended
    /// to `out`, also where an error follows it. `looked` counts bytes of a line that have no end yet.
    pub fn read(
        &mut self,
        input: &[u8],
        looked: &mut usize,
        out: &mut Vec<u8>,
    ) -> (usize, Result<Found, String>) {
        match self {
            Self::UntilClose => {
                out.extend_from_slice(input);
                (input.len(), Ok(Found::More))
            }
            Self::Length { left, .. } => {
                let taken = at_most(*left, input.len());
                out.extend_from_slice(&input[..taken]);
                *left -= taken as u64;
                let found = if *left == 0 {
                    Found::End(Vec::new())
                } else {
                    Found::More
                };
                (taken, Ok(found))
            }
            Self::Chunked(chunk) => {
                let mut at = 0;
                loop {
                    match chunk.step(&input[at..], looked, out) {
                        Err(flaw) => return (at, Err(flaw)),
                        Ok(Step::Wait) => return (at, Ok(Found::More)),
                        Ok(Step::Next(taken)) => at += taken,
                        Ok(Step::End(taken, trailers)) => {
                            return (at + taken, Ok(Found::End(trailers)));
                        }
                    }
                }
            }
        }
    }

    /// The connection ends here: an error where the body does not.
    pub fn finish(&self) -> Result<(), String> {
        let what = "peer closed connection without sending complete message body";
        match self {
            Self::UntilClose => Ok(()),
            Self::Length { left, total } => Err(format!(
                "{what} (received {} bytes, expected {total})",
                total - left
            )),
            Self::Chunked(_) => Err(format!("{what} (incomplete chunked read)")),
        }
    }
}

enum Step {
    Wait,
    Next(usize),
    End(usize, Lines),
}

impl Chunk {
    fn step(
        &mut self,
        input: &[u8],
        looked: &mut usize,
        out: &mut Vec<u8>,
    ) -> Result<Step, String> {
        match self {
            Self::Line => {
                let Some(line) = line(input, looked, LIMIT)? else {
                    return Ok(Step::Wait);
                };
                let size = size(line)?;
                *self = if size == 0 {
                    Self::Trailers(Lines::new(), 0)
                } else {
                    Self::Data(size)
                };
                Ok(Step::Next(line.len() + 2))
            }
            Self::Data(left) => {
                let taken = at_most(*left, input.len());
                if taken == 0 {
                    return Ok(Step::Wait);
                }
                out.extend_from_slice(&input[..taken]);
                *left -= taken as u64;
                if *left == 0 {
                    *self = Self::DataEnd;
                }
                Ok(Step::Next(taken))
            }
            Self::DataEnd => {
                if !b"\r\n".starts_with(&input[..input.len().min(2)]) {
                    return Err("a chunk does not end with CRLF".to_owned());
                }
                if input.len() < 2 {
                    return Ok(Step::Wait);
                }
                *self = Self::Line;
                Ok(Step::Next(2))
            }
            Self::Trailers(lines, size) => {
                let Some(line) = line(input, looked, LIMIT.saturating_sub(*size))? else {
                    return Ok(Step::Wait);
                };
                if line.is_empty() {
                    return Ok(Step::End(2, checked(std::mem::take(lines))?));
                }
                lines.push(field(line)?);
                *size += line.len() + 2;
                Ok(Step::Next(line.len() + 2))
            }
        }
    }
}

fn malformed(what: &str) -> String {
    format!("the trailers are malformed: {what}")
}

fn field(line: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
    if matches!(line.first(), Some(b' ' | b'\t')) {
        return Err(malformed("a field line is folded"));
    }
    let colon = memchr(b':', line).ok_or_else(|| malformed("a field line has no colon"))?;
    Ok((
        line[..colon].to_vec(),
        blanks_off(&line[colon + 1..]).to_vec(),
    ))
}

/// A whole trailer section (RFC 9112 §7.1.2), if none of its fields is about framing or routing.
fn checked(lines: Lines) -> Result<Lines, String> {
    let fields = lines.iter().map(|(name, value)| (&name[..], &value[..]));
    heads::trailers(fields, false).map_err(|flaw| malformed(&flaw))?;
    Ok(lines)
}

const TOO_LARGE: &str = "a chunk's line or the trailers are larger than 64 KiB";

/// The line in front, without its end; None while it has none. More than `room` bytes are too large.
fn line<'a>(input: &'a [u8], looked: &mut usize, room: usize) -> Result<Option<&'a [u8]>, String> {
    let from = (*looked).min(input.len());
    let end = memchr(b'\n', &input[from..]).map(|at| from + at);
    if end.unwrap_or(input.len()) > room {
        return Err(TOO_LARGE.to_owned());
    }
    let Some(end) = end else {
        *looked = input.len();
        return Ok(None);
    };
    *looked = 0;
    match input[..end].strip_suffix(b"\r") {
        Some(line) => Ok(Some(line)),
        None => Err("a line in a chunked body ends without a carriage return".to_owned()),
    }
}

/// The size of a chunk (RFC 9112 §7.1): hexadecimal digits, and extensions that nobody reads.
fn size(line: &[u8]) -> Result<u64, String> {
    let malformed = || "a chunk's size is malformed".to_owned();
    let end = line
        .iter()
        .position(|byte| !byte.is_ascii_hexdigit())
        .unwrap_or(line.len());
    let rest = blanks_off(&line[end..]);
    if !(1..=15).contains(&end) || !matches!(rest.first(), None | Some(b';')) {
        return Err(malformed());
    }
    if rest
        .iter()
        .any(|&byte| byte == 0x7f || (byte < 0x20 && byte != b'\t'))
    {
        return Err("a chunk's extension holds a control character".to_owned());
    }
    if !rest.is_empty() && line[end] != b';' {
        return Err(malformed()); // white space before an extension (RFC 9112 §7.1.1: none is sent)
    }
    let digits = std::str::from_utf8(&line[..end]).map_err(|_| malformed())?;
    u64::from_str_radix(digits, 16).map_err(|_| malformed())
}

fn blanks_off(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

fn at_most(left: u64, there: usize) -> usize {
    usize::try_from(left).unwrap_or(usize::MAX).min(there)
}
