//! The pages of the order list, oldest first.
//!
//! `dir=prev` without a cursor starts with the oldest orders. A service that starts with the newest all the same is read to its end
//! first, and its pages are taken in reverse.

use super::answer::{records, segment};
use super::source::Source;
use crate::cli::command::CommandError;
use serde_json::Value;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many orders are asked for at once.
const LIMIT: usize = 100;
/// After more empty pages than this, the list has ended.
const MAX_EMPTY_PAGES: u32 = 3;

/// A page, its oldest order first.
pub struct ListPage {
    pub items: Vec<Value>,
    /// Where it was read.
    pub path: String,
}

pub struct Pages<'a> {
    source: &'a Source,
    state: State,
    cursors: HashSet<String>,
    /// The hashes of the orders that came.
    seen: HashSet<u64>,
    /// How many pages without an order came one after the other.
    empty_pages: u32,
}

enum State {
    Begin,
    /// Towards newer orders, from this cursor.
    Newer(String),
    /// Read already, the newest first.
    Collected(Vec<ListPage>),
    End,
}

impl<'a> Pages<'a> {
    pub fn new(source: &'a Source) -> Self {
        Self {
            source,
            state: State::Begin,
            cursors: HashSet::new(),
            seen: HashSet::new(),
            empty_pages: 0,
        }
    }

    /// The next page; none at the end.
    pub async fn next(&mut self) -> Result<Option<ListPage>, CommandError> {
        let path = match std::mem::replace(&mut self.state, State::End) {
            State::End => return Ok(None),
            State::Collected(mut rest) => {
                let next = rest.pop();
                self.state = State::Collected(rest);
                return Ok(next);
            }
            State::Begin => format!("/orders?limit={LIMIT}&dir=prev"),
            State::Newer(cursor) => {
                let place = format!("/orders?limit={LIMIT}&dir=prev");
                self.with_cursor(place, cursor)?
            }
        };
        let is_first = self.cursors.is_empty();
        let mut answer = self.source.get(&path).await?;
        let mut items = self.items(&mut answer)?;
        if items.is_empty() {
            return match answer.prev {
                // Some services have empty pages between others.
                Some(prev) if self.empty_pages < MAX_EMPTY_PAGES && !self.cursors.contains(&prev) => {
                    self.empty_pages += 1;
                    self.state = State::Newer(prev);
                    Box::pin(self.next()).await
                }
                _ => Ok(None),
            };
        }
        self.empty_pages = 0;
        if let Some(next) = answer.next.filter(|_| is_first) {
            // There are older ones.
            return self.collect(ListPage { items, path }, next).await;
        }
        items.reverse();
        if let Some(prev) = answer.prev {
            self.state = State::Newer(prev);
        } else if !answer.is_paged && items.len() >= LIMIT {
            return Err(CommandError(
                "GET /orders: the answer has no paging, so there is no way to read all orders".to_owned(),
            ));
        }
        Ok(Some(ListPage { items, path }))
    }

    /// Reads everything older than a page.
    async fn collect(&mut self, first: ListPage, next: String) -> Result<Option<ListPage>, CommandError> {
        let mut pages = vec![reversed(first)];
        let mut next = Some(next);
        while let Some(cursor) = next {
            let path = self.with_cursor(format!("/orders?limit={LIMIT}&dir=next"), cursor)?;
            let mut answer = self.source.get(&path).await?;
            let items = self.items(&mut answer)?;
            next = answer.next;
            pages.push(reversed(ListPage { items, path }));
        }
        let oldest = pages.pop();
        self.state = State::Collected(pages);
        Ok(oldest)
    }

    fn with_cursor(&mut self, path: String, cursor: String) -> Result<String, CommandError> {
        let path = format!("{path}&cursor={}", segment(&cursor));
        if self.cursors.insert(cursor) {
            Ok(path)
        } else {
            Err(endless())
        }
    }

    fn items(&mut self, answer: &mut super::answer::Answer) -> Result<Vec<Value>, CommandError> {
        let items = records(answer)
            .map_err(|problem| CommandError(format!("GET /orders: the answer cannot be read: {problem}")))?;
        let mut is_any_new = items.is_empty();
        for item in &items {
            let mut hasher = DefaultHasher::new();
            item["id"].to_string().hash(&mut hasher);
            is_any_new |= self.seen.insert(hasher.finish());
        }
        if is_any_new { Ok(items) } else { Err(endless()) }
    }
}

fn reversed(mut page: ListPage) -> ListPage {
    page.items.reverse();
    page
}

fn endless() -> CommandError {
    CommandError("GET /orders: the pages repeat and have no end".to_owned())
}
