//! How many requests a server is sent: counted in the bytes themselves, by other code than what wrote them.

/// Counts the requests in what is written to one connection. It reads as leniently as any server does,
/// so that whatever one of them may take for another request is counted.
pub struct RequestCounter {
    state: State,
    line: Vec<u8>,
    head: Head,
    last_stream: u32,
}

#[derive(Default)]
struct Head {
    length: u64,
    chunked: bool,
    lines: usize,
}

enum State {
    Between,
    Head,
    Body(u64),
    ChunkSize,
    Chunk(u64),
    Trailers,
    Preface(usize),
    Frame,
    Payload(u64),
    Other,
}

/// Bytes of a line that are kept; what matters of it is at its start.
const KEPT: usize = 256;
const PREFACE: usize = 24;
const HEADERS: u8 = 1;

impl RequestCounter {
    /// For a connection on which HTTP/1 or HTTP/2 is written from its first byte on.
    pub fn new(http2: bool) -> Self {
        let state = if http2 {
            State::Preface(PREFACE)
        } else {
            State::Between
        };
        Self {
            state,
            line: Vec::new(),
            head: Head::default(),
            last_stream: 0,
        }
    }

    /// The connection speaks another protocol from here on.
    pub fn stop(&mut self) {
        self.state = State::Other;
    }

    /// Read what was written; how many requests begin in it.
    pub fn feed(&mut self, mut data: &[u8]) -> usize {
        let mut begun = 0;
        while !data.is_empty() {
            data = match self.state {
                State::Other => return begun,
                State::Body(left) | State::Chunk(left) | State::Payload(left) => {
                    self.skip(data, left)
                }
                State::Preface(left) => {
                    let taken = left.min(data.len());
                    self.state = if taken == left {
                        State::Frame
                    } else {
                        State::Preface(left - taken)
                    };
                    &data[taken..]
                }
                State::Frame => self.frame(data, &mut begun),
                State::Between if matches!(data[0], b'\r' | b'\n') => &data[1..],
                State::Between => {
                    begun += 1;
                    self.head = Head::default();
                    self.state = State::Head;
                    data
                }
                State::Head | State::ChunkSize | State::Trailers => self.one_line(data),
            };
        }
        begun
    }

    fn skip<'a>(&mut self, data: &'a [u8], left: u64) -> &'a [u8] {
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(data.len());
        let rest = left - taken as u64;
        self.state = match self.state {
            State::Body(_) if rest == 0 => State::Between,
            State::Body(_) => State::Body(rest),
            State::Chunk(_) if rest == 0 => State::ChunkSize,
            State::Chunk(_) => State::Chunk(rest),
            _ if rest == 0 => State::Frame,
            _ => State::Payload(rest),
        };
        &data[taken..]
    }

    fn one_line<'a>(&mut self, data: &'a [u8]) -> &'a [u8] {
        let end = memchr::memchr(b'\n', data);
        let piece = &data[..end.unwrap_or(data.len())];
        let room = KEPT - self.line.len().min(KEPT);
        self.line.extend_from_slice(&piece[..piece.len().min(room)]);
        let Some(end) = end else {
            return &data[data.len()..];
        };
        let mut line = std::mem::take(&mut self.line);
        self.state = self.after(line.trim_ascii());
        line.clear();
        self.line = line;
        &data[end + 1..]
    }

    fn after(&mut self, line: &[u8]) -> State {
        match self.state {
            State::Head if line.is_empty() => {
                if self.head.chunked {
                    State::ChunkSize
                } else if self.head.length > 0 {
                    State::Body(self.head.length)
                } else {
                    State::Between
                }
            }
            State::Head => {
                self.field(line);
                State::Head
            }
            State::Trailers if line.is_empty() => State::Between,
            State::Trailers => State::Trailers,
            _ if line.is_empty() => State::ChunkSize, // what ends the chunk before
            _ => match size(line) {
                Some(0) => State::Trailers,
                Some(size) => State::Chunk(size),
                None => State::Between, // whatever this is, it is counted as another request
            },
        }
    }

    fn field(&mut self, line: &[u8]) {
        self.head.lines += 1;
        let Some(colon) = memchr::memchr(b':', line) else {
            return;
        };
        if self.head.lines == 1 {
            return;
        }
        let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let number = std::str::from_utf8(value)
                .ok()
                .and_then(|text| text.parse().ok());
            self.head.length = number.unwrap_or(0);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.head.chunked = value.to_ascii_lowercase().ends_with(b"chunked");
        }
    }

    fn frame<'a>(&mut self, data: &'a [u8], begun: &mut usize) -> &'a [u8] {
        let taken = (9 - self.line.len()).min(data.len());
        self.line.extend_from_slice(&data[..taken]);
        if self.line.len() == 9 {
            let size = u32::from_be_bytes([0, self.line[0], self.line[1], self.line[2]]);
            let stream = u32::from_be_bytes([
                self.line[5] & 0x7f,
                self.line[6],
                self.line[7],
                self.line[8],
            ]);
            if self.line[3] == HEADERS && stream > self.last_stream {
                self.last_stream = stream;
                *begun += 1;
            }
            self.line.clear();
            self.state = if size == 0 {
                State::Frame
            } else {
                State::Payload(u64::from(size))
            };
        }
        &data[taken..]
    }
}

fn size(line: &[u8]) -> Option<u64> {
    let end = line
        .iter()
        .position(|byte| !byte.is_ascii_hexdigit())
        .unwrap_or(line.len());
    let digits = std::str::from_utf8(&line[..end]).ok()?;
    u64::from_str_radix(digits, 16).ok()
}
