//! Units: one name and one measure for every writing.

/// A unit's measure, its size in it, and its writings. Sizes are those of ISO 80000 and of the avoirdupois,
/// imperial and US customary systems.
#[rustfmt::skip]
const UNITS: &[(&str, f64, &[&str])] = &[
    ("%", 1.0, &["%", "percent", "pct"]),
    ("usd", 1.0, &["$", "usd", "dollar", "dollars", "bucks"]), ("usd", 0.01, &["cents", "cent", "¢"]),
    ("eur", 1.0, &["€", "eur", "euro", "euros"]), ("gbp", 1.0, &["£", "gbp", "pounds", "quid"]),
    ("jpy", 1.0, &["¥", "jpy", "yen"]), ("inr", 1.0, &["₹", "inr", "rupee", "rupees"]),
    ("chf", 1.0, &["chf", "francs", "franc"]), ("cad", 1.0, &["cad"]), ("aud", 1.0, &["aud"]),
    ("cny", 1.0, &["cny", "rmb", "yuan"]), ("krw", 1.0, &["₩", "krw", "won"]), ("rub", 1.0, &["₽", "rub", "rubles"]),
    ("sek", 1.0, &["sek"]), ("nok", 1.0, &["nok"]), ("dkk", 1.0, &["dkk"]), ("pln", 1.0, &["pln", "zloty"]),
    ("btc", 1.0, &["₿", "btc"]), ("try", 1.0, &["₺"]), ("ils", 1.0, &["₪"]), ("brl", 1.0, &["brl"]),
    ("s", 0.000_001, &["us", "microseconds", "microsecond"]), ("s", 0.001, &["ms", "millisecond", "milliseconds"]),
    ("s", 1.0, &["s", "sec", "secs", "second", "seconds"]), ("s", 60.0, &["min", "mins", "minute", "minutes"]),
    ("s", 3600.0, &["h", "hr", "hrs", "hour", "hours"]), ("s", 86400.0, &["d", "day", "days"]),
    ("s", 604_800.0, &["week", "weeks"]), ("month", 1.0, &["month", "months"]), ("month", 12.0, &["year", "years", "yr", "yrs"]),
    ("m", 0.001, &["mm", "millimetre", "millimetres", "millimeter", "millimeters"]),
    ("m", 0.01, &["cm", "centimetre", "centimetres", "centimeter", "centimeters"]),
    ("m", 1.0, &["m", "metre", "metres", "meter", "meters"]),
    ("m", 1000.0, &["km", "kilometre", "kilometres", "kilometer", "kilometers"]),
    ("m", 1609.344, &["mi", "mile", "miles"]), ("m", 0.0254, &["in", "inch", "inches"]),
    ("m", 0.3048, &["ft", "foot", "feet"]), ("m", 0.9144, &["yd", "yard", "yards"]),
    ("m2", 1.0, &["m2", "sqm"]), ("m2", 1_000_000.0, &["km2"]), ("m2", 10_000.0, &["ha", "hectares", "hectare"]),
    ("m2", 4_046.856_422_4, &["acre", "acres"]), ("g", 0.000_001, &["mcg", "ug", "micrograms"]),
    ("g", 0.001, &["mg", "milligram", "milligrams"]), ("g", 1.0, &["g", "gram", "grams"]),
    ("g", 1000.0, &["kg", "kilo", "kilos", "kilogram", "kilograms"]), ("g", 1_000_000.0, &["t", "tonne", "tonnes"]),
    ("g", 453.592_37, &["lb", "lbs"]), ("g", 28.349_523_125, &["oz", "ounce", "ounces"]),
    ("l", 0.001, &["ml", "millilitre", "millilitres", "milliliter", "milliliters"]),
    ("l", 1.0, &["l", "litre", "litres", "liter", "liters"]), ("gallon", 1.0, &["gal", "gallon", "gallons"]),
    ("pint", 1.0, &["pint", "pints"]), ("cup", 1.0, &["cup", "cups"]), ("tsp", 1.0, &["tsp", "teaspoon", "teaspoons"]),
    ("tbsp", 1.0, &["tbsp", "tablespoon", "tablespoons"]),
    ("c", 1.0, &["c", "celsius", "centigrade"]), ("f", 1.0, &["f", "fahrenheit"]), ("kelvin", 1.0, &["kelvin"]),
    ("deg", 1.0, &["°", "degree", "degrees"]),
    ("byte", 1.0, &["byte", "bytes"]), ("byte", 1e3, &["kb", "kilobytes"]), ("byte", 1e6, &["mb", "megabytes"]),
    ("byte", 1e9, &["gb", "gigabytes"]), ("byte", 1e12, &["tb", "terabytes"]), ("byte", 1024.0, &["kib"]),
    ("byte", 1_048_576.0, &["mib"]), ("byte", 1_073_741_824.0, &["gib"]), ("bit", 1.0, &["bit", "bits"]),
    ("bit", 1e6, &["mbit", "megabits"]), ("bit", 1e9, &["gbit", "gigabits"]),
    ("hz", 1.0, &["hz", "hertz"]), ("hz", 1e3, &["khz"]), ("hz", 1e6, &["mhz"]), ("hz", 1e9, &["ghz"]),
    ("w", 1.0, &["w", "watt", "watts"]), ("w", 1e3, &["kw", "kilowatts"]), ("wh", 1e3, &["kwh"]), ("v", 1.0, &["v", "volt", "volts"]),
    ("m/s", 1.0 / 3.6, &["kmh", "kph"]), ("mph", 1.0, &["mph"]), ("times", 1.0, &["times"]), ("dozen", 1.0, &["dozen"]),
];

/// The measure that `word` is a unit of, and its size.
pub fn unit(word: &str) -> Option<(&'static str, f64)> {
    UNITS
        .iter()
        .find(|(_, _, names)| names.contains(&word))
        .map(|(measure, size, _)| (*measure, *size))
}

/// The value of a number word.
#[rustfmt::skip]
pub fn number(word: &str) -> Option<u32> {
    const SMALL: &[&str] = &[
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ];
    const TENS: &[&str] = &["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let small = SMALL.iter().position(|known| *known == word).map(|at| at as u32);
    small.or_else(|| TENS.iter().position(|known| *known == word).map(|at| at as u32 * 10 + 20))
}

/// What a word multiplies the number before it by.
pub fn multiple(word: &str) -> Option<f64> {
    match word {
        "hundred" => Some(1e2),
        "thousand" | "k" => Some(1e3),
        "million" | "mn" | "mio" | "m" => Some(1e6),
        "billion" | "bn" => Some(1e9),
        "trillion" => Some(1e12),
        _ => None,
    }
}

/// The number of a month's name, in full or its first three letters.
#[rustfmt::skip]
pub fn month(word: &str) -> Option<u32> {
    const MONTHS: &[&str] = &[
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
        "november", "december",
    ];
    let short = if word == "sept" { "sep" } else { word };
    MONTHS
        .iter()
        .position(|name| *name == word || (short.len() == 3 && name.starts_with(short)))
        .map(|at| at as u32 + 1)
}
