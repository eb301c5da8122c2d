//! Migros' wire format: the order as pushed and listed, the two short messages, and the envelope.

pub mod store;

use crate::common::flag::Flag;
use crate::common::number::{Count, Kurus, Loose};
use crate::common::soft::soft;
use crate::common::timestamp::Millis;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A text that stays where it is in the message; a bare `Option<Cow>` would be copied.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// The text that is there.
pub fn text<'t>(text: &'t Option<Text<'_>>) -> Option<&'t str> {
    text.as_ref().map(|text| text.0.as_ref())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order<'a> {
    pub id: Loose,
    #[serde(borrow)]
    pub status: Option<Text<'a>>,
    #[serde(borrow)]
    pub delivery_provider: Option<Text<'a>>,
    pub store: Store,
    #[serde(borrow)]
    pub customer: Option<Customer<'a>>,
    pub prices: Prices,
    #[serde(borrow)]
    pub items: Vec<Item<'a>>,
    #[serde(borrow)]
    pub payment: Option<Payment<'a>>,
    #[serde(borrow)]
    pub extended_properties: Option<Extended<'a>>,
    pub log: Option<Log>,
}

/// The store: an object, or only its id.
pub struct Store {
    pub id: Loose,
}

#[derive(Deserialize)]
struct WholeStore {
    id: Loose,
}

impl<'de> Deserialize<'de> for Store {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StoreVisitor)
    }
}

struct StoreVisitor;

impl<'de> Visitor<'de> for StoreVisitor {
    type Value = Store;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store or its id")
    }

    fn visit_u64<E>(self, id: u64) -> Result<Store, E> {
        Ok(Store {
            id: Loose(id.to_string()),
        })
    }

    fn visit_str<E>(self, id: &str) -> Result<Store, E> {
        Ok(Store {
            id: Loose(id.to_owned()),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Store, A::Error> {
        let WholeStore { id } = WholeStore::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Store { id })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer<'a> {
    pub id: Option<Loose>,
    #[serde(borrow)]
    pub first_name: Option<Text<'a>>,
    #[serde(borrow)]
    pub last_name: Option<Text<'a>>,
    #[serde(borrow)]
    pub full_name: Option<Text<'a>>,
    pub phone_number: Option<Loose>,
    #[serde(borrow)]
    pub delivery_address: Option<Address<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address<'a> {
    #[serde(borrow)]
    pub direction: Option<Text<'a>>,
    #[serde(borrow)]
    pub detail: Option<Text<'a>>,
    #[serde(borrow)]
    pub city: Option<Named<'a>>,
    #[serde(borrow)]
    pub town: Option<Named<'a>>,
    #[serde(borrow)]
    pub district: Option<Named<'a>>,
    pub geo_location: Option<Geo>,
}

#[derive(Deserialize)]
pub struct Named<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
}

#[derive(Deserialize)]
pub struct Geo {
    pub latitude: Option<Loose>,
    pub longitude: Option<Loose>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    pub total: Price,
    pub discounted: Option<Price>,
    pub restaurant_discounted: Option<Price>,
    pub migros_discounted: Option<Price>,
}

/// `{"amountAsPenny": 100, "text": "1,00 TL"}`; the bare number has been seen too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Price(pub Option<i64>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item<'a> {
    pub id: Option<Loose>,
    pub product_id: Option<Loose>,
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    pub price: Option<Kurus>,
    /// What one piece costs; few orders have it.
    pub unit_price: Option<Kurus>,
    pub amount: Option<Count>,
    #[serde(borrow)]
    pub note: Option<Text<'a>>,
    #[serde(borrow)]
    pub options: Option<Vec<ItemOption<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemOption<'a> {
    #[serde(borrow)]
    pub header_name: Option<Text<'a>>,
    #[serde(borrow)]
    pub item_names: Option<Names<'a>>,
    pub primary_price: Option<Kurus>,
    pub unit_primary_price: Option<Kurus>,
    pub quantity: Option<Count>,
    pub excluded: Option<Flag>,
    #[serde(borrow)]
    pub sub_options: Option<Vec<ItemOption<'a>>>,
}

/// Names in one text, or as a list.
pub struct Names<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Names<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Names<'de>, E> {
        Ok(Names(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Names<'de>, E> {
        Ok(Names(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Names<'de>, A::Error> {
        let mut names = Vec::new();
        while let Some(Text(name)) = list.next_element()? {
            names.push(name);
        }
        Ok(Names(Cow::Owned(names.join(", "))))
    }
}

#[derive(Deserialize)]
pub struct Payment<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Option<PaymentKind<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentKind<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(borrow)]
    pub description: Option<Text<'a>>,
    pub is_online_payment: Option<Flag>,
    #[serde(borrow)]
    pub simplified_name: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Extended<'a> {
    #[serde(borrow)]
    pub order_note: Option<Text<'a>>,
    pub save_green: Option<Flag>,
    pub contactless_delivery: Option<Flag>,
    pub ring_door_bell: Option<Flag>,
    pub short_code: Option<Loose>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Log {
    pub created_as_ms: Option<Millis>,
}

/// The cancellation writes its names with capitals; nothing says that it always will.
#[derive(Deserialize)]
pub struct Cancelled {
    #[serde(rename = "OrderId", alias = "orderId")]
    pub order_id: Loose,
    #[serde(rename = "StoreId", alias = "storeId")]
    pub store_id: Option<Loose>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery<'a> {
    #[serde(alias = "OrderId")]
    pub order_id: Loose,
    #[serde(alias = "StoreId")]
    pub store_id: Option<Loose>,
    #[serde(borrow, alias = "Status")]
    pub status: Option<Text<'a>>,
    #[serde(borrow, alias = "DeliveryStatus")]
    pub delivery_status: Option<Text<'a>>,
    #[serde(alias = "IsCancelled")]
    pub is_cancelled: Option<Flag>,
    #[serde(borrow, alias = "DeliveryProvider")]
    pub delivery_provider: Option<Text<'a>>,
}

/// What every answer is wrapped in; `value` where the whole of it is encrypted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope<'a> {
    pub success: Option<bool>,
    #[serde(borrow)]
    pub data: Option<&'a RawValue>,
    #[serde(borrow)]
    pub error_message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub value: Option<Text<'a>>,
}

/// An encrypted value, and nothing but that.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sealed<'a> {
    #[serde(borrow)]
    pub value: Text<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Complaint<'a> {
    pub error_code: Option<Loose>,
    #[serde(borrow)]
    pub error_title: Option<Text<'a>>,
    #[serde(borrow)]
    pub error_detail: Option<Text<'a>>,
}

/// Orders below a name, for a store or for all.
#[derive(Deserialize)]
pub struct Orders<'a> {
    #[serde(borrow)]
    pub orders: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason<'a> {
    pub reason_id: Loose,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub description: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Menu<'a> {
    #[serde(borrow)]
    pub menu_header_infos: Vec<MenuHeader<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MenuHeader<'a> {
    pub id: Loose,
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(borrow)]
    pub status: Option<Text<'a>>,
    #[serde(borrow, rename = "foodMenuItemDetailsDTOs")]
    pub items: Option<Vec<MenuItem<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MenuItem<'a> {
    pub id: Option<Loose>,
    pub product_id: Option<Loose>,
    #[serde(borrow)]
    pub product_name: Option<Text<'a>>,
    #[serde(borrow)]
    pub product_description: Option<Text<'a>>,
    #[serde(borrow)]
    pub default_primary_price: Option<&'a RawValue>,
    #[serde(borrow)]
    pub default_primary_discounted_price: Option<&'a RawValue>,
    #[serde(borrow)]
    pub status: Option<Text<'a>>,
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PriceVisitor)
    }
}

struct PriceVisitor;

impl<'de> Visitor<'de> for PriceVisitor {
    type Value = Price;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount in kuruş")
    }

    fn visit_i64<E: de::Error>(self, minor: i64) -> Result<Price, E> {
        garson_core::money::Minor::checked(minor)
            .map(|minor| Price(Some(minor.0)))
            .map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, minor: u64) -> Result<Price, E> {
        self.visit_i64(i64::try_from(minor).unwrap_or(i64::MAX))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Price, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<Text<'de>>()? {
            match name.0.as_ref() {
                "amountAsPenny" => found = map.next_value::<Option<Kurus>>()?,
                _ => drop(map.next_value::<de::IgnoredAny>()?),
            }
        }
        Ok(Price(found.map(|kurus| kurus.0.0)))
    }
}
