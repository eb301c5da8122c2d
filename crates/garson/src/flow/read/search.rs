//! Search over an account's orders, and the work behind it: what orders are found by is written when they have been taken,
//! so that nobody waits for it.

use super::period::Period;
use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::order::{Order, Status};
use garson_core::platform::Provider;
use garson_core::search::{asked, folded};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::lists::board;
use garson_store::lists::board::BoardOrder;
use garson_store::lists::feed::{Direction, PageRequest, positions_between};
use garson_store::lists::search;
use garson_store::lists::search::{SearchPage, SearchQuery};
use garson_store::tables::{orders, restaurants};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Orders in one job: a few milliseconds of the writer's time.
const CHUNK: i64 = 50;
/// Accounts that are looked at together.
const PAGE: i64 = 500;
/// What comes within this time is done together.
const GATHER: Duration = Duration::from_secs(1);
/// How often it is looked for what others have left behind.
const LOOK_AGAIN: Duration = Duration::from_secs(60);
/// Orders among which one of a code is looked for.
const SAME_CODE: usize = 100;
/// Others get so many times as much of the writer's time.
const YIELD: u32 = 5;

/// What somebody looks for.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub text: String,
    pub status: Option<Status>,
    pub provider: Option<Provider>,
    pub restaurant: Option<RestaurantId>,
    /// Days where the restaurant is.
    pub period: Period,
}

impl Question {
    /// Was something typed in which there is nothing to look for, such as `%`?
    #[must_use]
    pub fn has_no_words(&self) -> bool {
        !self.text.trim().is_empty() && asked(&self.text).is_empty()
    }
}

/// A page of what was found, newest first.
#[derive(Debug, Default)]
pub struct Answer {
    pub orders: Vec<BoardOrder>,
    pub older: Option<i64>,
    pub newer: Option<i64>,
    /// Up to here was looked, and no further for now.
    pub examined_to: Option<Timestamp>,
}

/// Looks for orders.
pub async fn orders(
    app: &App,
    account: AccountId,
    question: Question,
    request: PageRequest,
) -> Result<Answer, Fault> {
    // Whoever looks for an order that has just come finds it; when nothing can be written now, the others.
    if let Err(fault) = index(app, account).await {
        tracing::warn!(?fault, "orders could not be made ready for search");
    }
    app.store
        .read(move |tx| {
            let mut found = find(tx, account, &question, request)?;
            if request.direction == Direction::Newer && found.newer.is_none() && request.cursor.is_some() {
                // The newest ones are a whole page.
                let newest = PageRequest {
                    cursor: None,
                    direction: Direction::Older,
                    ..request
                };
                found = find(tx, account, &question, newest)?;
            }
            let mut shown = board::read(tx, account, &found.orders)?;
            shown.sort_by_key(|it| found.orders.iter().position(|id| *id == it.order.id));
            Ok(Answer {
                orders: shown,
                older: found.older,
                newer: found.newer,
                examined_to: found.examined_to,
            })
        })
        .await
}

/// The orders that carry this code, newest first. Codes are short, and come again after some time.
pub async fn by_code(app: &App, account: AccountId, code: &str) -> Result<Vec<OrderId>, Fault> {
    let question = Question {
        text: code.to_owned(),
        ..Question::default()
    };
    let request = PageRequest {
        limit: SAME_CODE,
        cursor: None,
        direction: Direction::Older,
    };
    let found = orders(app, account, question, request).await?;
    // What is found only begins like that, or is somebody's name.
    let is_meant = |order: &Order| {
        let own = order.short_code.as_deref().unwrap_or_default();
        folded(own) == folded(code)
    };
    let meant = found.orders.into_iter().filter(|it| is_meant(&it.order));
    Ok(meant.map(|it| it.order.id).collect())
}

fn find(
    tx: &mut Tx<'_>,
    account: AccountId,
    question: &Question,
    request: PageRequest,
) -> Result<SearchPage, Fault> {
    if let Ok(id) = question.text.parse::<OrderId>() {
        // Our own id is no word of an order; whoever has it means that one.
        let mut named = orders::find(tx, account, &id.to_string())?;
        named.retain(|order| question.restaurant.is_none_or(|only| only == order.restaurant_id));
        return Ok(SearchPage {
            orders: named.into_iter().map(|order| order.id).collect(),
            ..SearchPage::default()
        });
    }
    if question.has_no_words() {
        // Signs alone are in no order; without any words it would be all of them.
        return Ok(SearchPage::default());
    }
    if let Some(id) = question.restaurant
        && !restaurants::exists(tx, account, id)?
    {
        return Ok(SearchPage::default());
    }
    let (from, to) = question.period.resolve(tx, account, question.restaurant)?;
    let Some(between) = positions_between(tx, account, from, to)? else {
        return Ok(SearchPage::default());
    };
    let wanted = SearchQuery {
        words: asked(&question.text),
        statuses: question.status.into_iter().collect(),
        provider: question.provider,
        restaurant: question.restaurant,
        between,
    };
    Ok(search::find(tx, account, &wanted, request)?)
}

/// Adds the account's next orders to what search knows; `false` when there were none.
async fn index(app: &App, account: AccountId) -> Result<bool, Fault> {
    if !app.store.read(move |tx| search::is_behind(tx, account)).await? {
        return Ok(false);
    }
    let added = app
        .store
        .write(account, move |tx| search::index(tx, account, CHUNK))
        .await?;
    Ok(added > 0)
}

/// Follows the orders until the service ends. Each node looks after what it has taken itself, and now and then after what
/// others may have left.
pub async fn run(app: Arc<App>) {
    loop {
        let turn = look_everywhere(&app).await;
        app.workers.note_turn(&turn);
        if let Err(fault) = turn {
            tracing::error!(?fault, "orders could not be made ready for search");
        }
        let looked_at = Instant::now();
        while let Some(left) = LOOK_AGAIN.checked_sub(looked_at.elapsed()) {
            if tokio::time::timeout(left, app.store.changed_accounts().wait())
                .await
                .is_err()
            {
                break;
            }
            tokio::time::sleep(GATHER).await;
            for account in app.store.changed_accounts().take() {
                if let Err(fault) = follow(&app, account).await {
                    // The next look everywhere finds it again.
                    tracing::error!(?fault, "orders could not be made ready for search");
                }
            }
        }
    }
}

/// Goes through all accounts.
async fn look_everywhere(app: &App) -> Result<(), Fault> {
    let mut after = None;
    loop {
        let looked = app
            .store
            .read(move |tx| search::accounts_behind(tx, after, PAGE))
            .await?;
        for account in looked.accounts {
            if let Err(fault) = follow(app, account).await {
                // It is tried again with the next look; the others do not wait for it.
                tracing::error!(%account, ?fault, "an account's orders could not be made ready for search");
            }
        }
        after = looked.last;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Adds all of an account's orders.
async fn follow(app: &App, account: AccountId) -> Result<(), Fault> {
    loop {
        let began = Instant::now();
        if !index(app, account).await? {
            return Ok(());
        }
        tokio::time::sleep(began.elapsed() * YIELD).await;
    }
}
