//! Orders of a list as JSON, put together from what is stored with them: this is what a busy POS asks for.
//!
//! What it writes is what [`OrderItem`](super::order_view::OrderItem) serialises to, byte for byte.

use super::envelope::{PageWriter, Rendered};
use crate::flow::Fault;
use crate::flow::read::order_lists;
use crate::flow::read::order_lists::Filter;
use garson_core::id::AccountId;
use garson_store::Tx;
use garson_store::lists;
use garson_store::lists::feed::{PageRequest, Scope};
use garson_store::tables::order_line::OrderLine;

/// More than most orders need.
const ITEM_BYTES: usize = 416;

/// A page of orders, from the rows to the bytes of the answer.
pub fn page(tx: &mut Tx<'_>, scope: Scope, request: PageRequest) -> garson_store::Result<Rendered> {
    let mut writer = PageWriter::with_room_for(request.limit + 1, ITEM_BYTES);
    let page = lists::orders::list_lines(tx, scope, request, |order| writer.item(|out| item(out, order)))?;
    Ok(writer.finish(&page))
}

/// A page of the orders that a filter leaves, in the same way. In a list of changes, each says when it has changed.
pub fn filtered_page(
    tx: &mut Tx<'_>,
    account: AccountId,
    filter: &Filter,
    request: PageRequest,
) -> Result<Rendered, Fault> {
    let mut writer = PageWriter::with_room_for(request.limit + 1, ITEM_BYTES);
    let page = order_lists::page(tx, account, filter, request, |order| {
        writer.item(|out| {
            item(out, order.line);
            if let Some(at) = order.updated_at {
                out.pop();
                out.extend_from_slice(br#","updatedAt":"#);
                // A moment cannot fail to serialise.
                let _written = serde_json::to_writer(&mut *out, &at);
                out.push(b'}');
            }
        })
    })?;
    Ok(writer.finish(&page))
}

/// One object of the two, with the fields between them that change.
fn item(out: &mut Vec<u8>, order: &OrderLine<'_>) {
    out.extend_from_slice(order.head.strip_suffix('}').unwrap_or_default().as_bytes());
    out.extend_from_slice(br#","status":"#);
    // Writing a number to memory cannot fail.
    let _written = serde_json::to_writer(&mut *out, &order.status.code());
    out.extend_from_slice(br#","statusName":""#);
    out.extend_from_slice(order.status.name().as_bytes());
    out.extend_from_slice(match order.is_report {
        true => br#"","isReport":true,"#,
        false => br#"","isReport":false,"#,
    });
    out.extend_from_slice(order.tail.strip_prefix('{').unwrap_or_default().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Paged;
    use super::super::order_view::OrderItem;
    use super::*;
    use garson_core::id::{OrderId, RestaurantId};
    use garson_core::money::Minor;
    use garson_core::order::{Order, Status};
    use garson_core::payment::PaymentType;
    use garson_core::time::Timestamp;
    use garson_store::lists::feed::Page;
    use garson_store::lists::orders::OrderSummary;
    use garson_store::tables::order_line;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn an_order() -> impl Strategy<Value = Order> {
        let statuses: Vec<Status> = (0..2_000).filter_map(Status::from_code).collect();
        let moments = || any::<i64>().prop_map(Timestamp::from_millis);
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
                prop::option::of(moments()),
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
            // As several ranges are read: one after the other, and then merged and cut.
            let mut writer = PageWriter::with_room_for(1, 1);
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
        fn is_what_the_view_serialises_to(
            mut orders in prop::collection::vec(an_order(), 0..4),
            newer in any::<bool>(),
            next in any::<Option<i64>>(),
            prev in any::<Option<i64>>(),
        ) {
            // As the lists are read: with one more behind an older page, and backwards towards newer ones.
            let mut writer = PageWriter::with_room_for(1, 1);
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
