//! Sums of money: whole kuruş inside, the platforms' spellings outside.

use serde_json::{Value, json};

/// A decimal number of lira, as Getir and Trendyol write it.
pub(crate) fn number(kurus: i64) -> Value {
    if kurus % 100 == 0 {
        return json!(kurus / 100);
    }
    // Two decimals of a sum that fits a till are exact in the shortest form of a double.
    text(kurus).parse::<f64>().map_or(Value::Null, Value::from)
}

/// A decimal text of lira, as Delivery Hero writes it.
pub(crate) fn text(kurus: i64) -> String {
    let sign = if kurus < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", kurus.abs() / 100, kurus.abs() % 100)
}

/// A sum as people in Turkey read it.
pub(crate) fn turkish(kurus: i64) -> String {
    format!("{},{:02} TL", kurus / 100, kurus % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_their_kurus() {
        assert_eq!(number(18_990).to_string(), "189.9");
        assert_eq!(number(20_000).to_string(), "200");
        assert_eq!(text(5), "0.05");
        assert_eq!(text(-150), "-1.50");
        assert_eq!(turkish(123_450), "1234,50 TL");
    }
}
