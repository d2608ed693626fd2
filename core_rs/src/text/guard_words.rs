//! The guard's word lists.

/// Words whose exchange turns a statement round.
#[rustfmt::skip]
pub const ANTONYMS: &[(&str, &str)] = &[
    ("accept", "reject"), ("accepted", "rejected"), ("above", "below"), ("active", "inactive"),
    ("add", "remove"), ("added", "removed"), ("after", "before"), ("allow", "deny"),
    ("allowed", "denied"), ("allowed", "forbidden"), ("always", "never"), ("approve", "reject"),
    ("approved", "rejected"), ("approved", "denied"), ("arrival", "departure"),
    ("available", "unavailable"), ("best", "worst"), ("better", "worse"), ("buy", "sell"),
    ("bought", "sold"), ("can", "cannot"), ("cheap", "expensive"), ("cheaper", "dearer"),
    ("confirm", "cancel"), ("confirmed", "cancelled"), ("confirmed", "canceled"),
    ("correct", "incorrect"), ("credit", "debit"), ("decrease", "increase"),
    ("decreased", "increased"), ("deposit", "withdrawal"), ("disable", "enable"),
    ("disabled", "enabled"), ("down", "up"), ("east", "west"), ("empty", "full"),
    ("enter", "leave"), ("expired", "valid"), ("fail", "succeed"), ("failed", "succeeded"),
    ("failure", "success"), ("failed", "passed"), ("fake", "genuine"), ("fall", "rise"),
    ("fell", "rose"), ("false", "true"), ("fast", "slow"), ("faster", "slower"),
    ("first", "last"), ("gain", "loss"), ("good", "bad"), ("guilty", "innocent"),
    ("high", "low"), ("higher", "lower"), ("hot", "cold"), ("include", "exclude"),
    ("included", "excluded"), ("inside", "outside"), ("legal", "illegal"), ("left", "right"),
    ("less", "more"), ("like", "unlike"), ("lock", "unlock"), ("locked", "unlocked"),
    ("lose", "win"), ("lost", "won"), ("major", "minor"), ("max", "min"),
    ("maximum", "minimum"), ("most", "least"), ("north", "south"), ("off", "on"),
    ("old", "new"), ("older", "newer"), ("online", "offline"), ("open", "closed"),
    ("opened", "closed"), ("optional", "required"), ("optional", "mandatory"),
    ("over", "under"), ("paid", "unpaid"), ("positive", "negative"), ("possible", "impossible"),
    ("present", "absent"), ("profit", "loss"), ("public", "private"),
    ("reachable", "unreachable"), ("received", "sent"), ("safe", "dangerous"),
    ("safe", "unsafe"), ("same", "different"), ("start", "stop"), ("started", "stopped"),
    ("strong", "weak"), ("supported", "unsupported"), ("with", "without"), ("yes", "no"),
    ("young", "old"), ("early", "late"), ("earlier", "later"), ("inbound", "outbound"),
    ("shipped", "returned"), ("healthy", "unhealthy"), ("secure", "insecure"),
];

#[rustfmt::skip]
pub const NEGATIONS: &[&str] = &[
    "no", "not", "never", "none", "nothing", "nobody", "nowhere", "neither", "nor", "without",
    "cannot", "hardly", "unable", "refuse", "refused", "nicht", "kein", "keine", "keinen",
    "nie", "ohne", "pas", "jamais", "aucun", "aucune", "sans", "nunca", "sin", "ningun",
    "ninguna", "non", "mai", "senza", "nao", "sem", "не", "нет",
];

#[rustfmt::skip]
pub const UNITS: &[&str] = &[
    "%", "percent", "$", "€", "£", "¥", "usd", "eur", "gbp", "jpy", "chf", "cents", "dollars",
    "euros", "pounds", "ms", "s", "sec", "second", "seconds", "min", "minute", "minutes", "h",
    "hour", "hours", "day", "days", "week", "weeks", "month", "months", "year", "years", "mm",
    "cm", "m", "km", "mi", "mile", "miles", "inch", "inches", "ft", "feet", "g", "kg", "mg",
    "lb", "lbs", "oz", "l", "ml", "c", "f", "°c", "°f", "celsius", "fahrenheit", "kb", "mb",
    "gb", "tb", "kib", "mib", "gib", "bytes", "bits", "hz", "mhz", "ghz", "w", "kw", "kwh", "v",
    "a", "am", "pm", "k", "thousand", "million", "billion", "m2", "km2", "kmh", "mph",
];

/// A number word and its value.
#[rustfmt::skip]
pub const NUMBERS: &[(&str, &str)] = &[
    ("zero", "0"), ("one", "1"), ("two", "2"), ("three", "3"), ("four", "4"), ("five", "5"),
    ("six", "6"), ("seven", "7"), ("eight", "8"), ("nine", "9"), ("ten", "10"),
    ("eleven", "11"), ("twelve", "12"), ("twenty", "20"), ("thirty", "30"), ("forty", "40"),
    ("fifty", "50"), ("hundred", "100"), ("thousand", "1000"), ("million", "1000000"),
];
