//! Limits those who guess passwords and codes: after some wrong ones in a row, the same guesser has to wait longer and longer.

use crate::app::App;
use crate::app::password_threads::Requester;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use crate::telemetry::Refusal;
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::AccountId;
use garson_core::time::Timestamp;
use garson_store::Partition;
use garson_store::tables::sessions;
use garson_store::tables::sessions::SessionHash;
use garson_store::vault::lookup_hash;
use serde_json::json;
use std::net::IpAddr;
use std::time::Duration;

/// So many failures in a row are forgiven.
const FORGIVEN: i64 = 5;
/// How long a guesser is locked after one more, and at most; it doubles with each.
const FIRST_LOCK: Duration = Duration::from_secs(60);
const LONGEST_LOCK: Duration = Duration::from_secs(15 * 60);
/// Failures are forgotten after this time.
pub const FORGET_FAILURES: Duration = Duration::from_secs(24 * 60 * 60);

/// By whom wrong passwords of a user are counted: a stranger's do not lock out anybody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guesser {
    /// A browser on which the user has been signed in before.
    Browser([u8; 16]),
    /// Somebody who is signed in.
    Session(SessionHash),
    Address(Option<IpAddr>),
    /// All strangers together. A code is short, so that many addresses could find one.
    Anybody,
}

/// What is guessed at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Guessed<'a> {
    Password { email: &'a str },
    Code { email: &'a str },
}

impl Guesser {
    pub(super) fn requester(self) -> Requester {
        match self {
            Self::Browser(_) | Self::Session(_) => Requester::Known,
            Self::Address(client) => Requester::Stranger(client),
            Self::Anybody => Requester::Stranger(None),
        }
    }

    /// What the failures are kept under. They end with the password that was guessed at.
    pub(super) fn key(self, guessed: Guessed<'_>, hash: Option<&str>) -> SessionHash {
        let guesser = match self {
            Self::Browser(id) => [b"browser ".as_slice(), &id].concat(),
            Self::Session(id) => [b"session ".as_slice(), &id].concat(),
            Self::Address(client) => {
                let client = client.map_or_else(String::new, |client| client.to_string());
                format!("address {client}").into_bytes()
            }
            Self::Anybody => b"anybody".to_vec(),
        };
        let (email, kind) = match guessed {
            Guessed::Password { email } => (email, b"".as_slice()),
            Guessed::Code { email } => (email, b"code ".as_slice()),
        };
        let email = lookup_hash(email.as_bytes());
        let password = lookup_hash(hash.unwrap_or_default().as_bytes());
        lookup_hash(&[&email, &password, kind, guesser.as_slice()].concat())
    }
}

/// Makes an attempt, unless there were too many wrong ones. It counts as a failure until it has turned out right: many at once are
/// not judged by a count that all of them saw.
pub(super) async fn limited(
    app: &App,
    key: SessionHash,
    attempt: impl Future<Output = Result<bool, Fault>>,
) -> Result<(), Fault> {
    let now = app.now();
    app.store
        .write(Partition::COMMON, move |tx| {
            match sessions::failures(tx, &key)? {
                Some((count, last_at)) if locked_until(count, last_at).is_some_and(|until| now < until) => {
                    return Err(Fault::SignInLocked);
                }
                Some((_, last_at)) if now.since(last_at) > FORGET_FAILURES => {
                    sessions::clear_failures(tx, &key)?;
                }
                _ => {}
            }
            Ok(sessions::record_failure(tx, &key, now)?)
        })
        .await?;
    if !attempt.await? {
        return Err(Fault::SignInRefused);
    }
    app.store
        .write(Partition::COMMON, move |tx| {
            Ok(sessions::clear_failures(tx, &key)?)
        })
        .await
}

/// Until when a guesser is locked after so many failures.
fn locked_until(failures: i64, last_at: Timestamp) -> Option<Timestamp> {
    let over = u32::try_from(failures - FORGIVEN).ok()?;
    let lock = FIRST_LOCK.saturating_mul(1 << over.min(10));
    Some(last_at.plus(lock.min(LONGEST_LOCK)))
}

/// The e-mail address is personal data, and what a stranger types may be anything: the account's id is enough.
pub(super) fn note_refusal(app: &App, refused: &Fault, client: Option<IpAddr>, account: Option<AccountId>) {
    let kind = match refused {
        Fault::SignInRefused => Refusal::WrongPassword,
        Fault::SignInLocked => Refusal::SignInLocked,
        Fault::SignInFlood => Refusal::SignInFlood,
        _ => return,
    };
    let account = account.map_or_else(|| "no such user".to_owned(), |id| format!("account {id}"));
    app.metrics.refusals.note_with(kind, client, &account);
}

/// The names in the audit log of what was wrong.
pub(super) const WRONG_PASSWORD: &str = "wrong_password";
pub(super) const WRONG_CODE: &str = "wrong_code";

/// Notes a refusal, and records it in the account's audit log: some in a minute only, so that guessing does not fill the log.
pub(super) async fn record_refusal(app: &App, refused: &Fault, by: By, wrong: &'static str) {
    note_refusal(app, refused, by.address, Some(by.account));
    let reason = match refused {
        Fault::SignInRefused => wrong,
        Fault::SignInLocked => "locked",
        Fault::SignInFlood => "flood",
        _ => return,
    };
    if !app.sign_in_limits.may_record_refusal(by.account) {
        return;
    }
    let now = app.now();
    let recorded = app.store.write(by.account, move |tx| {
        let action = Recorded::new(RecordKind::Session, Verb::Refused);
        by.record(tx, action.after(json!({ "reason": reason })), now);
        Ok::<_, Fault>(())
    });
    if let Err(fault) = recorded.await {
        tracing::warn!(?fault, "a refused sign-in was not recorded in the audit log");
    }
}
