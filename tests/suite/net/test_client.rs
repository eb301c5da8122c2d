//! HTTP clients with a resolver that the test controls, and requests for them.

use garson::net::guard::Policy;
use garson::net::resolve::{Resolve, Resolving};
use garson::net::{Client, HeaderCase, Log, Outgoing, SendError, Sent};
use garson_core::platform::Trust;
use http::{HeaderMap, Method};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Answers the first list to the first question, the second to the second, and the last to all others.
struct Flipping {
    answers: Vec<Vec<IpAddr>>,
    asked: Arc<AtomicUsize>,
}

impl Resolve for Flipping {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        let n = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.get(n).or(self.answers.last()).cloned().unwrap();
        Box::pin(async move { Ok(answer) })
    }
}

/// A client whose resolver gives these answers, and how often it was asked.
pub fn flipping(answers: &[&[&str]], allow: &[String]) -> (Client, Arc<AtomicUsize>) {
    let asked = Arc::<AtomicUsize>::default();
    let answers = answers
        .iter()
        .map(|list| list.iter().map(|ip| ip.parse().unwrap()).collect())
        .collect();
    let resolver = Flipping {
        answers,
        asked: Arc::clone(&asked),
    };
    let policy = Policy {
        allow_targets: allow.iter().map(|target| target.parse().unwrap()).collect(),
        ..Policy::default()
    };
    let client = Client::with_resolver(policy, Arc::new(resolver)).unwrap();
    (client, asked)
}

/// Takes its time, and then answers this or knows nothing.
struct Slow(Option<IpAddr>, Duration);

impl Resolve for Slow {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            tokio::time::sleep(self.1).await;
            let found = self.0.ok_or(std::io::ErrorKind::NotFound)?;
            Ok(vec![found])
        })
    }
}

/// A client that may call this machine, and whose names take so long.
pub fn slow_names(answer: Option<&str>, pause: Duration) -> Client {
    let resolver = Slow(answer.map(|ip| ip.parse().unwrap()), pause);
    Client::with_resolver(private_policy(), Arc::new(resolver)).unwrap()
}

fn private_policy() -> Policy {
    Policy {
        allow_private: true,
        ..Policy::default()
    }
}

/// A client that may call this machine.
pub fn private() -> Client {
    Client::new(private_policy()).unwrap()
}

/// A request to an address that an account gave.
pub fn post(url: &str) -> Outgoing {
    Outgoing {
        method: Method::POST,
        url: url.to_owned(),
        headers: HeaderMap::new(),
        header_case: HeaderCase::default(),
        body: "{}".into(),
        trust: Trust::Account,
        deadline: Duration::from_secs(10),
        keep_body: 1024,
        log: Log::Every,
        may_repeat: false,
    }
}

/// One that may be sent twice.
pub fn repeatable(url: &str) -> Outgoing {
    Outgoing {
        may_repeat: true,
        ..post(url)
    }
}

pub fn status(sent: &Sent) -> u16 {
    sent.outcome.as_ref().unwrap().status
}

pub fn error(sent: &Sent) -> &SendError {
    sent.outcome.as_ref().unwrap_err()
}
