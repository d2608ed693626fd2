//! Numbers with their units, dates and times of day, in one writing each.
use super::number::Number;
use super::units::{month, multiple, number, unit};
use super::words::Word;

/// A number of a text. Two are the same when value and measure are.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    pub value: String,
    /// The value before its unit is converted.
    pub bare: String,
    /// The measure of its unit (`s`, `m`, `usd`), `time`, `date`, or empty.
    pub measure: &'static str,
    /// As it was written.
    pub written: String,
    /// The word before it.
    pub lead: String,
    /// A bare decimal that ends in zero: `2.10` is another release than `2.1`, but no other price.
    pub zeros: bool,
    /// May be missing on the other side (`both`, `half`).
    pub soft: bool,
}

/// The quantities of a text; marks the words that they are made of.
pub fn quantities(text: &str, words: &[Word], used: &mut [bool]) -> Vec<Quantity> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let read = vague(text, words, at)
            .or_else(|| date(text, words, at))
            .or_else(|| time(text, words, at))
            .or_else(|| plain(text, words, at));
        match read {
            Some((mut quantity, count)) => {
                if at > 0 && !words[at].apart {
                    quantity.lead.clone_from(&words[at - 1].text);
                }
                used[at..at + count].iter_mut().for_each(|one| *one = true);
                found.push(quantity);
                at += count;
            }
            None => at += 1,
        }
    }
    found
}

type Read = Option<(Quantity, usize)>;

fn made(value: String, measure: &'static str, words: &[Word], text: &str) -> Quantity {
    let (from, to) = (words[0].start, words[words.len() - 1].end);
    Quantity {
        bare: value.clone(),
        value,
        measure,
        written: text.get(from..to).unwrap_or("").to_string(),
        lead: String::new(),
        zeros: false,
        soft: false,
    }
}

fn gap<'a>(text: &'a str, left: &Word, right: &Word) -> &'a str {
    text.get(left.end..right.start).unwrap_or("")
}

fn whole(word: &Word) -> Option<u32> {
    let digits = word
        .text
        .trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let tail = &word.text[digits.len()..];
    (["", "st", "nd", "rd", "th"].contains(&tail) && digits.len() <= 4)
        .then(|| digits.parse().ok())
        .flatten()
}

/// `3 May`, `3rd of May`, `May 3`, `2026-05-03`.
fn date(text: &str, words: &[Word], at: usize) -> Read {
    let rest = &words[at..];
    let day = |word: &Word| whole(word).filter(|day| (1..=31).contains(day));
    let named = |word: &Word| month(&word.text).filter(|_| word.upper);
    let made = |m: u32, d: u32, count: usize| {
        Some((
            made(format!("{m}-{d}"), "date", &rest[..count], text),
            count,
        ))
    };
    match rest {
        [a, b, c, ..] if day(a).is_some() && b.text == "of" && named(c).is_some() => {
            made(named(c)?, day(a)?, 3)
        }
        [y, m, d, ..] if y.text.len() == 4 && gap(text, y, m) == "-" && gap(text, m, d) == "-" => {
            // the year stays a number of its own, so that `3 May 2026` says the same
            whole(y).and(None)
        }
        [m, d, ..] if at > 0 && gap(text, &words[at - 1], m) == "-" && gap(text, m, d) == "-" => {
            let year = &words[at - 1];
            (year.text.len() == 4 && whole(year).is_some())
                .then(|| made(whole(m)?, day(d)?, 2))
                .flatten()
        }
        [a, b, ..] if named(b).is_some() && day(a).is_some() => made(named(b)?, day(a)?, 2),
        [a, b, ..] if named(a).is_some() && day(b).is_some() => made(named(a)?, day(b)?, 2),
        _ => None,
    }
}

/// `14:30`, `2:30 pm`, `9 am`, `half past six`, `noon`.
fn time(text: &str, words: &[Word], at: usize) -> Read {
    let rest = &words[at..];
    let made = |minutes: u32, count: usize| {
        Some((
            made(minutes.to_string(), "time", &rest[..count], text),
            count,
        ))
    };
    let hour = |word: &Word| {
        number(&word.text)
            .or_else(|| whole(word))
            .filter(|hour| *hour <= 24)
    };
    let half = |word: Option<&Word>| match word.map(|word| word.text.as_str()) {
        Some("am") => Some(0),
        Some("pm") => Some(12),
        _ => None,
    };
    if let [h, m, ..] = rest
        && gap(text, h, m) == ":"
        && m.text.len() == 2
        && let (Some(hours), Some(minutes)) = (hour(h), whole(m).filter(|minutes| *minutes < 60))
    {
        return match half(rest.get(2)) {
            Some(add) => made((hours % 12 + add) * 60 + minutes, 3),
            None => made(hours * 60 + minutes, 2),
        };
    }
    match rest {
        [h, ..] if half(rest.get(1)).is_some() && hour(h).is_some() => {
            made((hour(h)? % 12 + half(rest.get(1))?) * 60, 2)
        }
        [q, past, h, ..] if hour(h).is_some() => match (q.text.as_str(), past.text.as_str()) {
            ("half", "past") => made(hour(h)? * 60 + 30, 3),
            ("quarter", "past") => made(hour(h)? * 60 + 15, 3),
            ("quarter", "to") => made((hour(h)? * 60).saturating_sub(15), 3),
            _ => None,
        },
        _ => None,
    }
}

/// A number, the word that multiplies it, and its unit.
fn plain(text: &str, words: &[Word], at: usize) -> Read {
    let word = &words[at];
    let before = text.get(..word.start).unwrap_or("");
    let (mut value, mut count, tail) = match spelt(words, at) {
        Some((value, count)) => (Number::of(value), count, ""),
        None => {
            let cut = word
                .text
                .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
                .unwrap_or(word.text.len());
            let (digits, tail) = word.text.split_at(cut);
            if digits.is_empty()
                || !(tail.is_empty()
                    || unit(tail).is_some()
                    || multiple(tail).is_some()
                    || whole(word).is_some())
            {
                return None;
            }
            (Number::read(digits), 1, tail)
        }
    };
    let mut measure = before
        .chars()
        .rev()
        .find(|c| *c != ' ')
        .filter(|c| !c.is_alphanumeric() && !"%°".contains(*c))
        .and_then(|c| unit(c.encode_utf8(&mut [0; 4])));
    let dashed = before.ends_with(['-', '\u{2212}']);
    value.negative = dashed
        && !before
            .trim_end_matches(['-', '\u{2212}'])
            .ends_with(|c: char| c.is_alphanumeric());
    if let Some(factor) = multiple(tail) {
        value.scale(factor);
    } else {
        measure = measure.or_else(|| unit(tail));
    }
    let mut rest = words[at..].iter().skip(count);
    let mut next = rest.next();
    while let Some(factor) = next
        .filter(|word| word.text.len() > 1)
        .and_then(|word| multiple(&word.text))
    {
        value.scale(factor);
        count += 1;
        next = rest.next();
    }
    if measure.is_none() {
        let signs = text
            .get(words[at + count - 1].end..)
            .unwrap_or("")
            .trim_start()
            .chars()
            .next();
        let sign = signs
            .and_then(|c| unit(c.encode_utf8(&mut [0; 4])))
            .filter(|_| signs.is_some_and(|c| !c.is_alphanumeric()));
        let close = |word: &&Word| !word.apart && unit(&word.text).is_some();
        let named = next.filter(close).and_then(|word| unit(&word.text));
        count += usize::from(named.is_some());
        measure = match (sign, named) {
            (Some(("deg", _)), Some(scale)) => Some(scale),
            (sign, named) => sign.or(named),
        };
        if let (Some(("deg", _)), Some(scale)) = (measure, rest.next().filter(close))
            && let Some(scale) = unit(&scale.text).filter(|(name, _)| ["c", "f"].contains(name))
        {
            measure = Some(scale);
            count += 1;
        }
    } else if next.and_then(|word| unit(&word.text)).map(|one| one.0) == measure.map(|one| one.0) {
        count += 1; // `€40 euros`
    }
    let (mut measure, size) = measure.unwrap_or(("", 1.0));
    let bare = value.text();
    value.scale(size);
    if let (Some(rate), [.., last]) = (rate(measure), &words[at..at + count])
        && let Some(after) = words
            .get(at + count)
            .filter(|after| gap(text, last, after) == "/")
        && let Some(("s", span)) = unit(&after.text)
    {
        value.scale(1.0 / span);
        measure = rate;
        count += 1;
    }
    let mut quantity = made(value.text(), measure, &words[at..at + count], text);
    quantity.bare = bare;
    quantity.zeros = measure.is_empty() && value.zeros;
    Some((quantity, count))
}

/// The measure of so much a second: `50 km/h`.
fn rate(measure: &str) -> Option<&'static str> {
    match measure {
        "m" => Some("m/s"),
        "byte" => Some("byte/s"),
        "bit" => Some("bit/s"),
        "l" => Some("l/s"),
        _ => None,
    }
}

/// `both`, `half`, `twice`.
fn vague(text: &str, words: &[Word], at: usize) -> Read {
    let past = words.get(at + 1).is_some_and(|next| next.text == "past");
    let (value, measure, soft) = match words[at].text.as_str() {
        "both" => (2.0, "", true),
        "half" if !past => (50.0, "%", true),
        "twice" => (2.0, "times", false),
        _ => return None,
    };
    let mut quantity = made(Number::of(value).text(), measure, &words[at..=at], text);
    quantity.soft = soft;
    Some((quantity, 1))
}

/// Number words. `one` is as often a pronoun, so it counts as no number.
fn spelt(words: &[Word], at: usize) -> Option<(f64, usize)> {
    let first = number(&words[at].text)?;
    let next = words.get(at + 1).and_then(|word| number(&word.text));
    match (first, next) {
        (20.., Some(ones @ 1..=9)) if first % 10 == 0 => Some((f64::from(first + ones), 2)),
        (1, _) => words
            .get(at + 1)
            .filter(|word| multiple(&word.text).is_some())
            .map(|_| (1.0, 1)),
        _ => Some((f64::from(first), 1)),
    }
}
