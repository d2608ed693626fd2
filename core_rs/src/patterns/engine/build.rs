//! Compiling the catalogue: the words that are looked for, what each of them wakes, and the forms.
use super::{Engine, Form};
use crate::patterns::check::{self, Check};
use crate::patterns::gate::Words;
use crate::patterns::injection::Injection;
use crate::patterns::keyed::Keyed;
use crate::patterns::later::LaterAutomaton;
use crate::patterns::sieve::{MOST, Sieve};
use crate::patterns::word::{Border, Wanted};
use crate::patterns::{Entry, Kind};

/// What entries wait for and look like, while it is gathered.
#[derive(Default)]
struct Gathered<'a> {
    words: Words,
    contexts: Vec<Vec<u32>>,
    keys: Vec<(u32, Keyed)>,
    forms: Vec<Form>,
    /// The regular expression of each form.
    sources: Vec<&'a str>,
}

impl Engine {
    pub fn new(entries: Vec<Entry>, injection: &str) -> Result<Self, String> {
        let mut gathered = Gathered::default();
        for (index, entry) in entries.iter().enumerate() {
            gathered.context(entry);
            if entry.keyed() {
                gathered.keys(index, entry)?;
            } else {
                gathered.forms(index, entry)?;
            }
        }
        let members = gathered.members(&entries);
        let Gathered {
            mut words,
            contexts,
            keys,
            forms,
            sources,
        } = gathered;
        let automata = members.each_ref().map(|own| {
            LaterAutomaton::new(own.iter().map(|form| sources[*form].to_string()).collect())
        });
        let injection = Injection::new(injection, &mut words)?;
        let mut wakes: Vec<Vec<Keyed>> = (0..words.len()).map(|_| Vec::new()).collect();
        for (word, keyed) in keys {
            wakes[word as usize].push(keyed);
        }
        let mut contextual = vec![false; words.len()];
        for form in &forms {
            for word in &contexts[form.entry] {
                contextual[*word as usize] = true;
            }
        }
        let groups = contexts
            .iter()
            .map(|own| contexts.iter().position(|one| one == own).unwrap_or(0))
            .collect();
        let secrets = secret_words(&words, &wakes, &entries);
        let data = |word: u32| contextual[word as usize] || !wakes[word as usize].is_empty();
        let only_secret = |one: &&Wanted| {
            let of_secrets = |one: &Keyed| entries[one.entry].kind == Kind::Secrets;
            let word = one.word as usize;
            wakes[word].iter().all(of_secrets) && !contextual[word] && !injection.knows(one.word)
        };
        let beginnings = secrets
            .iter()
            .filter(only_secret)
            .filter_map(|one| Some((one.word, one.beginnings.clone()?)))
            .collect();
        Ok(Engine {
            gate: words.gate(|_| true, &beginnings)?,
            plain_gate: words.gate(data, &beginnings)?,
            sieve: Sieve::new(secrets),
            forms,
            automata,
            members,
            contextual,
            contexts,
            groups,
            wakes,
            injection,
            entries,
        })
    }
}

impl<'a> Gathered<'a> {
    /// The words around an entry's values.
    fn context(&mut self, entry: &Entry) {
        let mut own: Vec<u32> = entry
            .context
            .iter()
            .flat_map(|word| self.words.spellings(word))
            .collect();
        own.sort_unstable();
        self.contexts.push(own);
    }

    /// The words that wake an entry.
    fn keys(&mut self, index: usize, entry: &Entry) -> Result<(), String> {
        for (key, keyed) in entry.keys.iter().zip(Keyed::all(index, entry)?) {
            let border =
                match entry.value.is_empty() && entry.back == 0 && !entry.regex.contains("(?i") {
                    true => Border::Opens,
                    false => Border::Free,
                };
            let encoded = keyed.encoded(entry, key);
            self.keys.push((self.words.number(key, border), keyed));
            if let Some((start, keyed)) = encoded {
                self.keys
                    .push((self.words.number(&start, Border::Opens), keyed));
            }
        }
        Ok(())
    }

    /// The forms of an entry that no word wakes.
    fn forms(&mut self, index: usize, entry: &'a Entry) -> Result<(), String> {
        let check = check_of(entry)?;
        for (source, bare) in [(&entry.regex, false), (&entry.bare, true)] {
            if !source.is_empty() {
                self.forms.push(Form {
                    entry: index,
                    bare,
                    check,
                    proven: check::proves(&entry.check),
                });
                self.sources.push(source);
            }
        }
        Ok(())
    }

    /// The forms of each automaton (`Engine::automata`).
    fn members(&self, entries: &[Entry]) -> [Vec<usize>; 4] {
        let all = 0..self.forms.len();
        let usual = |form: &usize| entries[self.forms[*form].entry].kind.usual();
        let plain = |form: &usize| usual(form) && !self.forms[*form].bare;
        let open = |form: &usize| plain(form) && !entries[self.forms[*form].entry].gated;
        [
            all.clone().filter(usual).collect(),
            all.clone().filter(plain).collect(),
            all.clone().filter(open).collect(),
            all.collect(),
        ]
    }
}

fn check_of(entry: &Entry) -> Result<Option<Check>, String> {
    match entry.check.as_str() {
        "" => Ok(None),
        name => check::by_name(name)
            .map(Some)
            .ok_or_else(|| format!("{}: no check `{name}`", entry.id)),
    }
}

/// The words that wake entries of secrets.
fn secret_words(words: &Words, wakes: &[Vec<Keyed>], entries: &[Entry]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (word, keyed) in wakes.iter().enumerate() {
        let own: Vec<&Keyed> = keyed
            .iter()
            .filter(|one| entries[one.entry].kind == Kind::Secrets)
            .collect();
        if own.is_empty() {
            continue;
        }
        let (text, border) = words.word(word as u32);
        let beginnings = (text.len() < 4 && *border == Border::Opens)
            .then(|| own.iter().map(|one| one.beginnings(MOST)).collect())
            .flatten();
        wanted.push(Wanted {
            word: word as u32,
            text: text.as_bytes().into(),
            border: *border,
            beginnings: beginnings.map(|lists: Vec<Vec<[u8; 4]>>| lists.concat()),
        });
    }
    wanted
}
