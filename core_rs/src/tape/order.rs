//! What opens and what closes on a tape, and which bodies its events name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::tape::line::{Lack, member, members, name, whole};

/// A session and a number.
pub type ExchangeId = (String, String);

/// Sizes of one side's bodies, and of the chunks that they came in.
#[derive(Default)]
pub struct Sums {
    pub bodies: i64,
    pub chunks: i64,
}

/// Sessions and exchanges that are open, each with the event that opened it, and those that ended.
#[derive(Default)]
pub struct Order {
    /// Sessions that began, and exchanges that were asked, so far.
    pub begun: usize,
    pub asked: usize,
    pub sessions: BTreeMap<String, usize>,
    pub exchanges: BTreeMap<ExchangeId, usize>,
    ended: BTreeSet<String>,
    done: BTreeSet<ExchangeId>,
    pieces: BTreeMap<ExchangeId, BTreeMap<String, Sums>>,
}

impl Order {
    /// What ended before this event of it, in words.
    pub fn after_end(&self, event: &Map<String, Value>) -> Result<Option<String>, Lack> {
        let session = name(event.get("session"))?;
        if self.ended.contains(&session) {
            return Ok(Some(format!("session {session}")));
        }
        let number = name(event.get("exchange"))?;
        let exchange = (session, number);
        let done = self.done.contains(&exchange);
        Ok(done.then(|| format!("exchange {} of session {}", exchange.1, exchange.0)))
    }

    /// Follows an event; tells each side whose chunks did not add up when its exchange ended.
    pub fn follow(
        &mut self,
        seq: usize,
        kind: &str,
        event: &Map<String, Value>,
    ) -> Result<Vec<String>, Lack> {
        if !matches!(kind, "session_start" | "session_end" | "request" | "end") {
            return Ok(Vec::new());
        }
        let session = name(Some(member(event, "session")?))?;
        match kind {
            "session_start" => {
                self.begun += 1;
                self.sessions.insert(session, seq);
            }
            "session_end" => {
                self.sessions.remove(&session);
                self.ended.insert(session);
            }
            "request" => {
                let number = name(Some(member(event, "exchange")?))?;
                self.asked += 1;
                self.exchanges.insert((session, number), seq);
            }
            _ => {
                let exchange = (session, name(Some(member(event, "exchange")?))?);
                self.exchanges.remove(&exchange);
                let pieces = self.pieces.remove(&exchange).unwrap_or_default();
                self.done.insert(exchange);
                let wrong = |(_, sums): &(String, Sums)| sums.bodies != sums.chunks;
                return Ok(pieces
                    .into_iter()
                    .filter(wrong)
                    .map(|(side, _)| side)
                    .collect());
            }
        }
        Ok(Vec::new())
    }

    /// Adds a body that came in chunks to its exchange and side.
    pub fn piece(&mut self, event: &Map<String, Value>, size: i64) -> Result<(), Lack> {
        let exchange = (
            name(Some(member(event, "session")?))?,
            name(Some(member(event, "exchange")?))?,
        );
        let side = name(Some(member(event, "side")?))?;
        let sums = self
            .pieces
            .entry(exchange)
            .or_default()
            .entry(side)
            .or_default();
        sums.bodies = sums.bodies.saturating_add(size);
        let chunks = member(members(member(event, "body")?)?, "chunks")?;
        for chunk in chunks.as_array().ok_or("`chunks` is no list")? {
            let first = chunk.get(0).ok_or("a chunk without a size")?;
            sums.chunks = sums.chunks.saturating_add(whole(first)?);
        }
        Ok(())
    }
}

/// Where the processes of a session were seen connected past the proxy, in words; `None` where they
/// were not.
pub fn bypassed(event: &Map<String, Value>) -> Result<Option<String>, Lack> {
    let none = Value::Array(Vec::new());
    let found = event.get("bypassed").unwrap_or(&none);
    let found = found.as_array().ok_or("`bypassed` is no list")?;
    let more = match event.get("bypassed_more") {
        None => 0,
        Some(more) => more.as_u64().ok_or("`bypassed_more` is no count")?,
    };
    let names: Option<Vec<String>> = found.iter().map(address).collect();
    let names = names.ok_or("an address past the proxy that is none")?;
    let count = more.saturating_add(names.len() as u64);
    let told = names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    Ok((count > 0).then(|| format!("{count} addresses past the proxy: {told}")))
}

fn address(one: &Value) -> Option<String> {
    let one = one.as_object().filter(|one| one.len() == 4)?;
    let (address, port) = (one.get("address")?.as_str()?, one.get("port")?.as_u64()?);
    let host = one.get("host")?;
    one.get("transport")?.as_str()?;
    (host.is_null() || host.is_string()).then(|| format!("{address} port {port}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn chunks_that_do_not_add_up_are_told_at_the_end() {
        for (size, wrong) in [(5, 0), (6, 1)] {
            let mut order = Order::default();
            let piece = json!({"session": "a", "exchange": 1, "side": "upstream",
                               "body": {"blob": "x", "size": size, "chunks": [[2, 0], [3, 9]]}});
            order.piece(&object(piece), size).expect("a piece");
            let end = object(json!({"session": "a", "exchange": 1}));
            assert_eq!(order.after_end(&end), Ok(None));
            assert_eq!(
                order.follow(7, "end", &end).map(|found| found.len()),
                Ok(wrong)
            );
            assert!(order.after_end(&end).expect("names").is_some());
        }
    }

    #[test]
    fn an_address_has_four_members_of_their_kinds() {
        let good = json!({"address": "192.0.2.1", "host": null, "port": 443, "transport": "tcp"});
        let told = |value: Value| bypassed(&object(json!({"bypassed": [value]})));
        assert!(told(good.clone()).is_ok_and(|found| found.is_some()));
        for (name, other) in [
            ("address", json!(1)),
            ("host", json!(1)),
            ("port", json!(true)),
            ("port", json!(-1)),
            ("transport", json!(null)),
            ("more", json!(1)),
        ] {
            let mut bad = object(good.clone());
            bad.insert(name.to_owned(), other);
            assert!(told(Value::Object(bad)).is_err(), "{name}");
        }
        assert_eq!(bypassed(&object(json!({}))), Ok(None));
        assert!(bypassed(&object(json!({"bypassed_more": 3}))).is_ok_and(|found| found.is_some()));
        assert!(bypassed(&object(json!({"bypassed_more": -3}))).is_err());
    }
}
