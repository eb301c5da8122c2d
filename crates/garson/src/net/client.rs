//! Sends one request: resolve, check, connect to exactly a checked address, all within one deadline.
//!
//! Redirects are not followed, proxy variables are not read, and no more of the response is kept than asked for.

mod dialer;
mod exchange;
mod progress;

use super::certificates::Certificates;
use super::guard::{self, Policy, Target};
use super::outgoing::Outgoing;
use super::pool::ConnectionPool;
use super::resolve::{Resolve, SharedResolver, SystemResolver};
use super::sent::{Answer, SendError, Sent, Timing};
use super::stream::ByteStream;
use dialer::{Dialer, tls_connector};
use exchange::exchange;
use garson_core::explanation::TargetRefusal;
use garson_core::id::AccountId;
use garson_core::platform::Trust;
use progress::Progress;
use std::sync::Arc;
use std::time::Instant;
use tokio_rustls::rustls;

/// The HTTP client. Clones share its connections.
#[derive(Clone)]
pub struct Client {
    dialer: Dialer,
    pool: ConnectionPool,
}

impl Client {
    pub fn new(policy: Policy) -> Result<Self, rustls::Error> {
        Self::with_resolver(policy, Arc::new(SharedResolver::new(SystemResolver::default())))
    }

    pub fn with_resolver(policy: Policy, resolver: Arc<dyn Resolve>) -> Result<Self, rustls::Error> {
        let dialer = Dialer {
            policy: Arc::new(policy),
            resolver,
            tls: tls_connector(&Certificates::default())?,
            account: None,
        };
        Ok(Self {
            dialer,
            pool: ConnectionPool::default(),
        })
    }

    /// The same client, trusting these certificates too.
    pub fn trusting(mut self, further: &Certificates) -> Result<Self, rustls::Error> {
        self.dialer.tls = tls_connector(further)?;
        Ok(self)
    }

    /// The same client, for requests of an account: each account has only a share of the threads that resolve names.
    #[must_use]
    pub fn on_behalf_of(&self, account: AccountId) -> Self {
        let mut client = self.clone();
        client.dialer.account = Some(account);
        client
    }

    /// Checks a URL that an account gives, without resolving or calling it.
    pub fn check_address(&self, url: &str) -> Result<(), TargetRefusal> {
        let target = Target::parse(url)?;
        guard::check_name(&self.dialer.policy, &target)?;
        match target.host().literal() {
            Some(address) => guard::check(&self.dialer.policy, &target, &[address]),
            None => Ok(()),
        }
    }

    /// Connects to a target, checked as for a request, for a caller that speaks HTTP in its own way: slowly, or not to the end.
    /// There is no deadline.
    pub async fn dial(&self, target: &Target, trust: Trust) -> Result<Box<dyn ByteStream>, SendError> {
        let mut progress = Progress::default();
        let addresses = self.dialer.addresses(target, trust, &mut progress).await?;
        let (stream, _) = self.dialer.connect(target, &addresses, &mut progress).await?;
        Ok(stream)
    }

    /// Sends a request and reads the response.
    pub async fn send(&self, outgoing: Outgoing) -> Result<Answer, SendError> {
        self.send_timed(outgoing).await.outcome
    }

    /// The same, with the time of each stage.
    pub async fn send_timed(&self, outgoing: Outgoing) -> Sent {
        let started = Instant::now();
        let target = match Target::parse(&outgoing.url) {
            Ok(target) => target,
            Err(refusal) => {
                return Sent {
                    timing: Timing::default(),
                    repeated: false,
                    outcome: Err(SendError::NotAllowed(refusal)),
                };
            }
        };
        let (deadline, keep_body, log) = (outgoing.deadline, outgoing.keep_body, outgoing.log);
        let mut progress = Progress::default();
        let exchange = exchange(&self.dialer, &self.pool, &target, outgoing, &mut progress);
        let outcome = match tokio::time::timeout(deadline, exchange).await {
            Err(_) => Err(progress.timed_out(&target, deadline)),
            Ok(Err(error)) => Err(error),
            Ok(Ok(mut exchange)) => {
                let time = deadline.saturating_sub(started.elapsed());
                let (status, headers) = (exchange.status(), exchange.take_headers());
                let body = exchange.body(keep_body, time, &self.pool).await;
                let took = started.elapsed();
                Ok(Answer {
                    status,
                    headers,
                    body,
                    took,
                })
            }
        };
        let mut timing = progress.timing;
        timing.total = outcome
            .as_ref()
            .map_or_else(|_| started.elapsed(), |answer| answer.took);
        log.write(
            target.origin(),
            &timing,
            outcome.as_ref().map(|answer| answer.status),
        );
        Sent {
            timing,
            repeated: progress.is_repeated,
            outcome,
        }
    }
}
