//! Comparing JSON: order of keys and writing of numbers do not count.
use serde_json::Value;

/// One place where two documents differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// JSONPath of the place.
    pub path: String,
    /// What stands there on either side; `None` = nothing.
    pub left: Option<String>,
    pub right: Option<String>,
}

/// Changes listed at most; the counts go on.
const MOST: usize = 100;

/// The differences, and how many of how many leaves are equal.
pub fn diff(a: &Value, b: &Value) -> (Vec<Change>, usize, usize) {
    let mut walk = Walk::default();
    walk.value("$", a, b);
    (walk.changes, walk.equal, walk.total)
}

/// Numbers are equal when they have the same value: `1`, `1.0`, `1e0`.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        _ => a == b,
    }
}

#[derive(Default)]
struct Walk {
    changes: Vec<Change>,
    equal: usize,
    total: usize,
}

impl Walk {
    fn value(&mut self, path: &str, a: &Value, b: &Value) {
        match (a, b) {
            (Value::Object(x), Value::Object(y)) => {
                for (key, left) in x {
                    let place = format!("{path}.{key}");
                    match y.get(key) {
                        Some(right) => self.value(&place, left, right),
                        None => self.note(&place, Some(left), None),
                    }
                }
                for (key, right) in y.iter().filter(|(key, _)| !x.contains_key(*key)) {
                    self.note(&format!("{path}.{key}"), None, Some(right));
                }
            }
            (Value::Array(x), Value::Array(y)) => {
                for index in 0..x.len().max(y.len()) {
                    let place = format!("{path}[{index}]");
                    match (x.get(index), y.get(index)) {
                        (Some(left), Some(right)) => self.value(&place, left, right),
                        (left, right) => self.note(&place, left, right),
                    }
                }
            }
            _ if same(a, b) => {
                self.equal += 1;
                self.total += 1;
            }
            _ => self.note(path, Some(a), Some(b)),
        }
    }

    fn note(&mut self, path: &str, left: Option<&Value>, right: Option<&Value>) {
        self.total += 1;
        if self.changes.len() < MOST {
            let show = |value: Option<&Value>| value.map(Value::to_string);
            self.changes.push(Change {
                path: path.to_string(),
                left: show(left),
                right: show(right),
            });
        }
    }
}
