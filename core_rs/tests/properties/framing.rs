//! Framings of streams: pieces and rest are the stream, and the same however it is divided.

use std::fmt::Display;

use faultwire_core::array::ArraySplitter;
use faultwire_core::eventstream::EventStreamSplitter;
use faultwire_core::grpc::GrpcSplitter;
use faultwire_core::line::LineSplitter;
use faultwire_core::sse::SseSplitter;

/// What is asked of a framing: its pieces, its rest, and whether it gave up.
pub trait Framing: Default {
    fn feed(&mut self, chunk: &[u8], emit: &mut dyn FnMut(&[u8]));
    fn finish(&mut self) -> Vec<u8>;
    fn gave_up(&self) -> bool {
        false
    }
}

impl Framing for SseSplitter {
    fn feed(&mut self, chunk: &[u8], emit: &mut dyn FnMut(&[u8])) {
        SseSplitter::feed(self, chunk, emit);
    }
    fn finish(&mut self) -> Vec<u8> {
        SseSplitter::finish(self)
    }
}

impl Framing for LineSplitter {
    fn feed(&mut self, chunk: &[u8], emit: &mut dyn FnMut(&[u8])) {
        LineSplitter::feed(self, chunk, emit);
    }
    fn finish(&mut self) -> Vec<u8> {
        LineSplitter::finish(self)
    }
}

impl Framing for EventStreamSplitter {
    fn feed(&mut self, chunk: &[u8], emit: &mut dyn FnMut(&[u8])) {
        EventStreamSplitter::feed(self, chunk, emit);
    }
    fn finish(&mut self) -> Vec<u8> {
        EventStreamSplitter::finish(self)
    }
    fn gave_up(&self) -> bool {
        self.broken().is_some()
    }
}

impl Framing for ArraySplitter {
    fn feed(&mut self, chunk: &[u8], emit: &mut dyn FnMut(&[u8])) {
        ArraySplitter::feed(self, chunk, emit);
    }
    fn finish(&mut self) -> Vec<u8> {
        ArraySplitter::finish(self)
    }
    fn gave_up(&self) -> bool {
        self.broken()
    }
}

impl Framing for GrpcSplitter {
    fn feed(&mut self, chunk: &[u8], emit: &mut dyn FnMut(&[u8])) {
        GrpcSplitter::feed(self, chunk, emit);
    }
    fn finish(&mut self) -> Vec<u8> {
        GrpcSplitter::finish(self)
    }
    fn gave_up(&self) -> bool {
        self.broken().is_some()
    }
}

#[derive(PartialEq, Debug)]
pub struct Outcome {
    pub pieces: Vec<Vec<u8>>,
    pub rest: Vec<u8>,
    pub gave_up: bool,
}

fn run<F: Framing>(chunks: &[&[u8]]) -> Outcome {
    let mut splitter = F::default();
    let mut pieces = Vec::new();
    for chunk in chunks {
        splitter.feed(chunk, &mut |piece| pieces.push(piece.to_vec()));
    }
    Outcome {
        gave_up: splitter.gave_up(),
        rest: splitter.finish(),
        pieces,
    }
}

/// The stream in one piece and in these; what the one piece gave.
pub fn divided<F: Framing>(stream: &[u8], chunks: &[&[u8]], about: impl Display) -> Outcome {
    let whole = run::<F>(&[stream]);
    let divided = run::<F>(chunks);
    for one in [&whole, &divided] {
        let joined = [one.pieces.concat(), one.rest.clone()].concat();
        assert_eq!(joined, stream, "{about}");
    }
    assert_eq!(whole.gave_up, divided.gave_up, "{about}");
    if !whole.gave_up {
        assert_eq!(whole, divided, "{about}");
    }
    whole
}
