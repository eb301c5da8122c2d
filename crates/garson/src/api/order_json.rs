//! Orders of a list as JSON, assembled from fragments that are stored with them: the request that a busy POS sends most.
//!
//! The result is what [`OrderItem`](super::order_items::OrderItem) serialises to, byte for byte.

use super::envelope::{PageWriter, Rendered};
use crate::flow::read::Page;
use crate::flow::read::order_lists::{OrderLine, OrderPageWriter};
use garson_core::time::Timestamp;
use std::ops::Range;

/// More than most orders need.
const ITEM_BYTES: usize = 416;

/// A page of orders. In a list of changes, each order has its `updatedAt`.
pub struct OrderPage(PageWriter);

impl OrderPageWriter for OrderPage {
    type Output = Rendered;

    fn with_capacity(orders: usize) -> Self {
        Self(PageWriter::with_capacity(orders, ITEM_BYTES))
    }

    fn write(&mut self, order: &OrderLine<'_>, updated_at: Option<Timestamp>) -> Range<usize> {
        self.0.item(|out| {
            item(out, order);
            if let Some(at) = updated_at {
                out.pop();
                out.extend_from_slice(br#","updatedAt":"#);
                // A timestamp always serialises.
                let _ = serde_json::to_writer(&mut *out, &at);
                out.push(b'}');
            }
        })
    }

    fn finish(self, page: &Page<Range<usize>>) -> Rendered {
        self.0.finish(page)
    }
}

/// One object from the two stored fragments, with the fields that change between them.
fn item(out: &mut Vec<u8>, order: &OrderLine<'_>) {
    out.extend_from_slice(order.head.strip_suffix('}').unwrap_or_default().as_bytes());
    out.extend_from_slice(br#","status":"#);
    // Writing a number to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, &order.status.code());
    out.extend_from_slice(br#","statusName":""#);
    out.extend_from_slice(order.status.name().as_bytes());
    out.extend_from_slice(br#"","isReport":"#);
    out.extend_from_slice(if order.is_report { b"true," } else { b"false," });
    out.extend_from_slice(order.tail.strip_prefix('{').unwrap_or_default().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Paged;
    use super::super::order_items::OrderItem;
    use super::*;
    use crate::flow::read::OrderSummary;
    use garson_core::id::{OrderId, RestaurantId};
    use garson_core::money::Minor;
    use garson_core::order::{Order, Status};
    use garson_core::payment::PaymentType;
    use garson_core::time::Timestamp;
    use garson_store::tables::order_line;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn an_order() -> impl Strategy<Value = Order> {
        let statuses: Vec<Status> = (0..2_000).filter_map(Status::from_code).collect();
        let timestamps = || any::<i64>().prop_map(Timestamp::from_millis);
        let usual = || (-10_000_000_000_000i64..10_000_000_000_000).prop_map(Timestamp::from_millis);
        (
            (any::<u128>(), any::<u128>(), any::<i64>()),
            (
                any::<String>(),
                any::<Option<String>>(),
                prop::sample::select(statuses),
                prop::sample::select(PaymentType::ALL),
            ),
            (
                usual(),
                prop::option::of(timestamps()),
                usual(),
                prop::option::of(usual()),
            ),
        )
            .prop_map(
                |((id, restaurant, total), (name, code, status, kind), times)| Order {
                    id: OrderId(Uuid::from_u128(id)),
                    restaurant_id: RestaurantId(Uuid::from_u128(restaurant)),
                    short_code: code,
                    status,
                    total: Minor(total),
                    payment_type: kind,
                    placed_at: times.0,
                    accept_by: times.1,
                    created_at: times.2,
                    reported_at: times.3,
                    ..garson_core::testing::an_order(&name)
                },
            )
    }

    fn summary(order: Order) -> OrderSummary {
        OrderSummary {
            position: 1,
            id: order.id,
            restaurant_id: order.restaurant_id,
            provider: order.provider,
            provider_order_id: order.provider_order_id,
            short_code: order.short_code,
            status: order.status,
            is_report: order.reported_at.is_some(),
            total: order.total,
            currency: order.currency,
            payment_type: order.payment_type,
            placed_at: order.placed_at,
            accept_by: order.accept_by,
            created_at: order.created_at,
        }
    }

    fn write(out: &mut Vec<u8>, order: &Order) {
        let stored = order_line::encode(order).unwrap();
        item(
            out,
            &OrderLine::new(&stored, order.status, order.reported_at.is_some()).unwrap(),
        );
    }

    proptest! {
        #[test]
        fn any_selection_is_written_in_its_order(
            orders in prop::collection::vec(an_order(), 1..5),
            selection in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        ) {
            // Like several ranges: read one after the other, then merged and cut.
            let mut writer = PageWriter::with_capacity(1, 1);
            let written: Vec<_> = orders.iter().map(|o| writer.item(|out| write(out, o))).collect();
            let selection: Vec<usize> = selection.iter().map(|n| n.index(orders.len())).collect();
            let items = selection.iter().map(|n| written[*n].clone()).collect();
            let rendered = writer.finish(&Page { items, next: None, prev: Some(0) });
            let items = selection.iter().map(|n| summary(orders[*n].clone())).collect();
            let page = Page { items, next: None, prev: Some(0) };
            let expected = serde_json::to_string(&Paged::new(page, OrderItem::from)).unwrap();
            prop_assert_eq!(rendered.into_text(), expected);
        }

        #[test]
        fn output_equals_the_serialised_view(
            mut orders in prop::collection::vec(an_order(), 0..4),
            newer in any::<bool>(),
            next in any::<Option<i64>>(),
            prev in any::<Option<i64>>(),
        ) {
            // Like lists are read: with one extra item behind an older page, and backwards towards newer ones.
            let mut writer = PageWriter::with_capacity(1, 1);
            let mut items: Vec<_> = orders.iter().map(|o| writer.item(|out| write(out, o))).collect();
            if newer {
                items.reverse();
                orders.reverse();
            } else {
                items.truncate(2);
                orders.truncate(2);
            }
            let rendered = writer.finish(&Page { items, next, prev });
            let orders = Page { items: orders.into_iter().map(summary).collect(), next, prev };
            let expected = serde_json::to_string(&Paged::new(orders, OrderItem::from)).unwrap();
            prop_assert_eq!(rendered.into_text(), expected);
        }
    }
}
