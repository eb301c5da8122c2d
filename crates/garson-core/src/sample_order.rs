//! Sample orders, for tests and for the events that `garson check-receiver` sends.

use crate::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use crate::money::{Currency, Minor};
use crate::order::{
    Amount, ContentVersion, Courier, Customer, Fulfilment, FulfilmentFlags, FulfilmentType, Item, ItemOption,
    NewOrder, Order, OrderContent, OrderOwner, Payment, Status, place,
};
use crate::payment::PaymentType;
use crate::platform::Provider;
use crate::time::Timestamp;
use uuid::Uuid;

/// An order of one menu with an option, paid in cash.
#[must_use]
pub fn a_new_order(provider_order_id: &str) -> NewOrder {
    let option = ItemOption {
        group: Some("İçecek".to_owned()),
        name: "Ayran".to_owned(),
        quantity: 1,
        price: Minor(1_500),
        removed: false,
        options: Vec::new(),
    };
    let item = Item {
        id: Some("1".to_owned()),
        product_id: Some("adana".to_owned()),
        name: "Adana dürüm 🌯".to_owned(),
        quantity: 2,
        unit_price: Minor(18_000),
        total: Minor(37_500),
        note: None,
        options: vec![option],
    };
    NewOrder {
        provider_order_id: provider_order_id.to_owned(),
        identity: provider_order_id.to_owned(),
        short_code: Some("A12".to_owned()),
        status: Status::New,
        provider_status: None,
        provider_data: None,
        placed_at: Some(Timestamp::from_millis(0)),
        accept_by: None,
        scheduled_for: None,
        content: OrderContent {
            storefront: None,
            note: Some("Zile basmayın".to_owned()),
            fulfilment: Fulfilment {
                kind: FulfilmentType::Delivery,
                courier: Courier::Restaurant,
                flags: FulfilmentFlags::default(),
                promised_at: None,
                courier_pickup_at: None,
                pickup_code: None,
            },
            customer: Customer {
                name: Some("Ayşe Çağlar".to_owned()),
                ..Customer::default()
            },
            items: vec![item],
            amount: Amount {
                currency: Currency::TRY,
                subtotal: Minor(37_500),
                discount: Minor::ZERO,
                delivery_fee: Minor(2_500),
                tip: Minor::ZERO,
                total: Minor(40_000),
                discounts: Vec::new(),
                adjustment: None,
            },
            payment: Payment {
                kind: PaymentType::Cash,
                name: Some("Nakit".to_owned()),
                provider_code: None,
                is_paid: false,
                collect: Minor(40_000),
            },
            reading_notes: Vec::new(),
        },
        version: ContentVersion::default(),
    }
}

/// A new order without a real account, placed at the start of 1970.
#[must_use]
pub fn an_order(provider_order_id: &str) -> Order {
    let nil = Uuid::nil();
    let home = OrderOwner {
        account_id: AccountId(nil),
        restaurant_id: RestaurantId(nil),
        integration_id: IntegrationId(nil),
        provider: Provider::new("direct"),
    };
    place(
        OrderId(nil),
        home,
        &a_new_order(provider_order_id),
        Timestamp::default(),
        false,
        false,
    )
    .order
}
