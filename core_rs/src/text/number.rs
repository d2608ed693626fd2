//! Decimal numbers in every writing.

/// A decimal number as it is compared.
pub struct Number {
    pub negative: bool,
    /// Beyond fifteen digits, or no decimal at all (`3.4.10`): as written.
    exact: Option<String>,
    value: f64,
    /// Written with a zero at the end of its decimals.
    pub zeros: bool,
}

impl Number {
    /// A number that was spelt out.
    pub fn of(value: f64) -> Self {
        Number {
            negative: false,
            exact: None,
            value,
            zeros: false,
        }
    }

    /// `1,250.00`, `1.250,00`, `12,5`, `3.4.10`.
    pub fn read(digits: &str) -> Self {
        let digits = digits.trim_end_matches(['.', ',']);
        let groups = |sign: char| digits.split(sign).skip(1).all(|group| group.len() == 3);
        let commas = digits.contains(',');
        let points = digits.matches('.').count();
        let text = match (commas, points) {
            (true, 1) if digits.rfind('.') < digits.rfind(',') => {
                digits.replace('.', "").replace(',', ".")
            }
            (true, 0) if !groups(',') => digits.replace(',', "."),
            (true, 2..) => digits.replace('.', "").replace(',', "."),
            (true, _) => digits.replace(',', ""),
            (false, _) => digits.to_string(),
        };
        let count = text.bytes().filter(u8::is_ascii_digit).count();
        let value = text
            .parse()
            .ok()
            .filter(|_| count <= 15 && text.matches('.').count() < 2);
        Number {
            negative: false,
            zeros: text.contains('.') && text.ends_with('0'),
            exact: value
                .is_none()
                .then(|| text.trim_start_matches('0').to_string()),
            value: value.unwrap_or(0.0),
        }
    }

    /// Multiplies it, as a unit or `million` does.
    pub fn scale(&mut self, factor: f64) {
        self.value *= factor;
        if let Some(exact) = self
            .exact
            .as_mut()
            .filter(|_| (factor - 1.0).abs() > f64::EPSILON)
        {
            exact.push_str(&format!("*{factor}"));
        }
    }

    /// One text for every writing of one value.
    pub fn text(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        match &self.exact {
            Some(exact) => format!("{sign}{exact}"),
            None => format!("{sign}{:.12e}", self.value),
        }
    }
}
