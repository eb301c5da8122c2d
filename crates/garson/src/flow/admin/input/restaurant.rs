//! What can be written about a restaurant.

use super::patch::Patch;
use super::values::{Degrees, JsonObject, Name, Prose};
use crate::flow::Fault;
use crate::net::headers::check_headers;
use garson_core::id::BusinessId;
use garson_core::restaurant::RestaurantFields;
use garson_core::secret::Secret;
use std::collections::BTreeMap;

/// In an update a missing field stays and null clears it.
#[derive(Default)]
pub struct RestaurantInput {
    /// `None` keeps it.
    pub name: Option<Name>,
    pub business_id: Patch<BusinessId>,
    pub description: Patch<Prose>,
    pub address: Patch<Prose>,
    pub lat: Patch<Degrees<90>>,
    pub lon: Patch<Degrees<180>>,
    pub config: Patch<JsonObject>,
    pub payment_matching_url: Patch<String>,
    pub payment_matching_headers: Patch<MatchingHeaders>,
}

impl RestaurantInput {
    pub fn apply(&self, fields: &mut RestaurantFields) {
        if let Some(name) = &self.name {
            name.as_str().clone_into(&mut fields.name);
        }
        self.business_id.apply(&mut fields.business_id, |id| *id);
        self.description.apply_text(&mut fields.description);
        self.address.apply_text(&mut fields.address);
        self.lat.apply(&mut fields.lat, |degrees| degrees.get());
        self.lon.apply(&mut fields.lon, |degrees| degrees.get());
        self.config
            .apply(&mut fields.config, |object| object.as_str().to_owned());
        self.payment_matching_url
            .apply(&mut fields.payment_matching_url, Clone::clone);
        let stored = fields.payment_matching_headers.clone();
        self.payment_matching_headers
            .apply(&mut fields.payment_matching_headers, |given| {
                given.unmasked(stored.as_ref())
            });
    }

    /// Would this send stored header values, which the client may not read, to an address of its choice?
    #[must_use]
    pub fn redirects_stored_headers(&self, before: &RestaurantFields) -> bool {
        let keeps_values = match &self.payment_matching_headers {
            Patch::Keep => true,
            Patch::Clear => false,
            Patch::Set(headers) => headers.0.values().any(|value| value == MASK),
        };
        let is_other_url = match &self.payment_matching_url {
            Patch::Keep | Patch::Clear => false,
            Patch::Set(url) => before.payment_matching_url.as_ref() != Some(url),
        };
        keeps_values && is_other_url && before.payment_matching_headers.is_some()
    }
}

/// Shown instead of a stored value; sent back, it keeps the value.
const MASK: &str = "***";

/// Headers for requests to the `paymentMatchingUrl`, by name.
pub struct MatchingHeaders(BTreeMap<String, String>);

impl MatchingHeaders {
    pub fn parse(headers: BTreeMap<String, String>) -> Result<Self, Fault> {
        let pairs = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        check_headers(pairs).map_err(|refusal| {
            Fault::invalid(
                format!("paymentMatchingHeaders.{}", refusal.name),
                refusal.problem,
            )
        })?;
        Ok(Self(headers))
    }

    /// The headers as JSON, with the stored value for each that is masked.
    fn unmasked(&self, stored: Option<&Secret<String>>) -> Secret<String> {
        let stored = stored.map(read_headers).unwrap_or_default();
        let mut headers = self.0.clone();
        for (name, value) in headers.iter_mut().filter(|(_, value)| *value == MASK) {
            let kept = stored.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            if let Some((_, kept)) = kept {
                value.clone_from(kept);
            }
        }
        Secret::new(serde_json::to_string(&headers).unwrap_or_default())
    }
}

fn read_headers(json: &Secret<String>) -> BTreeMap<String, String> {
    serde_json::from_str(json.expose()).unwrap_or_default()
}

/// Stored headers as JSON, with their values masked.
#[must_use]
pub fn masked_headers(stored: &Secret<String>) -> String {
    let mut headers = read_headers(stored);
    headers.values_mut().for_each(|value| MASK.clone_into(value));
    serde_json::to_string(&headers).unwrap_or_default()
}
