//! Orders of a list as JSON, written by hand: a page has hundreds of fields, and this is what a busy POS asks for.
//!
//! What it writes is what [`OrderItem`](super::order_view::OrderItem) serialises to, byte for byte.

use super::envelope::{PageWriter, Rendered};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::feed::{PageRequest, Scope};
use garson_store::orders::{self, OrderLine};
use uuid::Uuid;

/// More than most orders need.
const ITEM_BYTES: usize = 416;

/// A page of orders, from the rows to the bytes of the answer.
pub fn page(tx: &mut Tx<'_>, scope: Scope, request: PageRequest) -> garson_store::Result<Rendered> {
    let mut writer = PageWriter::with_room_for(request.limit + 1, ITEM_BYTES);
    let page = orders::list_lines(tx, scope, request, |order| writer.item(|out| item(out, order)))?;
    Ok(writer.finish(&page))
}

fn item(out: &mut Vec<u8>, order: &OrderLine<'_>) {
    out.extend_from_slice(br#"{"id":"#);
    id(out, &order.id.0);
    out.extend_from_slice(br#","providerOrderId":"#);
    text(out, order.provider_order_id);
    out.extend_from_slice(br#","restaurantId":"#);
    id(out, &order.restaurant_id.0);
    out.extend_from_slice(br#","provider":"#);
    text(out, order.provider);
    out.extend_from_slice(br#","shortCode":"#);
    optional(out, order.short_code, text);
    out.extend_from_slice(br#","status":"#);
    number(out, order.status.code());
    out.extend_from_slice(br#","statusName":"#);
    quoted(out, order.status.name().as_bytes());
    out.extend_from_slice(match order.is_report {
        true => br#","isReport":true,"total":"#,
        false => br#","isReport":false,"total":"#,
    });
    number(out, order.total.0);
    out.extend_from_slice(br#","currency":"#);
    text(out, order.currency);
    out.extend_from_slice(br#","paymentType":"#);
    text(out, order.payment_type);
    out.extend_from_slice(br#","placedAt":"#);
    moment(out, order.placed_at);
    out.extend_from_slice(br#","acceptBy":"#);
    optional(out, order.accept_by, moment);
    out.extend_from_slice(br#","createdAt":"#);
    moment(out, order.created_at);
    out.push(b'}');
}

fn optional<T>(out: &mut Vec<u8>, value: Option<T>, write: impl FnOnce(&mut Vec<u8>, T)) {
    match value {
        Some(value) => write(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

fn quoted(out: &mut Vec<u8>, plain: &[u8]) {
    out.push(b'"');
    out.extend_from_slice(plain);
    out.push(b'"');
}

fn id(out: &mut Vec<u8>, id: &Uuid) {
    let mut buffer = Uuid::encode_buffer();
    quoted(out, id.hyphenated().encode_lower(&mut buffer).as_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    // Without a way out of the loop, it is done for many bytes at once.
    let odd = |odd, b| odd | (b < b' ') | (b == b'"') | (b == b'\\');
    if !text.bytes().fold(false, odd) {
        quoted(out, text.as_bytes());
    } else {
        // Writing text to memory cannot fail.
        let _written = serde_json::to_writer(out, text);
    }
}

fn number(out: &mut Vec<u8>, number: i64) {
    let _written = serde_json::to_writer(out, &number);
}

fn moment(out: &mut Vec<u8>, at: Timestamp) {
    match at.text() {
        Some(text) => quoted(out, text.as_bytes()),
        None => {
            let _written = serde_json::to_writer(out, &at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Paged;
    use super::super::order_view::OrderItem;
    use super::*;
    use garson_core::id::{OrderId, RestaurantId};
    use garson_core::money::{Currency, Minor};
    use garson_core::order::Status;
    use garson_core::payment::PaymentType;
    use garson_store::feed::Page;
    use garson_store::orders::OrderSummary;
    use proptest::prelude::*;

    fn an_order() -> impl Strategy<Value = OrderSummary> {
        let statuses: Vec<Status> = (0..2_000).filter_map(Status::from_code).collect();
        let moments = || any::<i64>().prop_map(Timestamp::from_millis);
        let usual = || (-10_000_000_000_000i64..10_000_000_000_000).prop_map(Timestamp::from_millis);
        (
            (any::<u128>(), any::<u128>(), any::<i64>(), any::<bool>()),
            (
                any::<String>(),
                any::<Option<String>>(),
                prop::sample::select(statuses),
            ),
            (usual(), prop::option::of(moments()), usual()),
        )
            .prop_map(
                |((id, restaurant, total, is_report), (name, code, status), times)| OrderSummary {
                    place: 1,
                    id: OrderId(Uuid::from_u128(id)),
                    restaurant_id: RestaurantId(Uuid::from_u128(restaurant)),
                    provider: "direct".parse().unwrap(),
                    provider_order_id: name,
                    short_code: code,
                    status,
                    is_report,
                    total: Minor(total),
                    currency: Currency::TRY,
                    payment_type: PaymentType::named("cash").unwrap(),
                    placed_at: times.0,
                    accept_by: times.1,
                    created_at: times.2,
                },
            )
    }

    fn line(order: &OrderSummary) -> OrderLine<'_> {
        OrderLine {
            id: order.id,
            restaurant_id: order.restaurant_id,
            provider: order.provider.as_str(),
            provider_order_id: &order.provider_order_id,
            short_code: order.short_code.as_deref(),
            status: order.status,
            is_report: order.is_report,
            total: order.total,
            currency: order.currency.as_str(),
            payment_type: order.payment_type.as_str(),
            placed_at: order.placed_at,
            accept_by: order.accept_by,
            created_at: order.created_at,
        }
    }

    proptest! {
        #[test]
        fn is_what_the_view_serialises_to(
            mut orders in prop::collection::vec(an_order(), 0..4),
            newer in any::<bool>(),
            next in any::<Option<i64>>(),
            prev in any::<Option<i64>>(),
        ) {
            // As the lists are read: with one more behind an older page, and backwards towards newer ones.
            let mut writer = PageWriter::with_room_for(1, 1);
            let mut items: Vec<_> = orders.iter().map(|o| writer.item(|out| item(out, &line(o)))).collect();
            if newer {
                items.reverse();
                orders.reverse();
            } else {
                items.truncate(2);
                orders.truncate(2);
            }
            let rendered = writer.finish(&Page { items, next, prev });
            let orders = Page { items: orders, next, prev };
            let expected = serde_json::to_string(&Paged::new(orders, OrderItem::from)).unwrap();
            prop_assert_eq!(rendered.into_text(), expected);
        }
    }
}
