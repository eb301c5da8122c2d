//! The customer of a package, as far as the platform shows one.

use super::super::wire::{self, Text, text};
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, join, keep};
use garson_core::order::{Address, Customer};

/// The placeholder for hidden parts of an address.
const MASKS: [&str; 2] = ["Trendyol Yemek", "TGO Yemek"];

pub fn customer(package: &wire::Package<'_>) -> Customer {
    let address = package.address.as_ref();
    let from_address = || address.and_then(|a| name(&a.first_name, &a.last_name));
    let phone = address
        .and_then(|address| shown(&address.phone, MAX_ID))
        .or_else(|| shown(&package.call_center_phone, MAX_ID));
    let pin = address.and_then(|address| shown(&address.pin_code, MAX_ID));
    // The number is never the customer's own. Who calls it is asked for the pin, or for the order where there is none.
    let code = pin
        .or_else(|| shown(&package.order_id, MAX_ID))
        .or_else(|| shown(&package.order_number, MAX_ID));
    Customer {
        name: package
            .customer
            .as_ref()
            .and_then(|person| name(&person.first_name, &person.last_name))
            .or_else(from_address),
        phone_code: phone.as_ref().and(code),
        phone,
        email: None,
        address: address.map(whole),
    }
}

fn name(first: &Option<Text<'_>>, last: &Option<Text<'_>>) -> Option<String> {
    join(&[visible(first), visible(last)], " ", MAX_NAME)
}

fn whole(address: &wire::Address<'_>) -> Address {
    Address {
        text: join(
            &[visible(&address.address1), visible(&address.address2)],
            " ",
            MAX_NOTE,
        ),
        city: shown(&address.city, MAX_NAME),
        district: shown(&address.district, MAX_NAME),
        neighbourhood: shown(&address.neighborhood, MAX_NAME),
        apartment: shown(&address.apartment_number, MAX_NAME),
        floor: shown(&address.floor, MAX_NAME),
        door: shown(&address.door_number, MAX_NAME),
        directions: shown(&address.address_description, MAX_NOTE),
        lat: degrees(&address.latitude, 90.0),
        lon: degrees(&address.longitude, 180.0),
    }
}

/// A text that is not a mask.
fn visible<'b>(value: &'b Option<Text<'_>>) -> Option<&'b str> {
    let is_mask = |value: &str| {
        let value = value.trim();
        MASKS.contains(&value) || value.bytes().all(|b| b == b'*')
    };
    text(value).filter(|value| !is_mask(value))
}

fn shown(value: &Option<Text<'_>>, max: usize) -> Option<String> {
    visible(value).and_then(|value| keep(value, max))
}

/// A valid coordinate; an invalid one is dropped, so that it does not cost the order.
fn degrees(value: &Option<Text<'_>>, most: f64) -> Option<f64> {
    text(value)?
        .trim()
        .parse()
        .ok()
        .filter(|degrees: &f64| degrees.abs() <= most)
}

/// The app in which the customer ordered, where it is another than Trendyol Go.
pub fn storefront(package: &wire::Package<'_>) -> Option<String> {
    let word = text(&package.user_information.as_ref()?.app_name)?.trim();
    match word.to_ascii_lowercase().as_str() {
        "" | "trendyol" | "trendyolgo" => None,
        // GetirYemek by Uber Eats comes over the same service.
        "galaxy" => Some("GetirYemek".to_owned()),
        "ubereats" => Some("Uber Eats".to_owned()),
        _ => keep(word, MAX_NAME),
    }
}
