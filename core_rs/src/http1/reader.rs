//! One direction of a connection: one message after the other, each when it is asked for.

use memchr::memchr;

use super::body::{Body, Found, Framing};
use super::head::Head;
use super::{LIMIT, Lines};
use crate::heads;

/// What was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A head, and whether its message has no body.
    Head(Head, bool),
    /// An interim response (1xx but 101); the response is still to come.
    Interim(Head),
    /// Part of the body; never empty.
    Data(Vec<u8>),
    Trailers(Lines),
    /// The message is whole. Nothing more is read before the next one is asked for.
    End,
}

/// What is wrong with a message; nothing can be read behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flaw {
    pub kind: Kind,
    /// In words that quote no traffic.
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A head that may not be read.
    Head,
    /// A head of more than `LIMIT` bytes.
    Large,
    /// A body that may not be read, or is cut short.
    Body,
}

enum State {
    /// No message is wanted.
    Idle,
    Head,
    Body(Body),
    Ending(Lines),
    Broken(Flaw),
}

/// Reads messages of one side.
pub struct Reader {
    requests: bool,
    to_head: bool,
    state: State,
    buffer: Vec<u8>,
    at: usize,
    looked: usize,
}

impl Reader {
    /// Of a client: the first request is wanted.
    pub fn requests() -> Self {
        Self::new(true, State::Head)
    }

    /// Of a server, from whom nothing is wanted yet.
    pub fn responses() -> Self {
        Self::new(false, State::Idle)
    }

    fn new(requests: bool, state: State) -> Self {
        Self {
            requests,
            to_head: false,
            state,
            buffer: Vec::new(),
            at: 0,
            looked: 0,
        }
    }

    /// Bytes came.
    pub fn feed(&mut self, data: &[u8]) {
        if self.at > 0 && self.at * 2 > self.buffer.len() {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        self.buffer.extend_from_slice(data);
    }

    /// The next message is wanted; of a server, that to a `HEAD` or to another request.
    pub fn next(&mut self, to_head: bool) {
        if matches!(self.state, State::Idle) {
            self.to_head = to_head;
            self.state = State::Head;
        }
    }

    /// Is a message wanted, and not whole?
    pub fn reading(&self) -> bool {
        !matches!(self.state, State::Idle)
    }

    /// Is it in the middle of a body?
    pub fn in_body(&self) -> bool {
        matches!(self.state, State::Body(_))
    }

    /// Bytes that came and were not read.
    pub fn pending(&self) -> usize {
        self.buffer.len() - self.at
    }

    /// What came and was not read, for a protocol that begins here.
    pub fn rest(&mut self) -> Vec<u8> {
        let rest = self.buffer.split_off(self.at);
        self.buffer = Vec::new();
        self.at = 0;
        self.looked = 0;
        rest
    }

    /// The next event in what has come.
    pub fn read(&mut self) -> Result<Option<Event>, Flaw> {
        match &mut self.state {
            State::Idle => Ok(None),
            State::Broken(flaw) => Err(flaw.clone()),
            State::Head => self.head(),
            State::Ending(trailers) => {
                if trailers.is_empty() {
                    self.state = State::Idle;
                    return Ok(Some(Event::End));
                }
                Ok(Some(Event::Trailers(std::mem::take(trailers))))
            }
            State::Body(body) => {
                let mut out = Vec::new();
                let (taken, found) = body.read(&self.buffer[self.at..], &mut self.looked, &mut out);
                self.taken(taken);
                match found {
                    Ok(Found::More) => {}
                    Ok(Found::End(trailers)) => self.state = State::Ending(trailers),
                    Err(text) => self.broken(Kind::Body, text),
                }
                if !out.is_empty() {
                    return Ok(Some(Event::Data(out)));
                }
                match self.state {
                    State::Body(_) => Ok(None),
                    _ => self.read(),
                }
            }
        }
    }

    /// The connection has ended. Call it once `read` gives nothing more.
    pub fn finish(&mut self) -> Result<Option<Event>, Flaw> {
        if let State::Body(body) = &self.state {
            match body.finish() {
                Ok(()) => self.state = State::Ending(Vec::new()),
                Err(text) => self.broken(Kind::Body, text),
            }
            return self.read();
        }
        Ok(None)
    }

    /// Is the body one that only the end of the connection ends?
    pub fn until_close(&self) -> bool {
        matches!(self.state, State::Body(Body::UntilClose))
    }

    fn taken(&mut self, count: usize) {
        self.at += count;
        if self.at == self.buffer.len() {
            // Dropped, not cleared, where it is large: one body must not pin its memory.
            if self.buffer.capacity() > LIMIT {
                self.buffer = Vec::new();
            }
            self.buffer.clear();
            self.at = 0;
        }
    }

    fn broken(&mut self, kind: Kind, text: String) {
        self.state = State::Broken(Flaw { kind, text });
    }

    // ------------------------------------------------------------ heads

    fn head(&mut self) -> Result<Option<Event>, Flaw> {
        while self.buffer[self.at..].starts_with(b"\r\n") {
            self.at += 2; // RFC 9112 §2.2: empty lines before a head mean nothing
            self.looked = 0;
        }
        let Some(size) = self.head_size() else {
            if self.pending() > LIMIT {
                return self.large();
            }
            return Ok(None);
        };
        if size > LIMIT {
            return self.large();
        }
        let raw = self.buffer[self.at..self.at + size].to_vec();
        let checked = if self.requests {
            heads::request(&raw)
        } else {
            heads::response(&raw)
        };
        if let Err(text) = checked {
            self.broken(Kind::Head, text);
            return self.read();
        }
        self.looked = 0;
        self.taken(size);
        let head = Head::new(raw);
        let framing = if self.requests {
            head.request_framing()
        } else {
            let status = head.status();
            if (100..200).contains(&status) && status != 101 {
                return Ok(Some(Event::Interim(head)));
            }
            head.response_framing(self.to_head)
        };
        let bodiless = framing == Framing::Length(0);
        self.state = if bodiless {
            State::Ending(Vec::new())
        } else {
            State::Body(Body::new(framing))
        };
        Ok(Some(Event::Head(head, bodiless)))
    }

    fn large(&mut self) -> Result<Option<Event>, Flaw> {
        self.broken(Kind::Large, "it is larger than 64 KiB".to_owned());
        self.read()
    }

    /// How long the head in front is, once it is whole. Its lines may end as they like here, so that what
    /// another reader might take for its end is looked at, and refused.
    fn head_size(&mut self) -> Option<usize> {
        let input = &self.buffer[self.at..];
        let mut from = self.looked.min(input.len());
        while let Some(found) = memchr(b'\n', &input[from..]) {
            let end = from + found + 1;
            match &input[end..] {
                [b'\n', ..] => return Some(end + 1),
                [b'\r', b'\n', ..] => return Some(end + 2),
                [] | [b'\r'] => {
                    self.looked = end - 1;
                    return None;
                }
                _ => from = end,
            }
        }
        self.looked = input.len();
        None
    }
}
