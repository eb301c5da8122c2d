//! The agent: reads events, and prints orders and requested tickets.

use super::super::command::{CommandError, Outcome};
use super::api::{Api, ApiFailure, Event, EventPage, Job};
use super::args::PrintArgs;
use super::backoff::Backoff;
use super::follow::{Selection, Verdict};
use super::printer::{Condition, PrintError, Printer};
use super::report::Shared;
use super::reporter::{MAX_PAUSE, Reporter};
use super::state::StateStore;
use garson_core::id::{OrderId, RestaurantId};
use garson_core::order::Status;
use garson_ticket::code_page::CodePage;
use garson_ticket::{Copy, Kind, Options};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often an idle printer is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// A printer is tried more often: paper may just have been put in.
const MAX_PRINTER_PAUSE: Duration = Duration::from_secs(5);
/// A ticket that may be printed is repeated less and less often: each time costs paper.
const MAX_REPEAT_PAUSE: Duration = Duration::from_secs(5 * 60);

pub struct Agent {
    api: Arc<Api>,
    printer: Printer,
    state: Arc<StateStore>,
    shared: Arc<Shared>,
    selection: Selection,
    options: Options,
    page: CodePage,
    name: String,
    restaurant: Option<RestaurantId>,
    pending: VecDeque<Event>,
    /// The cursor behind the pending events.
    next_cursor: Option<String>,
    checked_at: Option<Instant>,
}

/// How printing a ticket ended.
#[derive(PartialEq, Eq)]
enum Ending {
    Printed,
    /// The order is over, or does not exist any more.
    NotNeeded,
}

impl Agent {
    pub fn new(args: &PrintArgs, api: Arc<Api>, printer: Printer, state: Arc<StateStore>) -> Self {
        let shared = Arc::<Shared>::default();
        for job in state.read(|state| state.unreported.clone()) {
            shared.mark_printed(job);
        }
        Self {
            selection: Selection {
                on: args.on,
                restaurant: args.restaurant,
                max_age: Duration::from_secs(u64::from(args.max_age_minutes) * 60),
            },
            options: args.options(None),
            page: args.codepage,
            name: args.name.clone().unwrap_or_else(|| default_name(&printer)),
            restaurant: args.restaurant,
            api,
            printer,
            state,
            shared,
            pending: VecDeque::new(),
            next_cursor: None,
            checked_at: None,
        }
    }

    /// Works until the process is ended; fails only if the state cannot be stored.
    pub async fn run(mut self) -> Outcome {
        self.check_printer().await?;
        let reporter = Reporter {
            api: Arc::clone(&self.api),
            shared: Arc::clone(&self.shared),
            state: Arc::clone(&self.state),
            name: self.name.clone(),
            restaurant: self.restaurant,
        };
        let id = reporter.register().await?;
        let mut reporting = tokio::spawn(reporter.run(id));
        tracing::info!(printer = %self.printer, "the print agent is running");
        let ended = tokio::select! {
            ended = self.print_all() => ended,
            ended = &mut reporting => ended.unwrap_or_else(|error| Err(error.into())),
        };
        reporting.abort();
        ended
    }

    async fn print_all(&mut self) -> Outcome {
        loop {
            self.step().await?;
        }
    }

    /// Prints what is due, or waits for it.
    async fn step(&mut self) -> Outcome {
        self.shared.set_waiting(self.pending.len());
        if let Some(job) = self.shared.next_job() {
            return self.print_job(&job).await;
        }
        if let Some(event) = self.pending.front().cloned() {
            self.print_event(&event).await?;
            self.pending.pop_front();
            if self.pending.is_empty() {
                let next = self.next_cursor.take();
                self.state
                    .update(|state| state.cursor = next.or(state.cursor.take()))?;
            }
            return Ok(());
        }
        if self.checked_at.is_none_or(|at| at.elapsed() > CHECK_INTERVAL) {
            self.check_printer().await?;
        }
        let (api, shared) = (Arc::clone(&self.api), Arc::clone(&self.shared));
        let cursor = self.state.read(|state| state.cursor.clone());
        tokio::select! {
            () = shared.requested.notified() => Ok(()),
            page = api.events(cursor.as_deref()) => self.take_page(page).await,
        }
    }

    async fn take_page(&mut self, page: Result<EventPage, ApiFailure>) -> Outcome {
        match page {
            Ok(page) => {
                let now = self.api.clock.now();
                let (mut due, mut skipped) = (VecDeque::new(), Vec::new());
                for event in page.events {
                    match self.selection.judge(&event, now) {
                        Verdict::Print(_) => due.push_back(event),
                        Verdict::TooOld(order, age) => skipped.push((event.id, order, age)),
                        Verdict::Ignored => {}
                    }
                }
                self.skip(&skipped)?;
                if due.is_empty() {
                    if page.cursor.is_some() && self.state.read(|state| state.cursor != page.cursor) {
                        self.state.update(|state| state.cursor = page.cursor)?;
                    }
                } else {
                    self.pending = due;
                    self.next_cursor = page.cursor;
                }
                Ok(())
            }
            Err(failure) if failure.is_lost_cursor() => {
                tracing::warn!(
                    "the events since the last run are no longer kept; the agent continues with new ones"
                );
                self.state.update(|state| state.cursor = None)
            }
            Err(failure) => {
                tracing::warn!(%failure, "no events; trying again");
                let pause = if failure.is_key_refused() {
                    MAX_PAUSE
                } else {
                    Duration::from_secs(1)
                };
                tokio::time::sleep(pause).await;
                Ok(())
            }
        }
    }

    async fn check_printer(&mut self) -> Outcome {
        let condition = self.printer.check().await;
        self.shared.set_condition(&condition);
        self.checked_at = Some(Instant::now());
        self.remember_answers().await
    }

    /// Stores that the printer answers queries, so that a restarted agent does not take its silence for a lack of them.
    async fn remember_answers(&mut self) -> Outcome {
        let address = self.printer.to_string();
        let is_known = self
            .state
            .read(|state| state.answering.as_ref() == Some(&address));
        if self.printer.answers().await && !is_known {
            self.state.update(|state| state.answering = Some(address))?;
        }
        Ok(())
    }

    /// Leaves out orders that came too long ago. They are logged and counted, because somebody may miss their tickets.
    fn skip(&self, events: &[(String, OrderId, Duration)]) -> Outcome {
        let is_new = |id: &String| self.state.read(|state| !state.is_printed(id));
        let new: Vec<_> = events.iter().filter(|(id, _, _)| is_new(id)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let max_minutes = self.selection.max_age.as_secs() / 60;
        for (_, order, age) in &new {
            let age_minutes = age.as_secs() / 60;
            tracing::warn!(%order, age_minutes, max_minutes, "not printed: the order came too long ago");
        }
        let (number, now) = (u32::try_from(new.len()).unwrap_or(u32::MAX), self.api.clock.now());
        self.state.update(|state| {
            new.iter().for_each(|(id, _, _)| state.mark_printed(id));
            state.count_skipped(number, now);
        })?;
        self.shared.changed.notify_one();
        Ok(())
    }

    async fn print_event(&mut self, event: &Event) -> Outcome {
        if self.state.read(|state| state.is_printed(&event.id)) {
            return Ok(());
        }
        // It may have waited long for the printer.
        let order = match self.selection.judge(event, self.api.clock.now()) {
            Verdict::Print(order) => order,
            Verdict::TooOld(order, age) => return self.skip(&[(event.id.clone(), order, age)]),
            Verdict::Ignored => return Ok(()),
        };
        if self.print(&event.id, order, self.options, true).await? == Ending::Printed {
            tracing::info!(%order, "printed");
        }
        Ok(())
    }

    async fn print_job(&mut self, job: &Job) -> Outcome {
        let key = job.id.to_string();
        if !self.state.read(|state| state.is_printed(&key)) {
            let options = Options {
                kind: Kind::named(&job.kind).unwrap_or(self.options.kind),
                copy: Some(Copy::Requested),
                ..self.options
            };
            self.print(&key, job.order_id, options, false).await?;
            self.state.update(|state| state.unreported.push(job.id))?;
            tracing::info!(order = %job.order_id, "printed on request");
        }
        let (_, _, unreported) = self.shared.report();
        self.state.update(|state| {
            state
                .unreported
                .retain(|id| *id == job.id || unreported.contains(id));
        })?;
        self.shared.mark_printed(job.id);
        self.shared.finish_job(job.id);
        Ok(())
    }

    /// Prints a ticket, however long it takes. When the printer has accepted it, that is stored.
    async fn print(
        &mut self,
        key: &str,
        order: OrderId,
        options: Options,
        only_open: bool,
    ) -> Result<Ending, CommandError> {
        let mut is_uncertain = self.state.read(|state| state.is_uncertain(key));
        let (mut server_pause, mut printer_pause, mut repeat_pause) = (
            Backoff::new(MAX_PAUSE),
            Backoff::new(MAX_PRINTER_PAUSE),
            Backoff::new(MAX_REPEAT_PAUSE),
        );
        loop {
            let copy = if is_uncertain {
                Some(Copy::Uncertain)
            } else {
                options.copy
            };
            let ticket = match self.fetch(order, Options { copy, ..options }, only_open).await {
                Ok(Some(ticket)) => ticket,
                Ok(None) => {
                    self.state.update(|state| state.mark_printed(key))?;
                    return Ok(Ending::NotNeeded);
                }
                Err(failure) => {
                    tracing::warn!(%failure, %order, "no ticket; trying again");
                    server_pause.wait().await;
                    continue;
                }
            };
            server_pause.reset();
            self.state.update(|state| state.start_sending(key))?;
            let shared = Arc::clone(&self.shared);
            let printed = self
                .printer
                .print(ticket, &|condition| shared.set_condition(condition))
                .await;
            self.remember_answers().await?;
            match printed {
                Ok(()) => {
                    self.state.update(|state| state.mark_printed(key))?;
                    self.checked_at = Some(Instant::now());
                    self.shared.set_condition(&Condition::default());
                    return Ok(Ending::Printed);
                }
                Err(error) => {
                    let condition = error.condition();
                    tracing::warn!(printer = %self.printer, %condition, %order, "not printed; trying again");
                    self.shared.set_condition(condition);
                    is_uncertain |= matches!(error, PrintError::Uncertain(_));
                    if !is_uncertain {
                        self.state.update(|state| state.stop_sending(key))?;
                    }
                    match error {
                        PrintError::NotSent(_) => printer_pause.wait().await,
                        PrintError::Uncertain(_) => repeat_pause.wait().await,
                    }
                }
            }
        }
    }

    /// The commands of a ticket; `None` when it is not needed any more.
    async fn fetch(
        &self,
        order: OrderId,
        options: Options,
        only_open: bool,
    ) -> Result<Option<Vec<u8>>, ApiFailure> {
        if only_open {
            match self.api.order_status(order).await {
                Ok(status) if status >= Status::Delivered.code() => return Ok(None),
                Ok(_) => {}
                Err(failure) if failure.is_not_found() => return Ok(None),
                Err(failure) => return Err(failure),
            }
        }
        match self.api.ticket(&order.to_string(), options, self.page).await {
            Ok(ticket) => Ok(Some(ticket)),
            Err(failure) if failure.is_not_found() => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

/// Machine and printer, as people at the counter know them.
fn default_name(printer: &Printer) -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{} {printer}", machine.trim())
        .trim()
        .chars()
        .take(200)
        .collect()
}
