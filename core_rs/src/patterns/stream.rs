//! Scanning what arrives in pieces.
use super::engine::{MARGIN, WINDOW};
use super::{Engine, Hit, Options};

/// Holds back just enough to give, at any chunking, the hits that `Engine::scan` gives for the whole.
pub struct Stream<'e> {
    engine: &'e Engine,
    options: Options,
    held: Vec<u8>,
    /// Absolute offset of the first held byte.
    origin: usize,
    /// Absolute offset of the next window.
    base: usize,
}

impl<'e> Stream<'e> {
    pub fn new(engine: &'e Engine, options: Options) -> Self {
        Stream {
            engine,
            options,
            held: Vec::new(),
            origin: 0,
            base: 0,
        }
    }

    /// Takes the next piece; gives the hits that are final now, with absolute offsets.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<Hit> {
        self.held.extend_from_slice(chunk);
        let mut hits = Vec::new();
        while self.origin + self.held.len() > self.base + WINDOW + MARGIN {
            hits.extend(self.step());
        }
        hits
    }

    /// The end of the stream: the rest of the hits.
    pub fn finish(&mut self) -> Vec<Hit> {
        let mut hits = Vec::new();
        while self.base < self.origin + self.held.len() {
            hits.extend(self.step());
        }
        hits
    }

    fn step(&mut self) -> Vec<Hit> {
        let hits = self
            .engine
            .part(&self.held, self.origin, self.base, &self.options);
        self.base += WINDOW;
        let keep = self.base.saturating_sub(MARGIN);
        let drop = keep.saturating_sub(self.origin).min(self.held.len());
        self.held.drain(..drop);
        self.origin += drop;
        hits
    }
}
