//! Tasks that may need several requests, each of which depends on the answers before it.

use super::contact::Contact;
use super::converse::converse;
use crate::app::App;
use crate::telemetry::Topic;
use garson_core::explanation::{PlatformFailure, PlatformTask};
use garson_core::menu::Menu;
use garson_core::platform::{CallError, HttpResponse, Link, MenuStep, PlatformError, Step};
use parking_lot::Mutex;
use tokio::time::Instant;

/// No task needs more requests than this, repeated ones included.
const MAX_REQUESTS: usize = 12;

/// Makes as many requests as a task needs. A request whose answer says nothing yet is made again after the pause that the platform
/// wants, as long as time and its patience allow.
pub async fn converse_steps<T: Send>(
    app: &App,
    contact: &Contact,
    topic: Topic,
    until: Instant,
    next: impl Fn(&Link<'_>, &[HttpResponse]) -> Result<Step<T>, PlatformError> + Sync,
) -> Result<T, CallError> {
    let began = Instant::now();
    let mut answers: Vec<HttpResponse> = Vec::new();
    for _ in 0..MAX_REQUESTS {
        // A task may be done before any request.
        let done_already = Mutex::new(None);
        let answer = converse(
            app,
            contact,
            topic,
            until,
            |link| match next(link, &answers)? {
                Step::Ask(request) => Ok(request),
                Step::Done(result) => {
                    *done_already.lock() = Some(result);
                    Err(PlatformError::Unsupported {
                        what: PlatformTask::AnotherQuestion,
                    })
                }
            },
            |link, response| {
                let mut so_far = answers.clone();
                so_far.push(response.clone());
                match next(link, &so_far) {
                    Ok(Step::Done(result)) => Ok(Answer::Last(result)),
                    Ok(Step::Ask(_)) => Ok(Answer::Next(response.clone())),
                    Err(PlatformError::Answered(trouble)) => Err(trouble),
                    Err(error) => Err(CallError::refused(error.explanation())),
                }
            },
        )
        .await;
        if let Some(result) = done_already.into_inner() {
            return Ok(result);
        }
        match answer {
            Ok(Answer::Last(result)) => return Ok(result),
            Ok(Answer::Next(response)) => answers.push(response),
            Err(CallError::NotYet { pause, patience, .. })
                if began.elapsed() + pause <= patience && Instant::now() + pause < until =>
            {
                tokio::time::sleep(pause).await;
            }
            Err(trouble) => return Err(trouble),
        }
    }
    Err(CallError::refused(PlatformFailure::MenuTooLong))
}

enum Answer<T> {
    /// There is another request.
    Next(HttpResponse),
    Last(T),
}

/// Reads the menu of an integration.
pub async fn read_menu(app: &App, contact: &Contact, until: Instant) -> Result<Menu, CallError> {
    let platform = contact.platform;
    converse_steps(app, contact, Topic::Menu, until, |link, answers| {
        Ok(match platform.menu(link, answers)? {
            MenuStep::Ask(request) => Step::Ask(request),
            MenuStep::Menu(menu) => Step::Done(menu),
        })
    })
    .await
}
