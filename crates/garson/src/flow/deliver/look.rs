//! Looking at the database now and then: nothing that is due may depend on somebody having told of it.

use super::dispatcher::{Dispatcher, Note};
use super::figures::Memory;
use super::jobs;
use garson_core::id::AccountId;
use garson_store::StoreError;
use garson_store::tables::deliveries::PendingAccount;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often it is looked.
pub const LOOK: Duration = Duration::from_secs(1);
/// A receiver that nothing has been due for since this time is forgotten.
const FORGET: Duration = Duration::from_secs(60);
/// With so many deliveries in memory, each receiver keeps only a few.
const CROWDED: usize = 8_192;

impl Dispatcher {
    pub(super) fn look_now(&mut self) {
        self.look_at = Instant::now();
        self.looks_again = self.is_looking;
    }

    pub(super) fn look(&mut self) {
        self.is_looking = true;
        self.keep_figures();
        let (app, notes) = (Arc::clone(&self.app), self.notes.clone());
        tokio::spawn(async move {
            let began = Instant::now();
            let result = jobs::look(&app).await;
            drop(notes.send(Note::Looked(result, began.elapsed())));
        });
    }

    pub(super) fn looked(&mut self, result: Result<Vec<PendingAccount>, StoreError>, took: Duration) {
        self.is_looking = false;
        // A look at many accounts takes its time; it must not become what the database is busy with.
        let pause = match std::mem::take(&mut self.looks_again) {
            true => Duration::ZERO,
            false => LOOK.max(took * 20),
        };
        self.look_at = Instant::now() + pause;
        self.app.workers.note_turn(&result);
        let waiting = match result {
            Ok(waiting) => waiting,
            Err(error) => {
                tracing::warn!(%error, "no look at what is to be delivered");
                return;
            }
        };
        let oldest = waiting.iter().map(|waiting| waiting.oldest_at).min();
        self.app.delivering.set_waiting(waiting.len(), oldest);
        let was_set_back = self.was_set_back();
        let Some(node) = self.node else { return };
        let mut free = Vec::new();
        for it in waiting {
            match it.node {
                None => free.push(it.account),
                Some(owner) if owner == node => {
                    let endpoint = self.endpoint(it.account);
                    endpoint.compare(it.last_position, it.version, it.retry_at);
                    // Its retries may have been planned before this process began, by a clock that was ahead.
                    let is_first = it.retry_at.is_some() && !std::mem::replace(&mut endpoint.is_dated, true);
                    self.touched.insert(it.account);
                    if was_set_back || is_first {
                        self.pull_in(it.account);
                    }
                }
                Some(_) => {
                    self.endpoints.remove(&it.account);
                    self.touched.insert(it.account);
                }
            }
        }
        if !free.is_empty() && !self.is_stopping {
            let (app, notes) = (Arc::clone(&self.app), self.notes.clone());
            // Each node begins elsewhere, so that they share what a lost one has left.
            let start = usize::from(node.as_bytes()[15]) * free.len() / 256;
            free.rotate_left(start);
            tokio::spawn(async move {
                for some in free.chunks(jobs::AT_ONCE) {
                    let result = jobs::claim(&app, some, node).await;
                    let has_failed = result.is_err();
                    drop(notes.send(Note::Claimed(node, result)));
                    if has_failed {
                        return;
                    }
                }
            });
        }
        let now = Instant::now();
        self.endpoints
            .retain(|_, endpoint| !endpoint.is_idle() || now.duration_since(endpoint.idle_since) < FORGET);
    }

    /// Has the clock been set back since the last look?
    fn was_set_back(&mut self) -> bool {
        let (now, instant) = (self.app.now(), Instant::now());
        let before = self.seen_clock.replace((now, instant));
        before.is_some_and(|(then, at)| {
            now.plus(Duration::from_secs(1)) < then.plus(instant.duration_since(at))
        })
    }

    /// Brings forward what lies too far ahead; if there is anything, its commit says that it is to be read.
    fn pull_in(&self, account: AccountId) {
        let app = Arc::clone(&self.app);
        tokio::spawn(async move {
            if let Err(error) = jobs::pull_in(&app, account).await {
                tracing::warn!(%error, "retries could not be brought forward after the clock was set back");
            }
        });
    }

    /// Counts what is in memory, and sees to it that it does not become too much.
    fn keep_figures(&mut self) {
        let mut memory = Memory {
            flying: self.slots.taken(),
            endpoints: self.endpoints.len(),
            ..Memory::default()
        };
        for endpoint in self.endpoints.values() {
            memory.queued += endpoint.queued();
            memory.troubled += usize::from(endpoint.is_troubled());
        }
        self.app.delivering.set_memory(memory);
        let is_crowded = memory.queued > CROWDED;
        for endpoint in self.endpoints.values_mut() {
            endpoint.set_crowded(is_crowded);
        }
    }
}
