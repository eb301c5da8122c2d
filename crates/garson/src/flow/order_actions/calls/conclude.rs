//! Records the end of a call and its consequences for the order, in one transaction.

use super::attempt::Verdict;
use crate::app::App;
use crate::flow::platform_client::Contact;
use crate::flow::{Fault, persist};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::order::{Actor, CallKind, Change, Input, Order, ProviderSync};
use garson_core::platform::{CallError, Sighting};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::calls;
use garson_store::tables::calls::{CallEnd, DueCall};
use garson_store::tables::order_notices::NoticeKind;
use garson_store::tables::{integrations, order_notices, orders};
use garson_store::totals;

/// Records how a call ended; returns the order after that, or nothing if it was deleted.
pub async fn conclude(
    app: &App,
    call: &DueCall,
    contact: &Contact,
    verdict: Verdict,
) -> Result<Option<Order>, Fault> {
    let now = app.now();
    let (copy, account, contact) = (call.clone(), call.account_id, contact.clone());
    let order = app
        .store
        .write(account, move |tx| {
            let end = Ending {
                contact: &contact,
                call: &copy,
                now,
            };
            match &verdict {
                Verdict::Done(seen) => end.done(tx, seen.as_deref()),
                Verdict::Overtaken(said, seen) => end.overtaken(tx, said, seen),
                Verdict::NotDone => {
                    end.failed(tx, CallEnd::Abandoned, &PlatformFailure::NotDone.into(), false)
                }
                Verdict::CallError(trouble) => {
                    let message = trouble.explanation();
                    end.failed(tx, end.end_of(trouble), &message, trouble.is_away())
                }
            }
        })
        .await?;
    app.call_waiters.wake(call.order_id);
    app.call_waker.wake(call.integration_id);
    Ok(order)
}

/// A call that ends.
struct Ending<'a> {
    contact: &'a Contact,
    call: &'a DueCall,
    now: Timestamp,
}

impl Ending<'_> {
    /// A refusal is a failure. A client's question that the platform has not decided is abandoned without a change.
    fn end_of(&self, trouble: &CallError) -> CallEnd {
        match trouble {
            CallError::Refused { .. } => CallEnd::Failed,
            _ if self.asked_by_client() => CallEnd::Abandoned,
            _ => CallEnd::Failed,
        }
    }

    fn asked_by_client(&self) -> bool {
        self.call.kind.is_question() && self.call.argument.by == Actor::Account
    }

    fn done(&self, tx: &mut Tx<'_>, seen: Option<&Sighting>) -> Result<Option<Order>, Fault> {
        let Some(stored) = orders::lock(tx, self.call.order_id)? else {
            return Ok(None);
        };
        if !calls::finish(tx, self.call, CallEnd::Done, None, self.now)? {
            // The order was cancelled meanwhile, and this call abandoned.
            return Ok(Some(stored));
        }
        if !self.contact.terms.between_moves.is_zero() {
            let until = self.now.plus(self.contact.terms.between_moves);
            calls::delay_open(tx, stored.id, self.now, until)?;
        }
        let mut order = stored.clone();
        if self.call.kind == CallKind::Ready {
            order.ready_at.get_or_insert(self.now);
            totals::stats::add_ready(tx, &stored, &order)?;
        }
        // An order that was read carries the platform's status itself.
        if seen.is_none() && self.is_newest_step(tx, &stored)? {
            let status = self.contact.platform.word_after(self.call.kind, &stored);
            order.provider_status = status.map(str::to_owned);
        }
        let mut is_written = false;
        for input in self.inputs(seen) {
            match persist::apply_and_write(tx, self.contact, &order, &input, Some(self.call.id), self.now) {
                Ok(after) => {
                    is_written |= after != order;
                    order = after;
                }
                // The order was cancelled first and stays so.
                Err(Fault::Refused(_)) => {}
                Err(fault) => return Err(fault),
            }
        }
        if self.call.kind.is_question() {
            order_notices::settle_refused(tx, order.id)?;
        }
        let sync = persist::sync_of(tx, order.id, ProviderSync::Done)?;
        if !is_written {
            order.sync = sync;
            orders::set_progress(tx, &stored, &mut order, self.now)?;
        } else if order.sync != sync {
            orders::set_sync(tx, order.id, &sync)?;
            order.sync = sync;
        }
        Ok(Some(order))
    }

    /// Is this the platform's newest step? An order that is further on without another call was moved by the platform itself,
    /// whose status is newer.
    fn is_newest_step(&self, tx: &mut Tx<'_>, order: &Order) -> Result<bool, Fault> {
        if order.status.code() <= self.call.kind.progress() {
            return Ok(true);
        }
        let standing = calls::sync_state(tx, order.id)?;
        Ok(standing.due_at.is_some() || !standing.failed.is_empty())
    }

    /// The order was cancelled before the call took effect: the cancellation is applied, and the call has not failed.
    fn overtaken(
        &self,
        tx: &mut Tx<'_>,
        said: &Explanation,
        seen: &Sighting,
    ) -> Result<Option<Order>, Fault> {
        let Some(order) = orders::lock(tx, self.call.order_id)? else {
            return Ok(None);
        };
        let is_first = calls::finish(tx, self.call, CallEnd::Abandoned, Some(said), self.now)?;
        let mut order = match seen.change.clone() {
            Some(change) => {
                let report = Input::Report(change);
                persist::apply_and_write(tx, self.contact, &order, &report, None, self.now)?
            }
            None => order,
        };
        if is_first && matches!(order.sync, ProviderSync::Pending { .. }) {
            let stored = order.clone();
            order.sync = persist::sync_of(tx, order.id, ProviderSync::NotNeeded)?;
            orders::set_progress(tx, &stored, &mut order, self.now)?;
        }
        Ok(Some(order))
    }

    /// The inputs to the order: the platform's agreement, and what it shows beyond that.
    fn inputs(&self, seen: Option<&Sighting>) -> Vec<Input> {
        let report = seen.and_then(|seen| seen.change.clone()).map(Input::Report);
        let others_cancelled = matches!(
            &report,
            Some(Input::Report(Change::Cancelled {
                by: Actor::Customer | Actor::Platform,
                ..
            }))
        );
        let agreed = self
            .call
            .argument
            .action(self.call.kind)
            .filter(|_| !others_cancelled)
            .map(|action| Input::Agreed(action, self.call.argument.by));
        agreed.into_iter().chain(report).collect()
    }

    /// The refusal of a client's question is shown to the staff until a later success or their acknowledgement. That the platform
    /// has not done it says less than the error that it gave before.
    fn note_refusal(&self, tx: &mut Tx<'_>, order: &Order, message: &Explanation) -> Result<(), Fault> {
        let says_little = *message == Explanation::from(PlatformFailure::NotDone);
        if order.status.is_over() || says_little && order_notices::has(tx, order.id, NoticeKind::Refused)? {
            return Ok(());
        }
        Ok(order_notices::record_refused(
            tx,
            order,
            self.call.kind,
            message,
            self.now,
        )?)
    }

    fn failed(
        &self,
        tx: &mut Tx<'_>,
        end: CallEnd,
        message: &Explanation,
        is_away: bool,
    ) -> Result<Option<Order>, Fault> {
        // The integration is locked before the order, as everywhere, against deadlocks.
        let integration = self.call.integration_id;
        if is_away {
            integrations::record_trouble(tx, integration, message, self.now)?;
        } else if end == CallEnd::Failed {
            integrations::record_error(tx, integration, message, self.now)?;
        }
        let mut order = orders::lock(tx, self.call.order_id)?;
        let is_first = calls::finish(tx, self.call, end, Some(message), self.now)?;
        if let (true, true, Some(order)) = (is_first, self.asked_by_client(), &order) {
            self.note_refusal(tx, order, message)?;
        }
        // The client receives the refusal of its question; the order stays as it was.
        if let (true, false, Some(order)) = (is_first, self.asked_by_client(), &mut order) {
            let stored = order.clone();
            order.sync = persist::sync_of(tx, stored.id, ProviderSync::NotNeeded)?;
            orders::set_progress(tx, &stored, order, self.now)?;
        }
        Ok(order)
    }
}
