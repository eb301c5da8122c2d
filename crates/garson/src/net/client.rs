//! Sends one request: resolve, check, connect to exactly a checked address, all within one deadline.
//!
//! Redirects are not followed, proxy variables are not read, and no more of the answer is kept than asked for.

mod dial;
mod exchange;
mod progress;

pub use dial::Line;

use super::certificates::Certificates;
use super::guard::{self, Policy, Refusal, Target};
use super::outgoing::Outgoing;
use super::pool::Pool;
use super::resolve::{Resolve, Sharing, SystemResolver};
use super::sent::{Answer, SendError, Sent, Timing};
use garson_core::id::AccountId;
use progress::Progress;
use std::sync::Arc;
use std::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls;

/// The door. Clones share it.
#[derive(Clone)]
pub struct Client {
    policy: Arc<Policy>,
    resolver: Arc<dyn Resolve>,
    tls: TlsConnector,
    pool: Pool,
    /// Whose names are looked up.
    account: Option<AccountId>,
}

impl Client {
    pub fn new(policy: Policy) -> Result<Self, rustls::Error> {
        Self::with_resolver(policy, Arc::new(Sharing::new(SystemResolver::default())))
    }

    /// A client that asks another resolver.
    pub fn with_resolver(policy: Policy, resolver: Arc<dyn Resolve>) -> Result<Self, rustls::Error> {
        Ok(Self {
            policy: Arc::new(policy),
            resolver,
            tls: connector(&Certificates::default())?,
            pool: Pool::default(),
            account: None,
        })
    }

    /// The same client, trusting these certificates too.
    pub fn trusting(self, further: &Certificates) -> Result<Self, rustls::Error> {
        let tls = connector(further)?;
        Ok(Self { tls, ..self })
    }

    /// The same client, for requests of an account: each has only a part of the threads that look names up.
    #[must_use]
    pub fn on_behalf_of(&self, account: AccountId) -> Self {
        Self {
            account: Some(account),
            ..self.clone()
        }
    }

    /// Judges an address that an account gives, without resolving or calling it.
    pub fn check_address(&self, url: &str) -> Result<(), Refusal> {
        let target = Target::parse(url)?;
        guard::check_name(&self.policy, &target)?;
        match target.host().literal() {
            Some(address) => guard::check(&self.policy, &target, &[address]),
            None => Ok(()),
        }
    }

    /// Sends a request and reads the answer.
    pub async fn send(&self, outgoing: Outgoing) -> Result<Answer, SendError> {
        self.send_timed(outgoing).await.outcome
    }

    /// Sends a request, reads the answer, and says where the time went.
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
        let (limit, keep, log) = (outgoing.deadline, outgoing.keep_body, outgoing.log);
        let mut progress = Progress::default();
        let exchange = self.exchange(&target, outgoing, &mut progress);
        let outcome = match tokio::time::timeout(limit, exchange).await {
            Err(_) => Err(progress.cut_off(&target, limit)),
            Ok(Err(error)) => Err(error),
            Ok(Ok(exchange)) => {
                let time = limit.saturating_sub(started.elapsed());
                let status = exchange.status();
                let body = exchange.body(keep, time, &self.pool).await;
                let took = started.elapsed();
                Ok(Answer { status, body, took })
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

fn connector(further: &Certificates) -> Result<TlsConnector, rustls::Error> {
    let mut roots = rustls::RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    further.add_to(&mut roots);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
