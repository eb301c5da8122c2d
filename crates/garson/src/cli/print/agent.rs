//! The agent: reads events, prints orders and requested tickets, and reports the state of the printer.

use super::super::command::{CommandError, Outcome};
use super::api::{Api, ApiFailure, Event, Job, Report};
use super::args::PrintArgs;
use super::backoff::Backoff;
use super::follow::Selection;
use super::printer::{Condition, PrintError, Printer};
use super::report::Shared;
use super::state::{State, StateFile};
use garson_core::clock::{Clock, SystemClock};
use garson_core::id::{OrderId, PrinterId, RestaurantId};
use garson_core::order::Status;
use garson_ticket::code_page::CodePage;
use garson_ticket::{Copy, Kind, Options};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the state is reported, and requested tickets are asked for.
const REPORT_INTERVAL: Duration = Duration::from_secs(5);
/// How often an idle printer is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// A printer is tried more often: paper may just have been put in.
const MAX_PRINTER_PAUSE: Duration = Duration::from_secs(5);
/// A ticket that may be printed is repeated less and less often: each time costs paper.
const MAX_REPEAT_PAUSE: Duration = Duration::from_secs(5 * 60);

pub struct Agent {
    api: Arc<Api>,
    printer: Printer,
    file: StateFile,
    state: State,
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
    pub fn new(args: &PrintArgs, api: Arc<Api>, printer: Printer, file: StateFile, state: State) -> Self {
        let shared = Arc::<Shared>::default();
        for job in &state.unreported {
            shared.mark_printed(*job);
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
            file,
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
        let id = self.register().await?;
        let reporting = Reporter {
            api: Arc::clone(&self.api),
            shared: Arc::clone(&self.shared),
            name: self.name.clone(),
            restaurant: self.restaurant,
        };
        let (send, mut registered_again) = tokio::sync::mpsc::channel(1);
        let reporter = tokio::spawn(reporting.run(id, send));
        tracing::info!(printer = %self.printer, "the print agent is running");
        let ended = loop {
            if let Ok(id) = registered_again.try_recv() {
                self.state.printer_id = Some(id);
                if let Err(error) = self.file.save(&self.state) {
                    break Err(error);
                }
            }
            if let Err(error) = self.step().await {
                break Err(error);
            }
        };
        reporter.abort();
        ended
    }

    /// The printer's id at the service.
    async fn register(&mut self) -> Result<PrinterId, CommandError> {
        if let Some(id) = self.state.printer_id {
            return Ok(id);
        }
        let id = register(&self.api, &self.name, self.restaurant).await;
        self.state.printer_id = Some(id);
        self.file.save(&self.state)?;
        Ok(id)
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
                self.state.cursor = self.next_cursor.take().or(self.state.cursor.take());
                self.file.save(&self.state)?;
            }
            return Ok(());
        }
        if self.checked_at.is_none_or(|at| at.elapsed() > CHECK_INTERVAL) {
            self.check_printer().await?;
        }
        let (api, shared) = (Arc::clone(&self.api), Arc::clone(&self.shared));
        let cursor = self.state.cursor.clone();
        tokio::select! {
            () = shared.requested.notified() => Ok(()),
            page = api.events(cursor.as_deref()) => self.take_page(page).await,
        }
    }

    async fn take_page(&mut self, page: Result<super::api::EventPage, ApiFailure>) -> Outcome {
        match page {
            Ok(page) => {
                let now = SystemClock.now();
                let is_due = |event: &Event| self.selection.order(event, now).is_some();
                let due: VecDeque<Event> = page.events.into_iter().filter(is_due).collect();
                if due.is_empty() {
                    if page.cursor.is_some() && page.cursor != self.state.cursor {
                        self.state.cursor = page.cursor;
                        self.file.save(&self.state)?;
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
                self.state.cursor = None;
                self.file.save(&self.state)
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
        if self.printer.answers().await && self.state.answering.as_ref() != Some(&address) {
            self.state.answering = Some(address);
            self.file.save(&self.state)?;
        }
        Ok(())
    }

    async fn print_event(&mut self, event: &Event) -> Outcome {
        let Some(order) = self.selection.order(event, SystemClock.now()) else {
            return Ok(());
        };
        if self.state.is_printed(&event.id) {
            return Ok(());
        }
        if self.print(&event.id, order, self.options, true).await? == Ending::Printed {
            tracing::info!(%order, "printed");
        }
        Ok(())
    }

    async fn print_job(&mut self, job: &Job) -> Outcome {
        let key = job.id.to_string();
        if !self.state.is_printed(&key) {
            let options = Options {
                kind: Kind::named(&job.kind).unwrap_or(self.options.kind),
                copy: Some(Copy::Requested),
                ..self.options
            };
            self.print(&key, job.order_id, options, false).await?;
            self.state.unreported.push(job.id);
            tracing::info!(order = %job.order_id, "printed on request");
        }
        let (_, _, unreported) = self.shared.report();
        self.state
            .unreported
            .retain(|id| *id == job.id || unreported.contains(id));
        self.file.save(&self.state)?;
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
        let mut is_uncertain = self.state.sending.as_deref() == Some(key);
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
                    self.state.mark_printed(key);
                    self.file.save(&self.state)?;
                    return Ok(Ending::NotNeeded);
                }
                Err(failure) => {
                    tracing::warn!(%failure, %order, "no ticket; trying again");
                    server_pause.wait().await;
                    continue;
                }
            };
            server_pause.reset();
            self.state.sending = Some(key.to_owned());
            self.file.save(&self.state)?;
            let shared = Arc::clone(&self.shared);
            let printed = self
                .printer
                .print(ticket, &|condition| shared.set_condition(condition))
                .await;
            self.remember_answers().await?;
            match printed {
                Ok(()) => {
                    self.state.mark_printed(key);
                    self.file.save(&self.state)?;
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
                        self.state.sending = None;
                        self.file.save(&self.state)?;
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

/// Registers the printer, however long it takes.
async fn register(api: &Api, name: &str, restaurant: Option<RestaurantId>) -> PrinterId {
    let mut pause = Backoff::new(MAX_PAUSE);
    loop {
        match api.register(name, restaurant).await {
            Ok(id) => return id,
            Err(failure) => {
                tracing::warn!(%failure, "the printer is not registered; trying again");
                pause.wait().await;
            }
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

/// Reports until it is aborted.
struct Reporter {
    api: Arc<Api>,
    shared: Arc<Shared>,
    name: String,
    restaurant: Option<RestaurantId>,
}

impl Reporter {
    async fn run(self, mut id: PrinterId, registered_again: tokio::sync::mpsc::Sender<PrinterId>) {
        loop {
            let (condition, waiting, printed) = self.shared.report();
            let report = Report {
                state: condition.state,
                message: &condition.message,
                waiting,
                printed: &printed,
            };
            match self.api.report(id, &report).await {
                Ok(jobs) => {
                    self.shared.forget_printed(&printed);
                    self.shared.add_jobs(jobs);
                }
                // It was removed in the panel, but it still prints.
                Err(failure) if failure.is_not_found() => {
                    id = register(&self.api, &self.name, self.restaurant).await;
                    self.shared.forget_printed(&printed);
                    // Ignored: the receiver ends with the agent.
                    let _ = registered_again.send(id).await;
                    continue;
                }
                Err(failure) => tracing::debug!(%failure, "the printer's state was not reported"),
            }
            tokio::select! {
                () = self.shared.changed.notified() => {}
                () = tokio::time::sleep(REPORT_INTERVAL) => {}
            }
        }
    }
}
