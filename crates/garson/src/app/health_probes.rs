//! Questions to storage that health checks and metrics ask again and again.

use crate::telemetry::StorageCounts;
use garson_store::StoreError;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// How long storage may take to answer before it counts as unavailable.
const TIMEOUT: Duration = Duration::from_millis(1_500);

#[derive(Default)]
pub struct HealthProbes {
    pub(crate) storage: Probe<()>,
    pub(crate) counts: Probe<StorageCounts>,
}

/// A question that runs at most once at a time; concurrent callers share the answer, and each waits only for the timeout. So
/// health checks cannot fill the queues of a database that is in trouble.
pub(crate) struct Probe<T> {
    timeout: Duration,
    is_running: Arc<AtomicBool>,
    answer: Arc<watch::Sender<Option<Result<T, StoreError>>>>,
}

impl<T> Default for Probe<T> {
    fn default() -> Self {
        Self {
            timeout: TIMEOUT,
            is_running: Arc::default(),
            answer: Arc::new(watch::Sender::new(None)),
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Probe<T> {
    pub(crate) async fn ask(
        &self,
        question: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut answer = self.answer.subscribe();
        if !self.is_running.swap(true, Ordering::SeqCst) {
            let (is_running, publish) = (Arc::clone(&self.is_running), Arc::clone(&self.answer));
            tokio::spawn(async move {
                let result = question.await;
                // In this order: a caller that comes in between asks again, and also receives this answer.
                is_running.store(false, Ordering::SeqCst);
                publish.send_replace(Some(result));
            });
        }
        let silent = || StoreError::unavailable("the database does not answer");
        match tokio::time::timeout(self.timeout, answer.changed()).await {
            Ok(Ok(())) => answer.borrow().clone().unwrap_or_else(|| Err(silent())),
            _ => Err(silent()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use tokio::sync::Notify;

    #[tokio::test]
    async fn question_runs_once_at_a_time_and_again_after_its_answer() {
        let probe = Probe::<usize> {
            timeout: Duration::from_millis(20),
            ..Probe::default()
        };
        let (asked, answer) = (Arc::new(AtomicUsize::default()), Arc::new(Notify::new()));
        let question = || {
            let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
            async move {
                let number = asked.fetch_add(1, Ordering::SeqCst);
                answer.notified().await;
                Ok(number)
            }
        };
        for _ in 0..10 {
            assert!(probe.ask(question()).await.is_err(), "there is no answer yet");
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let (first, second, ()) = tokio::join!(probe.ask(question()), probe.ask(question()), async {
            answer.notify_one();
        });
        assert_eq!((first, second), (Ok(0), Ok(0)), "both receive the one answer");
        answer.notify_one();
        assert_eq!(probe.ask(question()).await, Ok(1));
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }
}
