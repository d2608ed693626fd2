//! One client's connection inside a CONNECT, without sockets: TLS to either side, HTTP/1.1 between them.
//! Bytes that came go in, what they say comes out; plain bytes to send go in, bytes to write come out. What
//! becomes of an exchange is decided elsewhere, and nothing passes by itself.

mod hello;
mod terms;
mod tls;

pub use hello::{Hello, hello};
pub use terms::Terms;

use std::sync::Arc;

use crate::heads::RequestCounter;
use crate::http1::{Event, Flaw, Reader};
use tls::{Said, Tls};

/// Plain bytes of a client that may wait while its last request is answered; beyond it is not read from.
pub const HIGH_WATER: usize = 64 << 10;

/// What one side has said.
#[derive(Debug)]
pub enum Word {
    /// Its handshake is done.
    Open,
    Http(Event),
    /// A message that cannot be read; nothing behind it is.
    Flaw(Flaw),
    /// Bytes of the protocol that the connection has switched to.
    Raw(Vec<u8>),
    /// It has ended its TLS: nothing follows.
    Closed,
    /// Its TLS failed, as OpenSSL names what happened where it has a name for it.
    Failed(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

/// One side: its TLS, if it speaks any, its reader, and what is to be written to it.
struct End {
    tls: Option<Tls>,
    reader: Reader,
    out: Vec<u8>,
    closed: bool,
}

impl End {
    fn new(tls: Option<Tls>, reader: Reader) -> Self {
        let mut end = Self {
            tls,
            reader,
            out: Vec::new(),
            closed: false,
        };
        end.flush();
        end
    }

    fn flush(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.drain(&mut self.out);
        }
    }
}

/// Both sides. The server's may change between exchanges.
pub struct Tunnel {
    client: End,
    server: Option<End>,
    written: RequestCounter,
    raw: bool,
}

impl Tunnel {
    /// For a client that is shown the certificate for `name`, which `terms` must hold; None for one that
    /// speaks no TLS.
    pub fn new(terms: &Terms, name: Option<&str>) -> Result<Self, String> {
        let tls = match name {
            Some(name) => {
                let leaf = terms.leaf(name);
                let leaf =
                    leaf.ok_or_else(|| "there is no certificate for this name".to_owned())?;
                Some(Tls::server(leaf)?)
            }
            None => None,
        };
        Ok(Self {
            client: End::new(tls, Reader::requests()),
            server: None,
            written: RequestCounter::new(false),
            raw: false,
        })
    }

    /// There is a new connection to a server; with `name` TLS begins, for a certificate with that name.
    pub fn open_server(&mut self, terms: &Arc<Terms>, name: Option<&str>) -> Result<(), String> {
        let tls = match name {
            Some(name) => Some(Tls::client(terms.upstream(), name)?),
            None => None,
        };
        self.server = Some(End::new(tls, Reader::responses()));
        self.written = RequestCounter::new(false);
        Ok(())
    }

    /// Bytes came from one side; what it says with them.
    pub fn receive(&mut self, side: Side, data: &[u8]) -> Vec<Word> {
        let raw = self.raw;
        let Some(end) = self.end(side) else {
            return Vec::new();
        };
        let mut words = Vec::new();
        let Some(tls) = &mut end.tls else {
            if raw {
                words.push(Word::Raw(data.to_vec()));
            } else {
                end.reader.feed(data);
                read(&mut end.reader, &mut words);
            }
            return words;
        };
        let mut plain = Vec::new();
        let said = tls.receive(data, &mut plain);
        end.flush();
        if said.opened {
            words.push(Word::Open);
        }
        if raw && !plain.is_empty() {
            words.push(Word::Raw(plain));
        } else if !plain.is_empty() {
            end.reader.feed(&plain);
            read(&mut end.reader, &mut words);
        }
        match said {
            Said {
                failed: Some(why), ..
            } => words.push(Word::Failed(why)),
            Said { closed: true, .. } if !end.closed => {
                end.closed = true;
                words.push(Word::Closed);
            }
            _ => {}
        }
        words
    }

    /// The next message of one side is wanted; of a server, that to a `HEAD` or another request. What it has
    /// said of it already.
    pub fn next(&mut self, side: Side, to_head: bool) -> Vec<Word> {
        let mut words = Vec::new();
        if let Some(end) = self.end(side) {
            end.reader.next(to_head);
            read(&mut end.reader, &mut words);
        }
        words
    }

    /// One side's connection has ended: how the message ends that was being read. A body that only the end
    /// of the connection ends is whole where the TLS in it was ended too (RFC 9112 §9.8).
    pub fn finish(&mut self, side: Side) -> Vec<Word> {
        let mut words = Vec::new();
        let Some(end) = self.end(side) else {
            return words;
        };
        if end.reader.until_close() && end.tls.is_some() && !end.closed {
            words.push(Word::Flaw(Flaw {
                kind: crate::http1::Kind::Body,
                text: "peer closed connection without ending its TLS".to_owned(),
            }));
            return words;
        }
        loop {
            match end.reader.finish() {
                Ok(Some(event)) => words.push(Word::Http(event)),
                Ok(None) => return words,
                Err(flaw) => {
                    words.push(Word::Flaw(flaw));
                    return words;
                }
            }
            if let Ok(Some(event)) = end.reader.read() {
                words.push(Word::Http(event));
            }
        }
    }

    /// Both sides speak another protocol from here on; what each has said of it already.
    pub fn switch(&mut self) -> [Vec<u8>; 2] {
        self.raw = true;
        self.written.stop();
        let server = self.server.as_mut().map(|end| end.reader.rest());
        [self.client.reader.rest(), server.unwrap_or_default()]
    }

    /// Send plain bytes to one side; how many requests begin in what a server is sent.
    pub fn send(&mut self, side: Side, data: &[u8]) -> usize {
        let begun = match side {
            Side::Server => self.written.feed(data),
            Side::Client => 0,
        };
        let Some(end) = self.end(side) else {
            return 0;
        };
        match &mut end.tls {
            Some(tls) => tls.send(data, &mut end.out),
            None => end.out.extend_from_slice(data),
        }
        begun
    }

    /// End one side's TLS, behind all that was sent.
    pub fn close(&mut self, side: Side) {
        if let Some(End {
            tls: Some(tls),
            out,
            ..
        }) = self.end(side)
        {
            tls.close(out);
        }
    }

    /// What is to be written to one side's connection.
    pub fn take(&mut self, side: Side) -> Vec<u8> {
        self.end(side)
            .map_or_else(Vec::new, |end| std::mem::take(&mut end.out))
    }

    /// Plain bytes of one side that have not been read.
    pub fn pending(&self, side: Side) -> usize {
        match side {
            Side::Client => self.client.reader.pending(),
            Side::Server => self.server.as_ref().map_or(0, |end| end.reader.pending()),
        }
    }

    /// What one side has sent of a message that was not read.
    pub fn rest(&mut self, side: Side) -> Vec<u8> {
        self.end(side)
            .map_or_else(Vec::new, |end| end.reader.rest())
    }

    fn end(&mut self, side: Side) -> Option<&mut End> {
        match side {
            Side::Client => Some(&mut self.client),
            Side::Server => self.server.as_mut(),
        }
    }
}

fn read(reader: &mut Reader, words: &mut Vec<Word>) {
    loop {
        match reader.read() {
            Ok(Some(event)) => words.push(Word::Http(event)),
            Ok(None) => return,
            Err(flaw) => {
                words.push(Word::Flaw(flaw));
                return;
            }
        }
    }
}
