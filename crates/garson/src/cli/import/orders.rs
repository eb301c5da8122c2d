//! The orders: page by page, each page whole or not at all.

use super::answer::{id, segment, short};
use super::order::{self, NotImported};
use super::pages::{ListPage, Pages};
use super::shops::Shops;
use super::source::{Source, SourceError};
use super::summary::Summary;
use crate::app::App;
use crate::cli::command::{CommandError, failed};
use crate::cli::progress::clear as clear_progress;
use crate::flow::import::{self, Compared, ImportedIntegration, ImportedOrder, Run};
use futures_util::StreamExt;
use garson_core::id::AccountId;
use garson_core::time::Timestamp;
use garson_store::engine::WorkProgress;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Fewer are read one by one, more with the page that they are in.
const FEW: usize = 4;
/// How many orders are read at the same time.
const AT_ONCE: usize = 4;

#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub dry_run: bool,
    pub skip_unreadable: bool,
}

pub async fn import(
    app: &App,
    account: AccountId,
    source: &Source,
    shops: Shops,
    rules: Rules,
    summary: &mut Summary,
    progress: &WorkProgress,
) -> Result<(), CommandError> {
    let mut import = Import {
        app,
        account,
        source,
        shops,
        rules,
        summary,
        run: None,
        takes_details: true,
    };
    let mut pages = Pages::new(source);
    while let Some(page) = pages.next().await? {
        import.page(page).await?;
        progress.set(import.summary.orders.read, None);
    }
    Ok(())
}

struct Import<'a> {
    app: &'a App,
    account: AccountId,
    source: &'a Source,
    shops: Shops,
    rules: Rules,
    summary: &'a mut Summary,
    /// Begins with the first order that is written.
    run: Option<Run>,
    /// The service takes `include=detail`, as far as is known.
    takes_details: bool,
}

impl Import<'_> {
    async fn page(&mut self, page: ListPage) -> Result<(), CommandError> {
        let shown = compared(&page)?;
        let count = shown.len() as u64;
        let (new, changed) = Run::wanted(self.app, self.account, shown).await.map_err(failed)?;
        let wanted: HashSet<String> = new.union(&changed).cloned().collect();
        let tally = &mut self.summary.orders;
        tally.read += count;
        tally.known += count - wanted.len() as u64;
        if self.rules.dry_run {
            tally.imported += new.len() as u64;
            tally.updated += changed.len() as u64;
            return Ok(());
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let details = self.details(&page, &wanted).await?;
        let mut batch = Vec::with_capacity(details.len());
        for (theirs, value) in details {
            match self.read(&theirs, &value).await? {
                Some(order) => batch.push(order),
                None => self.summary.orders.skipped += 1,
            }
        }
        self.write(batch).await
    }

    async fn write(&mut self, batch: Vec<ImportedOrder>) -> Result<(), CommandError> {
        let Some(first) = batch.first() else {
            return Ok(());
        };
        let run = match self.run {
            Some(run) => run,
            None => {
                self.refuse_older_than_own(first.order.created_at).await?;
                let run = Run::begin(self.app, self.account).await.map_err(failed)?;
                self.run = Some(run);
                run
            }
        };
        let written = run.write(self.app, batch).await.map_err(failed)?;
        let tally = &mut self.summary.orders;
        tally.imported += written.imported;
        tally.updated += written.updated;
        tally.known += written.known;
        tally.skipped += written.deleted;
        self.summary.notes_of(
            "an order is older than one that was here before: lists and reports count it at the time of that one",
            written.late,
        );
        self.summary.notes_of(
            "an order was left out, because its restaurant was deleted here",
            written.deleted,
        );
        Ok(())
    }

    /// Reports rely on orders being in the order of their arrival, so history comes first.
    async fn refuse_older_than_own(&self, at: Timestamp) -> Result<(), CommandError> {
        match Run::first_own(self.app, self.account).await.map_err(failed)? {
            Some(own) if at < own => Err(CommandError(format!(
                "this account has received orders here since {own}, and the other service's begin at {at}: older orders cannot be \
                 put before them, and reports would count them on the wrong day. Import into a new account, before its platforms \
                 are connected"
            ))),
            _ => Ok(()),
        }
    }

    async fn read(&mut self, theirs: &str, value: &Value) -> Result<Option<ImportedOrder>, CommandError> {
        let read = match order::read(value, &self.shops) {
            Ok(read) => read,
            Err(NotImported::UnknownRestaurant) => {
                self.summary
                    .note("an order was left out, because its restaurant is not in the list of restaurants");
                return Ok(None);
            }
            Err(NotImported::UnknownPlatform(key)) => {
                self.summary.note(format!(
                    "an order was left out, because this service has no platform {:?}",
                    short(&key)
                ));
                return Ok(None);
            }
            Err(NotImported::Unreadable(problem)) => {
                let message = format!(
                    "GET /orders/{}: the order cannot be read: {problem}",
                    segment(theirs)
                );
                if self.rules.skip_unreadable {
                    clear_progress();
                    eprintln!("{message}");
                    self.summary
                        .note("an order was left out, because it cannot be read");
                    return Ok(None);
                }
                return Err(CommandError(format!(
                    "{message}. Nothing of its page was imported; with --skip-unreadable such orders are left out"
                )));
            }
        };
        let key = (read.restaurant, read.provider);
        let integration = match self.shops.integrations.get(&key) {
            Some(id) => *id,
            None => {
                // It was removed at the other service, but its orders are still there.
                let bare = ImportedIntegration::default();
                let (id, ..) = import::connect(self.app, self.account, read.restaurant, read.provider, &bare)
                    .await
                    .map_err(failed)?;
                self.shops.integrations.insert(key, id);
                id
            }
        };
        Ok(Some(ImportedOrder {
            theirs: theirs.to_owned(),
            restaurant: read.restaurant,
            integration,
            order: read.order,
            content: read.content,
            timeline: read.timeline,
        }))
    }

    /// The details of the wanted orders, in the order of the page.
    async fn details(
        &mut self,
        page: &ListPage,
        wanted: &HashSet<String>,
    ) -> Result<Vec<(String, Value)>, CommandError> {
        let mut found: HashMap<String, Value> = HashMap::new();
        // A list may show parts of an order.
        let complete = |value: &Value| {
            let has = |field: &str| value.get(field).is_some();
            let shows_content = value["items"].is_array() && value["amount"].is_object();
            shows_content && ["customer", "payment", "timeline"].into_iter().all(has)
        };
        let mut take = |values: Vec<Value>| {
            for value in values.into_iter().filter(complete) {
                if let Ok(id) = id(&value, "id")
                    && wanted.contains(&id)
                {
                    found.insert(id, value);
                }
            }
        };
        take(page.items.clone());
        if wanted.len() > FEW && self.takes_details {
            match self.source.get(&format!("{}&include=detail", page.path)).await {
                Ok(answer) => {
                    let values = answer.data.as_array().cloned().unwrap_or_default();
                    self.takes_details = values.iter().any(complete);
                    take(values);
                }
                Err(error) if error.status.is_some() => self.takes_details = false,
                Err(error) => return Err(error.into()),
            }
        }
        let ids = page.items.iter().filter_map(|item| id(item, "id").ok());
        let ids: Vec<String> = ids.filter(|id| wanted.contains(id)).collect();
        let missing: Vec<String> = ids
            .iter()
            .filter(|id| !found.contains_key(*id))
            .cloned()
            .collect();
        let source = self.source;
        let mut reads = futures_util::stream::iter(missing)
            .map(|id| async move {
                let answer = source.get(&format!("/orders/{}", segment(&id))).await;
                (id, answer)
            })
            .buffered(AT_ONCE);
        while let Some((id, answer)) = reads.next().await {
            match answer {
                Ok(answer) => {
                    found.insert(id, answer.data);
                }
                Err(SourceError {
                    status: Some(404), ..
                }) => {
                    self.summary.orders.skipped += 1;
                    self.summary
                        .note("an order was removed at the other service while it was read");
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(ids
            .into_iter()
            .filter_map(|id| found.remove(&id).map(|value| (id, value)))
            .collect())
    }
}

/// What a page shows, to tell what of it is new.
fn compared(page: &ListPage) -> Result<Vec<Compared>, CommandError> {
    let read = |item: &Value| {
        Ok(Compared {
            theirs: id(item, "id")?,
            status: item["status"].as_i64(),
            is_report: item["isReport"].as_bool(),
            total: item["total"].as_i64(),
        })
    };
    let all: Result<Vec<_>, String> = page.items.iter().map(read).collect();
    all.map_err(|problem| CommandError(format!("GET /orders: an order cannot be read: {problem}")))
}
