//! Getir's wire format: orders as pushed and fetched, responses to calls, and the menu.
//!
//! Only what is used is named, so that nothing else in a message can make it unreadable.

pub mod menu;
pub mod store;

use crate::common::flag::Flag;
use crate::common::number::{Count, Lira, Loose};
use crate::common::soft::soft;
use crate::common::timestamp::IsoTime;
use garson_core::json::ObjectOnly;
use garson_core::time::Timestamp;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The `deliveryType` of orders that the restaurant carries; the other, 1, is Getir's courier.
pub const OWN_COURIER: i64 = 2;

/// A text, or a number where a text is expected; borrowed from the body where it can be.
#[derive(Clone, Debug, Default)]
pub struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfText;
        impl<'de> Visitor<'de> for OfText {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }
        }
        deserializer.deserialize_any(OfText)
    }
}

/// The text itself, where there is one.
pub fn text<'b>(text: &'b Option<Text<'_>>) -> Option<&'b str> {
    text.as_ref().map(|text| &*text.0)
}

/// A text in two languages, or in whichever one it comes.
#[derive(Clone, Debug, Default, serde::Deserialize)]
pub struct Bilingual<'a> {
    #[serde(borrow)]
    tr: Option<Text<'a>>,
    #[serde(borrow)]
    en: Option<Text<'a>>,
}

/// A text in two languages; a plain text is taken too.
#[derive(Clone, Debug, Default)]
pub struct Words<'a>(Bilingual<'a>);

impl Words<'_> {
    /// In Turkish if it can be had.
    pub fn said(&self) -> Option<&str> {
        [&self.0.tr, &self.0.en]
            .into_iter()
            .filter_map(text)
            .find(|text| !text.trim().is_empty())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfWords;
        impl<'de> Visitor<'de> for OfWords {
            type Value = Words<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text in two languages")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                let tr = Some(Text(Cow::Borrowed(text)));
                Ok(Words(Bilingual { tr, en: None }))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                let tr = Some(Text(Cow::Owned(text.to_owned())));
                Ok(Words(Bilingual { tr, en: None }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Bilingual::deserialize(MapAccessDeserializer::new(map)).map(Words)
            }
        }
        deserializer.deserialize_any(OfWords)
    }
}

/// A timestamp that may be missing or empty, which mean the same.
fn timestamp<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    match Option::<Text<'de>>::deserialize(deserializer)? {
        Some(text) if !text.0.trim().is_empty() => {
            if let Some(timestamp) = since_1970(text.0.trim()) {
                return Ok(Some(timestamp));
            }
            let timestamp: Result<IsoTime, D::Error> = IsoTime::deserialize(text.0.into_deserializer());
            timestamp.map(|timestamp| Some(timestamp.0))
        }
        _ => Ok(None),
    }
}

/// A numeric timestamp: milliseconds, or seconds if it is too small for milliseconds.
fn since_1970(text: &str) -> Option<Timestamp> {
    const YEAR_1973_IN_MILLIS: i64 = 100_000_000_000;
    let number: i64 = text.parse().ok()?;
    let millis = if number < YEAR_1973_IN_MILLIS {
        number.checked_mul(1_000)?
    } else {
        number
    };
    let timestamp = Timestamp::from_millis(millis);
    timestamp.text().is_some().then_some(timestamp)
}

/// An order. Pushed ones come bare, or as the only field `foodOrder` of another object.
#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order<'a> {
    #[serde(borrow)]
    pub food_order: Option<Box<Order<'a>>>,
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    pub status: Option<Count>,
    pub is_scheduled: Option<Flag>,
    #[serde(borrow)]
    pub confirmation_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub client: Option<Client<'a>>,
    #[serde(borrow)]
    pub products: Option<Vec<Product<'a>>>,
    #[serde(borrow)]
    pub client_note: Option<Text<'a>>,
    pub total_price: Option<Lira>,
    pub total_discounted_price: Option<Lira>,
    #[serde(default, deserialize_with = "timestamp")]
    pub checkout_date: Option<Timestamp>,
    #[serde(default, deserialize_with = "timestamp")]
    pub scheduled_date: Option<Timestamp>,
    pub delivery_type: Option<Count>,
    pub is_eco_friendly: Option<Flag>,
    pub do_not_knock: Option<Flag>,
    pub drop_off_at_door: Option<Flag>,
    #[serde(borrow)]
    pub restaurant: Option<Restaurant<'a>>,
    #[serde(borrow)]
    pub payment_method: Option<Text<'a>>,
    #[serde(borrow)]
    pub payment_method_text: Option<Words<'a>>,
    #[serde(borrow)]
    pub cancel_note: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "cancel_reason")]
    pub cancel_reason: Option<CancelReason<'a>>,
}

#[derive(Debug, serde::Deserialize)]
pub struct Restaurant<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    /// Serde would accept a list of one text as a restaurant with that id.
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelReason<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub messages: Option<Words<'a>>,
    /// Who cancelled; its words are not published.
    #[serde(borrow)]
    pub cancel_source: Option<Text<'a>>,
}

/// A reason, or only its words.
fn cancel_reason<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<CancelReason<'a>>, D::Error> {
    struct OfReason;
    impl<'de> Visitor<'de> for OfReason {
        type Value = Option<CancelReason<'de>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a reason")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(CancelReason {
                id: Some(Text(Cow::Owned(text.to_owned()))),
                messages: None,
                cancel_source: None,
            }))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            CancelReason::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }
    }
    deserializer.deserialize_any(OfReason)
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Client<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    pub location: Option<Location>,
    /// Masked: a number of Getir's, a slash, and the extension of this customer.
    #[serde(borrow)]
    pub client_phone_number: Option<Text<'a>>,
    #[serde(borrow)]
    pub client_unmasked_phone_number: Option<Text<'a>>,
    #[serde(borrow)]
    pub delivery_address: Option<DeliveryAddress<'a>>,
}

#[derive(Debug, serde::Deserialize)]
pub struct Location {
    pub lat: Option<Loose>,
    pub lon: Option<Loose>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryAddress<'a> {
    #[serde(borrow)]
    pub address: Option<Text<'a>>,
    #[serde(borrow)]
    pub apt_no: Option<Text<'a>>,
    #[serde(borrow)]
    pub floor: Option<Text<'a>>,
    #[serde(borrow)]
    pub door_no: Option<Text<'a>>,
    #[serde(borrow)]
    pub city: Option<Text<'a>>,
    #[serde(borrow)]
    pub district: Option<Text<'a>>,
    #[serde(borrow)]
    pub description: Option<Text<'a>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Product<'a> {
    /// The line's own id; `product` is the menu's.
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    pub count: Option<Count>,
    #[serde(borrow)]
    pub product: Option<Text<'a>>,
    #[serde(borrow)]
    pub name: Option<Words<'a>>,
    pub price: Option<Lira>,
    pub option_price: Option<Lira>,
    pub price_with_option: Option<Lira>,
    pub total_price_with_option: Option<Lira>,
    #[serde(borrow)]
    pub option_categories: Option<Vec<OptionCategory<'a>>>,
    #[serde(borrow)]
    pub note: Option<Text<'a>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OptionCategory<'a> {
    #[serde(borrow)]
    pub name: Option<Words<'a>>,
    /// What is chosen here is left out.
    pub remove_toppings: Option<Flag>,
    #[serde(borrow)]
    pub options: Option<Vec<Chosen<'a>>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chosen<'a> {
    #[serde(borrow)]
    pub option: Option<Text<'a>>,
    #[serde(borrow)]
    pub name: Option<Words<'a>>,
    pub price: Option<Lira>,
    #[serde(borrow)]
    pub option_categories: Option<Vec<OptionCategory<'a>>>,
}

/// The answer to a log-in.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Login<'a> {
    #[serde(borrow)]
    pub token: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub restaurant_id: Option<Text<'a>>,
}

/// A reason with which an order can be cancelled.
#[derive(serde::Deserialize)]
pub struct CancelOption<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub message: Option<Words<'a>>,
}

/// The answer to a call: `result`, or what went wrong.
#[derive(Default, serde::Deserialize)]
pub struct Answer<'a> {
    #[serde(default, deserialize_with = "soft")]
    pub result: Option<Flag>,
    /// As it came: one that cannot be read is still one.
    #[serde(borrow)]
    pub code: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub error: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub message: Option<Words<'a>>,
}
