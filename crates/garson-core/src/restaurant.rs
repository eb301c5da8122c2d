//! A restaurant: a physical branch that takes orders, its packages and its payment matches.

use crate::calendar::{Calendar, DayEnd};
use crate::field_problem::FieldProblem;
use crate::id::{BusinessId, PackageId, RestaurantId};
use crate::integration::Integration;
use crate::payment::PaymentType;
use crate::platform::Provider;
use crate::secret::Secret;
use crate::time::{DEFAULT_TIMEZONE, Timestamp, Zone};
use serde::{Deserialize, Serialize};

/// What people write about a restaurant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestaurantFields {
    pub business_id: Option<BusinessId>,
    pub name: String,
    pub description: Option<String>,
    pub address: Option<String>,
    pub lat: Option<f64>,
    pub lon: Option<f64>,
    /// Any JSON object, kept byte for byte.
    pub config: Option<String>,
    pub payment_matching_url: Option<String>,
    /// A JSON object of header names to values; encrypted at rest.
    pub payment_matching_headers: Option<Secret<String>>,
}

/// A restaurant as it is kept.
#[derive(Clone, Debug)]
pub struct Restaurant {
    pub id: RestaurantId,
    pub fields: RestaurantFields,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub integrations: Vec<Integration>,
    pub packages: Vec<Package>,
}

/// The keys of `config` that the service itself understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub auto_verify: bool,
    pub preparation_minutes: Option<u32>,
    pub timezone: String,
    /// When a business day ends, for the summary of a day and for reports.
    pub day_ends_at: DayEnd,
    /// The values of `paymentMatchingHeaders` are not read back.
    pub mask_headers: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            auto_verify: false,
            preparation_minutes: None,
            timezone: DEFAULT_TIMEZONE.to_owned(),
            day_ends_at: DayEnd::default(),
            mask_headers: false,
        }
    }
}

/// A key of `config` that the service understands has a value that it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub key: &'static str,
    pub problem: FieldProblem,
}

impl Config {
    /// Reads the known keys of a `config` object; unknown ones are the account's own business.
    pub fn read(json: Option<&str>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        let Some(json) = json else { return Ok(config) };
        let value: serde_json::Value = serde_json::from_str(json).map_err(|_| ConfigError {
            key: "config",
            problem: FieldProblem::NotObject,
        })?;
        let known = |key: &str| value.get(key).filter(|v| !v.is_null());
        if let Some(auto) = known("autoVerify") {
            config.auto_verify = auto.as_bool().ok_or(ConfigError {
                key: "autoVerify",
                problem: FieldProblem::NotBoolean,
            })?;
        }
        if let Some(minutes) = known("preparationMinutes") {
            let minutes = whole(minutes).filter(|m| (1..=1440).contains(m));
            config.preparation_minutes = Some(minutes.ok_or(ConfigError {
                key: "preparationMinutes",
                problem: FieldProblem::NotWholeNumber { min: 1, max: 1440 },
            })?);
        }
        if let Some(mask) = known("maskPaymentMatchingHeaders") {
            config.mask_headers = mask.as_bool().ok_or(ConfigError {
                key: "maskPaymentMatchingHeaders",
                problem: FieldProblem::NotBoolean,
            })?;
        }
        if let Some(zone) = known("timezone") {
            let name = zone.as_str().filter(|name| Zone::named(name).is_some());
            name.ok_or(ConfigError {
                key: "timezone",
                problem: FieldProblem::NotTimezone,
            })?
            .clone_into(&mut config.timezone);
        }
        if let Some(end) = known("dayEndsAt") {
            config.day_ends_at = end.as_str().and_then(DayEnd::read).ok_or(ConfigError {
                key: "dayEndsAt",
                problem: FieldProblem::NotDayEnd,
            })?;
        }
        Ok(config)
    }

    /// The restaurant's timezone.
    #[must_use]
    pub fn zone(&self) -> Zone {
        Zone::named(&self.timezone).unwrap_or_else(Zone::istanbul)
    }

    /// The restaurant's business days.
    #[must_use]
    pub fn calendar(&self) -> Calendar {
        Calendar::new(self.zone(), self.day_ends_at)
    }
}

/// A whole number, as many programs write it: `15.0` is one.
fn whole(value: &serde_json::Value) -> Option<u32> {
    let text = value.is_number().then(|| value.to_string())?;
    text.strip_suffix(".0").unwrap_or(&text).parse().ok()
}

/// What a restaurant has booked: the platforms it may use, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub id: PackageId,
    pub name: String,
    /// The platforms it covers; `None` means all there are, and all that come.
    pub providers: Option<Vec<Provider>>,
    pub starts_at: Timestamp,
    pub ends_at: Option<Timestamp>,
}

impl Package {
    /// The package that a new restaurant gets: every platform, open-ended.
    #[must_use]
    pub fn open_ended(id: PackageId, now: Timestamp) -> Self {
        Self {
            id,
            name: "Standard".to_owned(),
            providers: None,
            starts_at: now,
            ends_at: None,
        }
    }

    /// Whether the package covers the platform at that time.
    #[must_use]
    pub fn covers(&self, provider: Provider, at: Timestamp) -> bool {
        self.providers
            .as_ref()
            .is_none_or(|only| only.contains(&provider))
            && self.has_begun(at)
            && !self.is_over(at)
    }

    #[must_use]
    pub fn has_begun(&self, at: Timestamp) -> bool {
        self.starts_at <= at
    }

    #[must_use]
    pub fn is_over(&self, at: Timestamp) -> bool {
        self.ends_at.is_some_and(|end| end <= at)
    }
}

/// One of the POS's own payment types, standing for a platform's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentMatch {
    pub provider: Provider,
    #[serde(rename = "type")]
    pub payment_type: Option<PaymentType>,
    pub provider_code: Option<String>,
    pub matched_id: String,
}

/// The POS's id for a payment: a match by the platform's own code wins over one by type.
#[must_use]
pub fn matched_id<'a>(
    matches: &'a [PaymentMatch],
    provider: Provider,
    payment_type: PaymentType,
    code: Option<&str>,
) -> Option<&'a str> {
    let of_provider = || matches.iter().filter(|m| m.provider == provider);
    let by_code = of_provider().find(|m| m.provider_code.is_some() && m.provider_code.as_deref() == code);
    let by_type =
        || of_provider().find(|m| m.provider_code.is_none() && m.payment_type == Some(payment_type));
    by_code.or_else(by_type).map(|m| m.matched_id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_keys_are_read_and_unknown_ones_left_alone() {
        let config = Config::read(Some(
            r#"{"autoVerify":true,"preparationMinutes":20,"timezone":"Europe/Berlin","colour":"red","maskPaymentMatchingHeaders":true,"dayEndsAt":"03:00"}"#,
        ));
        let wanted = Config {
            auto_verify: true,
            preparation_minutes: Some(20),
            timezone: "Europe/Berlin".to_owned(),
            day_ends_at: DayEnd::read("03:00").unwrap(),
            mask_headers: true,
        };
        assert_eq!(config, Ok(wanted));
        assert_eq!(Config::read(None), Ok(Config::default()));
        for fifteen in ["15", "15.0", "15.00", "1.5e1"] {
            let config = Config::read(Some(&format!(r#"{{"preparationMinutes":{fifteen}}}"#)));
            assert_eq!(config.map(|it| it.preparation_minutes), Ok(Some(15)), "{fifteen}");
        }
    }

    #[test]
    fn wrong_values_of_known_keys_are_named() {
        for (json, key) in [
            (r#"{"autoVerify":"yes"}"#, "autoVerify"),
            (r#"{"preparationMinutes":0}"#, "preparationMinutes"),
            (r#"{"preparationMinutes":15.5}"#, "preparationMinutes"),
            (r#"{"preparationMinutes":"15"}"#, "preparationMinutes"),
            (r#"{"preparationMinutes":-15}"#, "preparationMinutes"),
            (r#"{"preparationMinutes":1441}"#, "preparationMinutes"),
            (r#"{"preparationMinutes":1e20}"#, "preparationMinutes"),
            (r#"{"preparationMinutes":true}"#, "preparationMinutes"),
            (r#"{"timezone":"Mars/Olympus"}"#, "timezone"),
            (r#"{"dayEndsAt":"03:30"}"#, "dayEndsAt"),
            (r#"{"dayEndsAt":3}"#, "dayEndsAt"),
            (
                r#"{"maskPaymentMatchingHeaders":1}"#,
                "maskPaymentMatchingHeaders",
            ),
        ] {
            assert_eq!(Config::read(Some(json)).map_err(|e| e.key), Err(key), "{json}");
        }
    }

    #[test]
    fn a_match_by_code_wins_over_one_by_type() {
        let of = |payment_type, code: Option<&str>, id: &str| PaymentMatch {
            provider: Provider::new("getir"),
            payment_type,
            provider_code: code.map(str::to_owned),
            matched_id: id.to_owned(),
        };
        let matches = [
            of(Some(PaymentType::Cash), None, "type"),
            of(None, Some("7"), "code"),
        ];
        let find = |provider, code| matched_id(&matches, provider, PaymentType::Cash, code);
        assert_eq!(find(Provider::new("getir"), Some("7")), Some("code"));
        assert_eq!(find(Provider::new("getir"), Some("8")), Some("type"));
        assert_eq!(find(Provider::new("getir"), None), Some("type"));
        assert_eq!(find(Provider::new("migros"), Some("7")), None);
    }
}
