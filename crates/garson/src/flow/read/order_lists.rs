//! Filtered lists of orders, as summaries or with full details.

use super::period::{Moment, Period, calendar, scope};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::read::order_detail::{OrderDetail, pos_id};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::order::Status;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::lists;
use garson_store::lists::board;
use garson_store::lists::feed::{ALL_POSITIONS, Direction, Page, PageRequest, positions_between};
use garson_store::lists::order_changes::{Changes, list_changed};
use garson_store::lists::orders::OrderFilter;
use garson_store::tables::orders;
use garson_store::tables::restaurants;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

pub use garson_store::tables::order_line::OrderLine;

/// Which orders are asked for. What is empty or `None` narrows nothing.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub restaurant: Option<RestaurantId>,
    pub statuses: Vec<Status>,
    pub providers: Vec<Provider>,
    /// Those that have not come to their end, or those that have.
    pub is_open: Option<bool>,
    pub period: Period,
    pub updated_since: Option<Moment>,
}

impl Filter {
    #[must_use]
    pub fn with_statuses(statuses: &[Status]) -> Self {
        Self {
            statuses: statuses.to_vec(),
            ..Self::default()
        }
    }

    /// Does nothing but the restaurant narrow the list?
    fn is_plain(&self) -> bool {
        self.narrowed().is_none()
            && self.period.from.is_none()
            && self.period.to.is_none()
            && self.updated_since.is_none()
    }

    /// The statuses and platforms that an order may have, if not any.
    pub(crate) fn narrowed(&self) -> Option<OrderFilter> {
        if self.statuses.is_empty() && self.providers.is_empty() && self.is_open.is_none() {
            return None;
        }
        let has_status = |status: &Status| {
            (self.statuses.is_empty() || self.statuses.contains(status))
                && self.is_open.is_none_or(|is_open| is_open != status.is_over())
        };
        let known = garson_platforms::all().iter().map(|platform| platform.provider());
        let has_provider =
            |provider: &Provider| self.providers.is_empty() || self.providers.contains(provider);
        Some(OrderFilter {
            statuses: Status::ALL.into_iter().filter(has_status).collect(),
            providers: known.filter(has_provider).collect(),
        })
    }
}

/// An order of a list.
struct Listed<'a> {
    id: OrderId,
    line: &'a OrderLine<'a>,
    /// When it has changed last, in a list of changes.
    updated_at: Option<Timestamp>,
    /// Where it stands in the list.
    place: i64,
}

/// Writes the orders of a page while they are read, which saves copies of them.
pub trait OrderPageWriter: Sized {
    type Output: Send + 'static;

    /// A writer for at most so many orders.
    fn with_capacity(orders: usize) -> Self;

    /// Writes an order and returns its position. `updated_at` is given in a list of changes.
    fn write(&mut self, order: &OrderLine<'_>, updated_at: Option<Timestamp>) -> Range<usize>;

    /// Finishes the page, which has some of the written orders, in its own order.
    fn finish(self, page: &Page<Range<usize>>) -> Self::Output;
}

/// A page of the orders that are asked for, written by `W`.
pub async fn write_page<W: OrderPageWriter>(
    app: &App,
    account: AccountId,
    filter: Filter,
    request: PageRequest,
) -> Result<W::Output, Fault> {
    app.store
        .read(move |tx| {
            let mut writer = W::with_capacity(request.limit + 1);
            let page = if filter.is_plain() {
                let scope = scope(tx, account, filter.restaurant)?;
                lists::orders::list_lines(tx, scope, request, |order| writer.write(order, None))?
            } else {
                page(tx, account, &filter, request, |order| {
                    writer.write(order.line, order.updated_at)
                })?
            };
            Ok(writer.finish(&page))
        })
        .await
}

/// A page of the orders that are asked for, each made into something. Where changes since a time are asked for, they stand in the
/// order of their last change, otherwise in that of their arrival.
fn page<T>(
    tx: &mut Tx<'_>,
    account: AccountId,
    filter: &Filter,
    request: PageRequest,
    mut make: impl FnMut(&Listed<'_>) -> T,
) -> Result<Page<T>, Fault> {
    let scope = scope(tx, account, filter.restaurant)?;
    let (from, to) = filter.period.resolve(tx, account, filter.restaurant)?;
    let between = if from.is_some() || to.is_some() {
        positions_between(tx, account, from, to)?
    } else {
        Some(ALL_POSITIONS)
    };
    let Some(between) = between else {
        return Ok(Page::empty(request));
    };
    let narrowed = filter.narrowed();
    let Some(since) = &filter.updated_since else {
        let make = |place, id, line: &OrderLine<'_>| {
            make(&Listed {
                id,
                line,
                updated_at: None,
                place,
            })
        };
        return Ok(lists::orders::list_filtered(
            tx,
            scope,
            narrowed.as_ref(),
            between,
            request,
            make,
        )?);
    };
    let not_a_day = || Fault::invalid("updatedSince", FieldProblem::NotDay);
    let changes = Changes {
        since: match since {
            Moment::At(at) => *at,
            Moment::Day(day) => calendar(tx, account, filter.restaurant)?
                .start_of_day(day)
                .ok_or_else(not_a_day)?,
        },
        restaurant: filter.restaurant,
        filter: narrowed.as_ref(),
        between,
    };
    Ok(list_changed(tx, account, &changes, request, |order| {
        make(&Listed {
            id: order.id,
            line: &order.line,
            updated_at: Some(order.updated_at),
            place: order.position,
        })
    })?)
}

/// The most characters of contents on one page. The content of most orders is a few thousand long; a page of the longest that are
/// taken would be hundreds of megabytes.
const MOST_CONTENT: i64 = 4 * 1024 * 1024;

/// A page of the orders that are asked for, with everything that is known of them. It ends early where they are very long.
pub async fn list_details(
    app: &App,
    account: AccountId,
    filter: Filter,
    request: PageRequest,
) -> Result<Page<OrderDetail>, Fault> {
    app.store
        .read(move |tx| {
            let mut found = page(tx, account, &filter, request, |order| (order.place, order.id))?;
            let ids: Vec<OrderId> = found.items.iter().map(|(_, id)| *id).collect();
            let sizes: BTreeMap<OrderId, i64> = orders::content_sizes(tx, &ids)?.into_iter().collect();
            cut(&mut found, request.direction, |(_, id)| {
                sizes.get(id).copied().unwrap_or(0)
            });
            let ids: Vec<OrderId> = found.items.iter().map(|(_, id)| *id).collect();
            let mut details = details(tx, account, &ids)?;
            Ok(Page {
                items: ids.iter().filter_map(|id| details.remove(id)).collect(),
                next: found.next,
                prev: found.prev,
            })
        })
        .await
}

/// Shortens a page to what fits, from the side at which it began, so that the next one goes on behind it.
fn cut<T>(page: &mut Page<(i64, T)>, direction: Direction, size: impl Fn(&(i64, T)) -> i64) {
    let mut room = MOST_CONTENT;
    let mut fits = |item: &(i64, T)| {
        room -= size(item);
        room > 0
    };
    match direction {
        Direction::Older => {
            let count = page.items.iter().take_while(|item| fits(item)).count().max(1);
            if count < page.items.len() {
                page.items.truncate(count);
                page.next = page.items.last().map(|(place, _)| *place);
            }
        }
        Direction::Newer => {
            let count = page
                .items
                .iter()
                .rev()
                .take_while(|item| fits(item))
                .count()
                .max(1);
            if count < page.items.len() {
                page.items.drain(..page.items.len() - count);
                page.prev = page.items.first().map(|(place, _)| *place);
            }
        }
    }
}

/// Everything that is known of these orders.
pub(crate) fn details(
    tx: &mut Tx<'_>,
    account: AccountId,
    ids: &[OrderId],
) -> Result<BTreeMap<OrderId, OrderDetail>, Fault> {
    let mut timelines: BTreeMap<OrderId, Vec<_>> = BTreeMap::new();
    for (id, line) in orders::timelines(tx, ids)? {
        timelines.entry(id).or_default().push(line);
    }
    let mut matches = BTreeMap::new();
    let mut details = BTreeMap::new();
    for found in board::read(tx, account, ids)? {
        let restaurant = found.order.restaurant_id;
        let matched = match matches.entry(restaurant) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(restaurants::payment_matches(tx, restaurant)?),
        };
        let detail = OrderDetail {
            matched_id: pos_id(matched, &found.order),
            content: found.content,
            timeline: timelines.remove(&found.order.id).unwrap_or_default(),
            order: found.order,
        };
        details.insert(detail.order.id, detail);
    }
    Ok(details)
}
