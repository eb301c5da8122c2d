//! Work that needs several requests, one after the other.

use garson_core::platform::{CallError, HttpRequest, HttpResponse, Link, PlatformError, Step};

/// A series of requests that must all succeed: the next one, or the result after the last.
pub fn series<T>(
    requests: Vec<HttpRequest>,
    answers: &[HttpResponse],
    succeed: impl Fn(&HttpResponse) -> Result<(), CallError>,
    result: T,
) -> Result<Step<T>, PlatformError> {
    for answer in answers {
        succeed(answer).map_err(PlatformError::Answered)?;
    }
    Ok(match requests.into_iter().nth(answers.len()) {
        Some(request) => Step::Ask(request),
        None => Step::Done(result),
    })
}

/// What the answer to the only request says.
pub fn single<T>(
    request: impl FnOnce() -> Result<HttpRequest, PlatformError>,
    answers: &[HttpResponse],
    read: impl FnOnce(&HttpResponse) -> Result<T, CallError>,
) -> Result<Step<T>, PlatformError> {
    match answers {
        [] => request().map(Step::Ask),
        [answer, ..] => read(answer).map(Step::Done).map_err(PlatformError::Answered),
    }
}

/// A setting of the operator, where it is not empty.
pub fn setting<'a>(link: &Link<'a>, name: &str) -> Option<&'a str> {
    let value = link.credentials.get(name)?.expose().trim();
    (!value.is_empty()).then_some(value)
}
