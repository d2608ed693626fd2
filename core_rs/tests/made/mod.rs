//! Tapes that choices make: sound ones are found sound, and each way in which one is bent is found.
//!
//! What follows a bent line is made to fit it, and a bent seal is signed, so that one check alone can tell.

mod bend;
mod choices;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::maker::{Tape, key, signer};
use bend::{EVENTS, SEALS};
use choices::Choices;

const SESSIONS: [&str; 2] = ["a", "b"];
/// Steps of a tape.
const STEPS: usize = 24;

/// Makes a tape of these choices and holds the verifier to what is known of it; whether it is a sound one.
pub fn judged(data: &[u8]) -> bool {
    let mut making = Making::new(data);
    making.steps();
    making.end();
    making.spoil();
    making.judge()
}

struct Making<'a> {
    choices: Choices<'a>,
    tape: Tape,
    /// Exchanges by session and number: those that have not ended, and those that have.
    open: Vec<(&'static str, usize)>,
    done: Vec<(&'static str, usize)>,
    asked: usize,
    blobs: BTreeSet<String>,
    /// Codes that must be found.
    wanted: BTreeSet<&'static str>,
    /// A line was spoilt behind everything else: something must be found.
    spoilt: bool,
}

impl<'a> Making<'a> {
    fn new(data: &'a [u8]) -> Self {
        let mut tape = Tape::opened();
        for session in SESSIONS {
            tape.event(json!({"type": "session_start", "session": session}));
        }
        Self {
            choices: Choices(data),
            tape,
            open: Vec::new(),
            done: Vec::new(),
            asked: 0,
            blobs: BTreeSet::new(),
            wanted: BTreeSet::new(),
            spoilt: false,
        }
    }

    fn steps(&mut self) {
        for _ in 0..self.choices.below(STEPS) {
            match self.choices.below(8) {
                0 | 1 => self.request(),
                2 => self.response(),
                3 => {
                    let (session, number) = self.exchange();
                    self.event(json!({"type": "trailers", "session": session, "exchange": number}));
                }
                4 => self.end_one(),
                5 => {
                    self.seal();
                }
                6 => {
                    self.event(json!({"type": "note", "text": "more"}));
                }
                _ => self.late(),
            }
        }
    }

    /// Ends what is open, and seals it.
    fn end(&mut self) {
        while !self.open.is_empty() {
            self.end_one();
        }
        for session in SESSIONS {
            self.event(json!({"type": "session_end", "session": session}));
        }
        if self.seal() && self.choices.rare() {
            self.event(json!({"type": "note", "text": "behind it"}));
            self.wanted.insert("seal_required");
        }
    }

    // ------------------------------------------------------------ steps

    fn request(&mut self) {
        self.asked += 1;
        let session = SESSIONS[self.choices.below(2)];
        self.open.push((session, self.asked));
        let body = self.body();
        self.event(
            json!({"type": "request", "session": session, "exchange": self.asked, "body": body}),
        );
    }

    /// An exchange that is open; a new one where there is none.
    fn exchange(&mut self) -> (&'static str, usize) {
        if self.open.is_empty() {
            self.request();
        }
        self.open[self.choices.below(self.open.len())]
    }

    /// A part of a response, in chunks that add up to it.
    fn response(&mut self) {
        let (session, number) = self.exchange();
        let mut body = self.body();
        let size = body["size"].as_u64().expect("a size");
        let first = self.choices.below(size as usize + 1) as u64;
        let mut rest = size - first;
        if self.choices.rare() {
            rest += 1;
            self.wanted.insert("record_malformed");
        }
        body["chunks"] = json!([[first, 0], [rest, 9]]);
        self.event(
            json!({"type": "response", "session": session, "exchange": number,
                          "side": "upstream", "body": body}),
        );
    }

    fn end_one(&mut self) {
        let (session, number) = self.exchange();
        self.open.retain(|(_, open)| *open != number);
        let kind = self.event(json!({"type": "end", "session": session, "exchange": number}));
        if kind == "end" {
            self.done.push((session, number));
        }
    }

    /// An event of an exchange that has ended, where there is one.
    fn late(&mut self) {
        if let Some((session, number)) = self.choices.pick(&self.done) {
            self.wanted.insert("event_after_end");
            self.event(json!({"type": "message", "session": session, "exchange": number}));
        }
    }

    /// Seals what is there; whether it is a sound one.
    fn seal(&mut self) -> bool {
        let (by, bend, code) = match self.choices.rare() {
            true => SEALS[self.choices.below(SEALS.len())],
            false => bend::SOUND,
        };
        self.tape.seal(&by(), bend);
        self.wanted.extend(code);
        code.is_none()
    }

    /// Adds an event, perhaps a bent one; the kind that it says.
    fn event(&mut self, mut event: Value) -> String {
        let mut spaced = false;
        if self.choices.rare() {
            let (bend, code) = EVENTS[self.choices.below(EVENTS.len())];
            spaced = bend(&mut event, &self.tape);
            self.wanted.insert(code);
        }
        let kind = event["type"].as_str().expect("a kind").to_owned();
        let mut line = self.tape.event_line(event);
        if spaced {
            line = line.replacen(',', ", ", 1);
        }
        self.tape.line(line);
        kind
    }

    /// A body; what an event says of it.
    fn body(&mut self) -> Value {
        let data = self.choices.bytes();
        let (line, mut named) = match self.choices.rare() {
            true => bend::body(&mut self.choices, data, &mut self.wanted),
            false => bend::sound(data),
        };
        if let Some(line) = line {
            self.blobs.insert(named["blob"].to_string());
            self.tape.lines.push(line);
        }
        if self.choices.rare() {
            named["size"] = json!(data.len() + 1);
            // Of a body that is not there, no size is wrong.
            let missing = named["blob"] == json!(bend::MISSING);
            self.wanted.extend((!missing).then_some("blob_mismatch"));
        }
        named
    }

    // ------------------------------------------------------------ the whole

    /// Changes a line that is there, and nothing that follows from it.
    fn spoil(&mut self) {
        if !self.choices.rare() {
            return;
        }
        self.spoilt = true;
        let at = self.choices.below(self.tape.lines.len());
        let lines = &mut self.tape.lines;
        match self.choices.below(4) {
            0 => lines.truncate(at),
            1 if lines[at].contains("\"seq\"") => drop(lines.remove(at)),
            2 if lines[at].contains("\"seq\"") => lines.insert(at, lines[at].clone()),
            // An ASCII letter stays one, so that the line is text.
            _ => {
                let place = self.choices.wide(lines[at].len());
                let mut bytes = std::mem::take(&mut lines[at]).into_bytes();
                if bytes[place].is_ascii() {
                    bytes[place] ^= 1 + self.choices.below(127) as u8;
                } else {
                    bytes.push(b' ');
                }
                lines[at] = String::from_utf8(bytes).expect("text");
            }
        }
    }

    fn judge(&self) -> bool {
        let verdict = self.tape.verdict(vec![key(&signer())], true);
        let codes: BTreeSet<_> = verdict.findings.iter().map(|found| found.code).collect();
        let sound = self.wanted.is_empty() && !self.spoilt;
        if sound {
            assert_eq!(verdict.findings, []);
            assert!(verdict.trusted);
            assert_eq!(verdict.root, self.tape.root());
            assert_eq!(verdict.events, self.tape.size());
            assert_eq!((verdict.sessions, verdict.exchanges), (2, self.asked));
            assert_eq!(verdict.blobs, self.blobs.len());
        } else if self.spoilt {
            assert!(!codes.is_empty(), "a spoilt line was not found");
        } else {
            let missed: Vec<_> = self.wanted.difference(&codes).collect();
            assert!(missed.is_empty(), "{missed:?} not found, but {codes:?}");
        }
        let nobody = self.tape.verdict(Vec::new(), true);
        assert!(!nobody.trusted && !nobody.findings.is_empty());
        sound
    }
}
