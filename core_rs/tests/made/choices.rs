//! Bytes that decide.

/// One byte for each choice; a zero where they have run out.
pub struct Choices<'a>(pub &'a [u8]);

/// One choice in so many is a rare one.
const RARE: usize = 16;
/// Bytes of a body, at most.
const LONGEST: usize = 40;

impl<'a> Choices<'a> {
    pub fn below(&mut self, end: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(*first) % end
    }

    /// Of more than a byte can say.
    pub fn wide(&mut self, end: usize) -> usize {
        (self.below(256) * 256 + self.below(256)) % end
    }

    pub fn rare(&mut self) -> bool {
        self.below(RARE) == RARE - 1
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        let at = self.below(of.len().max(1));
        of.get(at).copied()
    }

    pub fn bytes(&mut self) -> &'a [u8] {
        let size = self.below(LONGEST).min(self.0.len());
        let (taken, rest) = self.0.split_at(size);
        self.0 = rest;
        taken
    }
}
