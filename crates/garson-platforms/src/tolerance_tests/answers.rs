//! Every answer of every platform, with every value in turn missing or of another kind: a refusal never becomes a success, and
//! what nothing depends on costs nothing.

use super::fixtures::{ALL, ANSWERS, Answer, Connector, Question, connectors, direct, fixture, folder};
use super::{odd_values, order, places, read, with};
use crate::{all, find};
use garson_core::integration::Credentials;
use garson_core::item::{Availability, ItemChange, ItemRef};
use garson_core::order::{CallKind, Status};
use garson_core::platform::{HttpResponse, Link, MenuStep, Outcome, PlatformError, Step, Success};
use garson_core::secret::Secret;
use garson_core::store_status::StoreState;
use garson_core::time::Timestamp;
use serde_json::{Value, json};

const CALLS: [CallKind; 5] = [
    CallKind::Verify,
    CallKind::Cancel,
    CallKind::Ready,
    CallKind::Tell(Status::OnTheWay),
    CallKind::Tell(Status::Delivered),
];

fn with_link<T>(use_it: impl FnOnce(&Link<'_>) -> T) -> T {
    let secret = |text: &str| Secret::new(text.to_owned());
    let names = ["apiKey", "apiSecret", "username", "password", "chainCode"];
    let mut credentials: Credentials = names
        .iter()
        .map(|name| ((*name).to_owned(), secret("a-secret")))
        .collect();
    credentials.insert("secretKey".to_owned(), secret("0123456789abcdef0123456789ABCDEF"));
    use_it(&Link {
        base: "https://platform.example",
        branch: "107703:3311",
        credentials: &credentials,
        token: Some(&secret("token")),
        callback_hosts: &[],
    })
}

fn response(status: u16, body: &Value) -> HttpResponse {
    HttpResponse {
        status,
        body: body.to_string().into_bytes(),
    }
}

fn outcome(key: &str, call: CallKind, status: u16, body: &Value) -> Outcome {
    with_link(|link| find(key).unwrap().outcome(call, link, &response(status, body)))
}

/// What is taken from an answer, in texts that can be compared; or the words of the trouble with it.
fn taken(answer: &Answer, body: &Value) -> Result<Vec<String>, String> {
    let platform = find(answer.key).unwrap();
    let given = response(200, body);
    with_link(|link| match answer.question {
        Question::Refused(_) => Ok(Vec::new()),
        Question::Done => CALLS
            .iter()
            .map(|call| platform.outcome(*call, link, &given))
            .map(|outcome| outcome.map(|success| format!("{success:?}")))
            .collect::<Result<_, _>>()
            .map_err(|trouble| trouble.to_string()),
        Question::Session => platform
            .session(&given)
            .map(|session| vec![session.token.expose().clone()])
            .map_err(|trouble| trouble.to_string()),
        Question::Reasons => platform
            .read_reasons(link, &given)
            .map(|reasons| reasons.into_iter().map(|reason| reason.id).collect())
            .map_err(|trouble| trouble.to_string()),
        Question::Menu(before) => {
            let before = before.iter().map(|file| fixture(answer.key, file));
            let mut answers: Vec<_> = before.map(|body| response(200, &body)).collect();
            answers.push(given);
            match platform.menu(link, &answers) {
                Ok(MenuStep::Ask(request)) => Ok(vec![request.url]),
                Ok(MenuStep::Menu(menu)) => Ok(menu.categories.into_iter().map(|it| it.id).collect()),
                Err(PlatformError::Answered(trouble)) => Err(trouble.to_string()),
                Err(error) => panic!("{} {}: {error}", answer.key, answer.file),
            }
        }
        // What is odd within an order is its reader's affair.
        Question::Poll => platform
            .polled(link, 0, &given)
            .map(|page| vec![page.orders.len().to_string(), page.more.to_string()])
            .map_err(|trouble| trouble.to_string()),
        Question::Look => platform
            .looked(link, &given)
            .map(|_| Vec::new())
            .map_err(|trouble| trouble.to_string()),
        Question::Store(before) => {
            let before = before.iter().map(|file| fixture(answer.key, file));
            let mut answers: Vec<_> = before.map(|body| response(200, &body)).collect();
            answers.push(given);
            done(platform.read_store(link, &answers), |reading| {
                reading.state.to_string()
            })
        }
        Question::Hours => done(platform.read_hours(link, &[given]), |week| format!("{week:?}")),
        Question::Item => {
            let item = ItemRef::product("1");
            done(platform.read_item(&item, link, &[given]), |reading| {
                format!("{:?}", reading.is_available)
            })
        }
        Question::Items => {
            let change = ItemChange {
                items: vec![ItemRef::product("1")],
                to: Availability::Available,
                now: Timestamp::default(),
            };
            done(platform.change_items(&change, link, &[given]), |changed| {
                format!("{:?}", changed.results)
            })
        }
        Question::Batch => done(platform.read_prices("1", link, &[given]), |reading| {
            format!("{reading:?}")
        }),
        Question::CatalogImport => platform
            .read_catalog_import(&given.body)
            .map(|import| vec![import.import_id])
            .map_err(|found| format!("{} {}", found.path, found.message)),
    })
}

/// The result of the last step, as a text. Another question is a result too: the answer did not hold what was looked for.
fn done<T>(step: Result<Step<T>, PlatformError>, write: impl Fn(T) -> String) -> Result<Vec<String>, String> {
    match step {
        Ok(Step::Done(result)) => Ok(vec![write(result)]),
        Ok(Step::Ask(request)) => Ok(vec![request.url]),
        Err(PlatformError::Answered(trouble)) => Err(trouble.to_string()),
        Err(error) => panic!("{error}"),
    }
}

/// A word that is not known is an unknown state with that word, not an answer that cannot be read.
#[test]
fn unknown_word_for_a_state_is_an_unknown_state() {
    for (key, file, pointer, before) in [
        ("getir", "restaurant.json", "/status", None),
        ("trendyol", "stores.json", "/restaurants/1/workingStatus", None),
        (
            "migros",
            "view-status.json",
            "/data/status",
            Some("store-detail.json"),
        ),
        ("yemeksepeti", "availability.json", "/0/availabilityState", None),
    ] {
        let mut document = fixture(key, file);
        *document.pointer_mut(pointer).unwrap() = json!("ON_FIRE");
        let mut answers: Vec<_> = before
            .iter()
            .map(|file| response(200, &fixture(key, file)))
            .collect();
        answers.push(response(200, &document));
        let step = with_link(|link| find(key).unwrap().read_store(link, &answers));
        let Ok(Step::Done(reading)) = step else {
            panic!("{key}: {step:?}");
        };
        assert_eq!(reading.state, StoreState::Unknown, "{key}");
        assert_eq!(reading.word.as_deref(), Some("ON_FIRE"), "{key}");
    }
}

/// The documents that differ from this one in one place, with the place.
fn variants(document: &Value) -> impl Iterator<Item = (String, String, Value)> + '_ {
    let mut all = Vec::new();
    places(document, "", "", &mut all);
    all.into_iter().flat_map(move |(pointer, pattern)| {
        odd_values().into_iter().map(move |value| {
            let body = with(document, &pointer, value.as_ref());
            (format!("{pointer} {value:?}"), pattern.clone(), body)
        })
    })
}

#[test]
fn every_fixture_is_tried() {
    let connectors: Vec<Connector> = connectors().into_iter().chain([direct()]).collect();
    for platform in all() {
        let provider = platform.provider();
        let key = provider.as_str();
        let connector = connectors.iter().find(|connector| connector.key == key);
        let connector = connector.unwrap_or_else(|| panic!("{key} has no messages"));
        for entry in std::fs::read_dir(folder(key)).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            let is_answer = ANSWERS
                .iter()
                .any(|answer| answer.key == key && answer.file == file);
            assert!(
                connector.has(&file) || is_answer,
                "{key}/{file} is neither a message nor an answer"
            );
        }
    }
}

#[test]
fn an_odd_value_makes_no_success_of_a_refusal() {
    for answer in ANSWERS {
        let Question::Refused(statuses) = answer.question else {
            continue;
        };
        let document = fixture(answer.key, answer.file);
        for (place, pattern, body) in variants(&document) {
            // It says itself that it was done.
            if pattern == "success" && body["success"] == json!(true) {
                continue;
            }
            for status in statuses {
                for call in CALLS {
                    let name = format!("{} {} {status} {call:?} {place}", answer.key, answer.file);
                    let whole = outcome(answer.key, call, *status, &document);
                    assert_ne!(whole, Ok(Success::Done), "{name}");
                    match outcome(answer.key, call, *status, &body) {
                        Ok(Success::Done) => panic!("{name}: done"),
                        Ok(Success::Already) => assert_eq!(whole, Ok(Success::Already), "{name}"),
                        Err(trouble) => assert!(!trouble.to_string().is_empty(), "{name}"),
                    }
                }
            }
        }
    }
}

/// An order that has not reached us yet as far as its platform knows is not given up for a code or words that are odd.
#[test]
fn an_odd_value_makes_nothing_final_of_what_is_too_early() {
    let document = fixture("yemeksepeti", "conflict-early.json");
    for (place, pattern, body) in variants(&document) {
        if pattern != "currentState" {
            let whole = outcome("yemeksepeti", CallKind::Verify, 409, &document);
            let found = outcome("yemeksepeti", CallKind::Verify, 409, &body);
            assert_eq!(
                std::mem::discriminant(&whole.unwrap_err()),
                std::mem::discriminant(&found.unwrap_err()),
                "{place}"
            );
        }
    }
}

#[test]
fn an_odd_value_costs_no_more_of_an_answer_than_itself() {
    for answer in ANSWERS {
        let document = fixture(answer.key, answer.file);
        let whole = taken(answer, &document).unwrap();
        for (place, pattern, body) in variants(&document) {
            let name = format!("{} {} {place}", answer.key, answer.file);
            let is_essential = answer.essentials == ALL || answer.essentials.contains(&pattern.as_str());
            match taken(answer, &body) {
                Ok(found) if !is_essential => assert_eq!(found, whole, "{name}"),
                Ok(_) => {}
                Err(words) => {
                    assert!(is_essential, "{name}: {words}");
                    assert!(!words.is_empty(), "{name}");
                }
            }
        }
    }
}

/// Orders in our own format are not repaired: an odd value is an error, or the order is taken exactly as it is written.
#[test]
fn a_shop_is_told_of_every_odd_value() {
    let direct = direct();
    for (kind, document) in &direct.messages {
        for (place, _, body) in variants(document) {
            match read(direct.key, kind, body.to_string()) {
                Err(found) => {
                    assert!(!found.path.is_empty() && !found.message.is_empty(), "{place}");
                }
                Ok(message) => {
                    assert!(
                        message.branch.as_ref().is_some_and(|it| !it.is_empty()),
                        "{place}"
                    );
                    let order = order(message).unwrap();
                    assert!(!order.identity.is_empty(), "{place}");
                    assert!(!order.content.items.is_empty(), "{place}");
                    assert_eq!(order.content.amount.total.0, 37_500, "{place}");
                }
            }
        }
    }
}
