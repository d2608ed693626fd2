//! The small language of the injection patterns.
//!
//! `<ignore> ~4 <orders>` reads: a word of class `ignore`, up to four words, a word of class `orders`.
//! A space is any run of separators; everything else is a regular expression over folded text.
use std::collections::BTreeMap;

use super::lexicon::Raw;
use crate::text::fold;

/// Separators between words, and a word.
const GAP: &str = r"[^a-z0-9\x80-\xff.!?]{1,8}";
/// Separators that may be missing.
const LOOSE: &str = r"[^a-z0-9\x80-\xff]{0,8}";
const WORD: &str = r"[a-z0-9'\x80-\xff]{1,24}";

/// The regular expression of a pattern, and the classes that every match contains.
pub fn expand(
    raw: &Raw,
    words: &BTreeMap<String, Vec<String>>,
    names: &BTreeMap<&str, usize>,
) -> Result<(String, Vec<Vec<usize>>), String> {
    let mut out = String::new();
    let mut needs = Vec::new();
    let (mut depth, mut class) = (0i32, false);
    let mut rest = raw.pattern.as_str();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            ']' if class => {
                class = false;
                out.push(c)
            }
            c if class && c != '\\' => out.push(c),
            '[' => {
                class = true;
                out.push(c)
            }
            '<' if rest.starts_with(|c: char| c.is_ascii_lowercase()) && rest.contains('>') => {
                let (name, after) = rest.split_once('>').unwrap_or((rest, ""));
                let list = words
                    .get(name)
                    .ok_or_else(|| format!("{}: no class <{name}>", raw.id))?;
                out.push_str(&alternatives(list));
                if depth == 0 && !after.starts_with('?') {
                    needs.extend(names.get(name).map(|class| vec![*class]));
                }
                rest = after;
            }
            ' ' if rest.starts_with('~') => {
                let digits: String = rest[1..].chars().take_while(char::is_ascii_digit).collect();
                rest = rest[1 + digits.len()..].trim_start();
                out.push_str(&format!("{GAP}(?:{WORD}{GAP}){{0,{digits}}}"));
            }
            ' ' if rest.starts_with('?') => {
                rest = &rest[1..];
                out.push_str(LOOSE);
            }
            ' ' => out.push_str(GAP),
            '\\' => {
                out.push('\\');
                out.extend(rest.chars().next());
                rest = rest.get(1..).unwrap_or("");
            }
            '(' => {
                if depth == 0 {
                    needs.extend(choice(rest, names));
                }
                depth += 1;
                out.push(c)
            }
            ')' => {
                depth -= 1;
                out.push(c)
            }
            c if c.is_ascii() => out.push(c),
            c => out.push_str(&String::from_utf8_lossy(
                &fold(c.to_string().as_bytes()).text,
            )),
        }
    }
    Ok((out, needs))
}

/// Which set of needs a pattern begins with, if it does: its keys (`loose` = 1) or its first class or choice.
pub fn lead(raw: &Raw, names: &BTreeMap<&str, usize>, loose: usize) -> Option<usize> {
    if let Some(rest) = raw.pattern.strip_prefix('<') {
        let (name, after) = rest.split_once('>')?;
        return (names.contains_key(name) && !after.starts_with('?')).then_some(loose);
    }
    let rest = raw.pattern.strip_prefix("(?:")?;
    let close = rest.find(')')?;
    let (group, after) = rest.split_at(close);
    if group.contains('(') || after[1..].starts_with(['?', '*', '{']) {
        return None;
    }
    if group
        .split('|')
        .all(|part| part.starts_with('<') && part.ends_with('>'))
    {
        return choice(&raw.pattern[1..], names).map(|_| loose);
    }
    let literal = |part: &str| part.replace('\\', "");
    (loose == 1
        && group
            .split('|')
            .all(|part| raw.keys.contains(&literal(part))))
    .then_some(0)
}

/// The classes of a group all of whose alternatives hold one; `rest` begins after the bracket.
fn choice(rest: &str, names: &BTreeMap<&str, usize>) -> Option<Vec<usize>> {
    let (mut depth, mut start) = (0, rest.find(':').map_or(0, |at| at + 1));
    let mut found = Vec::new();
    let first = start;
    for (at, c) in rest.char_indices().skip_while(|(at, _)| *at < first) {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            '|' | ')' if depth == 0 => {
                let part = &rest[start..at];
                let (name, _) = part.split_once('<')?.1.split_once('>')?;
                found.push(*names.get(name)?);
                start = at + 1;
                if c == ')' {
                    let optional = rest[start..].starts_with(['?', '*', '{']);
                    return (!optional).then_some(found);
                }
            }
            _ => {}
        }
    }
    None
}

fn alternatives(list: &[String]) -> String {
    let mut forms: Vec<String> = list
        .iter()
        .map(|word| String::from_utf8_lossy(&fold(word.as_bytes()).text).into_owned())
        .collect();
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    let written: Vec<String> = forms
        .iter()
        .map(|form| {
            let spelt = form
                .split(' ')
                .map(regex::escape)
                .collect::<Vec<_>>()
                .join(GAP);
            if form.is_ascii() && form.starts_with(|c: char| c.is_ascii_alphabetic()) {
                format!(r"\b{spelt}\b")
            } else {
                spelt
            }
        })
        .collect();
    format!("(?:{})", written.join("|"))
}
