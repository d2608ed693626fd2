//! Many anchored patterns in one lazily built automaton.
pub use regex_automata::hybrid::dfa::Cache;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::nfa::thompson;
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};

type Caches = Pool<
    Cache,
    Box<dyn Fn() -> Cache + Send + Sync + std::panic::RefUnwindSafe + std::panic::UnwindSafe>,
>;

/// All token-start patterns at once: reports every pattern that matches and where.
pub struct Automaton {
    dfa: DFA,
    caches: Caches,
}

impl std::fmt::Debug for Automaton {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Automaton({} patterns)", self.dfa.pattern_len())
    }
}

impl Automaton {
    pub fn new(patterns: &[&str]) -> Result<Self, String> {
        let dfa = DFA::builder()
            .configure(
                DFA::config()
                    .match_kind(MatchKind::All)
                    .cache_capacity(16 << 20),
            )
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .thompson(thompson::Config::new().utf8(false))
            .build_many(patterns)
            .map_err(|error| format!("{error}: {:?}", std::error::Error::source(&error)))?;
        let source = dfa.clone();
        Ok(Automaton {
            dfa,
            caches: Pool::new(Box::new(move || source.create_cache())),
        })
    }

    /// Borrows a cache for one scan.
    pub fn cache(&self) -> impl std::ops::DerefMut<Target = Cache> + '_ {
        self.caches.get()
    }

    /// Runs from `start`, at most to `limit`, and tells every (pattern, end) on the way whose end `closes`.
    pub fn run(
        &self,
        cache: &mut Cache,
        text: &[u8],
        start: usize,
        limit: usize,
        closes: impl Fn(usize) -> bool,
        mut found: impl FnMut(usize, usize),
    ) {
        let input = Input::new(text).span(start..limit).anchored(Anchored::Yes);
        let Ok(mut state) = self.dfa.start_state_forward(cache, &input) else {
            return;
        };
        for (at, byte) in text.iter().enumerate().take(limit).skip(start) {
            let Ok(next) = self.dfa.next_state(cache, state, *byte) else {
                return;
            };
            state = next;
            if state.is_tagged() {
                if state.is_match() {
                    if !closes(at) {
                        continue;
                    }
                    for index in 0..self.dfa.match_len(cache, state) {
                        found(self.dfa.match_pattern(cache, state, index).as_usize(), at);
                    }
                } else if state.is_dead() || state.is_quit() {
                    return;
                }
            }
        }
        let Ok(state) = self.dfa.next_eoi_state(cache, state) else {
            return;
        };
        if state.is_match() && closes(limit) {
            for index in 0..self.dfa.match_len(cache, state) {
                found(
                    self.dfa.match_pattern(cache, state, index).as_usize(),
                    limit,
                );
            }
        }
    }
}
