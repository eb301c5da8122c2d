//! Requests, exactly, and what the answers to them mean.

use super::*;
use garson_core::explanation::{Explanation, MissingData, PlatformTask};
use garson_core::order::Status;
use garson_core::platform::{RefusalCause, Success, Trust};
use std::time::Duration;

const AGENT: &str = "107703 - Garson";
// The key and the secret, a Turkish letter in it.
const BASIC: &str = "Basic a2V5OsWfaWZyZQ==";
const SHIP: CallKind = CallKind::Tell(Status::OnTheWay);
const DELIVER: CallKind = CallKind::Tell(Status::Delivered);

fn call_request<'a>(call: CallKind, order: &'a Order, reason: Option<&'a Reason>) -> CallRequest<'a> {
    CallRequest {
        call,
        order,
        reason,
        note: Some("not"),
        preparation_minutes: None,
        now: Timestamp::default(),
    }
}

/// Method, address below the base, headers and body of a request.
fn shown(
    request: Result<HttpRequest, PlatformError>,
) -> Result<(String, Vec<String>, String), PlatformError> {
    let request = request?;
    assert_eq!(request.trust, Trust::Operator);
    assert!(
        request
            .limit
            .is_some_and(|name| CAPABILITY.limits.iter().any(|l| l.name == name))
    );
    let url = request.url.strip_prefix(BASE).unwrap_or_default();
    let header = |(name, value): &(String, Secret<String>)| format!("{name}: {}", value.expose());
    Ok((
        format!("{} {url}", request.method),
        request.headers.iter().map(header).collect(),
        String::from_utf8(request.body.unwrap_or_default()).unwrap_or_default(),
    ))
}

fn called(call: CallKind, order: &Order) -> Result<(String, String), PlatformError> {
    let credentials = credentials();
    let (line, headers, body) = shown(Trendyol.write(&call_request(call, order, None), &link(&credentials)))?;
    let expected = [
        "Content-Type: application/json".to_owned(),
        format!("Authorization: {BASIC}"),
        format!("User-Agent: {AGENT}"),
        "x-agentname: Garson".to_owned(),
        "x-executor-user: kasa@example.com".to_owned(),
    ];
    assert_eq!(headers, expected);
    Ok((line, body))
}

#[test]
fn each_step_is_the_call_that_the_courier_calls_for() {
    let root = "PUT /integrator/order/meal/suppliers/107703/packages";
    let refused = || {
        Err(PlatformError::Unsupported {
            what: PlatformTask::Step,
        })
    };
    for (fixture, id, minutes, pieces, ships, delivers) in [
        (GO, GO_ID, 25, 1..=4, false, false),
        (STORE, STORE_ID, 20, 11..=15, true, true),
        (PICKUP, PICKUP_ID, 20, 21..=21, false, true),
    ] {
        let order = order(fixture);
        let pieces: Vec<_> = pieces
            .map(|n| format!("b7e6d0c4-0000-4000-8000-0000000000{n:02}"))
            .collect();
        let said = |rest: &str, body: Value| Ok((format!("{root}/{rest}"), body.to_string()));
        assert_eq!(
            called(CallKind::Verify, &order),
            said("picked", json!({ "packageId": id, "preparationTime": minutes }))
        );
        assert_eq!(
            called(CallKind::Ready, &order),
            said("invoiced", json!({ "packageId": id }))
        );
        assert_eq!(
            called(CallKind::Cancel, &order),
            said(
                "unsupplied",
                json!({ "packageId": id, "itemIdList": pieces, "reasonId": 621 })
            )
        );
        let shipped = said(&format!("{id}/manual-shipped"), json!({}));
        assert_eq!(called(SHIP, &order), if ships { shipped } else { refused() });
        let delivered = said(&format!("{id}/manual-delivered"), json!({}));
        assert_eq!(
            called(DELIVER, &order),
            if delivers { delivered } else { refused() }
        );
        assert_eq!(Trendyol.wants(SHIP, &order, &credentials()), ships);
        assert_eq!(Trendyol.wants(DELIVER, &order, &credentials()), delivers);
        assert_eq!(called(CallKind::Tell(Status::Preparing), &order), refused());
    }
}

#[test]
fn the_kitchens_own_time_wins() {
    let (order, credentials) = (order(GO), credentials());
    let minutes = |minutes| {
        let call_request = CallRequest {
            preparation_minutes: minutes,
            ..call_request(CallKind::Verify, &order, None)
        };
        let (_, _, body) = shown(Trendyol.write(&call_request, &link(&credentials))).unwrap_or_default();
        serde_json::from_str::<Value>(&body).unwrap_or_default()["preparationTime"].clone()
    };
    assert_eq!(minutes(Some(35)), json!(35));
    assert_eq!(minutes(None), json!(25));
    assert_eq!(minutes(Some(0)), json!(20));
}

#[test]
fn reasons_are_those_of_the_courier() {
    let ids = |order: Option<&Order>| -> Vec<String> {
        Trendyol
            .fixed_reasons(order)
            .into_iter()
            .map(|reason| reason.id)
            .collect()
    };
    let all = ["621", "622", "623", "624", "626", "627"];
    let without_courier = ["621", "622", "623", "627"];
    assert_eq!(ids(None), all);
    assert_eq!(ids(Some(&order(STORE))), all);
    assert_eq!(ids(Some(&order(GO))), without_courier);
    assert_eq!(ids(Some(&order(PICKUP))), without_courier);
    let (order, credentials) = (order(GO), credentials());
    let with_id = |id: &str| {
        let reason = Reason {
            id: id.to_owned(),
            name: String::new(),
        };
        let request = Trendyol.write(
            &call_request(CallKind::Cancel, &order, Some(&reason)),
            &link(&credentials),
        );
        shown(request).map(|(_, _, body)| body.contains(&format!("\"reasonId\":{id}")))
    };
    assert_eq!(with_id("627"), Ok(true));
    let what = MissingData::ReasonNumber;
    assert_eq!(with_id("kapalı"), Err(PlatformError::MissingData { what }));
}

#[test]
fn an_order_without_its_pieces_cannot_be_cancelled() {
    let what = MissingData::PackageItems;
    for data in [
        None,
        Some("{}"),
        Some("x"),
        Some(r#"{"courier":"none","items":[]}"#),
    ] {
        let order = Order {
            provider_data: data.map(str::to_owned),
            ..order(GO)
        };
        assert_eq!(
            called(CallKind::Cancel, &order),
            Err(PlatformError::MissingData { what }),
            "{data:?}"
        );
        assert!(called(CallKind::Verify, &order).is_ok());
    }
}

#[test]
fn questions_are_signed_too() {
    let (order, credentials) = (order(GO), credentials());
    let (line, headers, body) = shown(Trendyol.look(&order, &link(&credentials))).unwrap_or_default();
    assert_eq!(
        line,
        format!("GET /integrator/order/meal/suppliers/107703/packages/{GO_ID}")
    );
    assert_eq!((headers.len(), body.as_str()), (4, ""));
    let window = Window {
        from: Timestamp::from_millis(1_767_286_800_000),
        to: Timestamp::from_millis(1_767_286_830_000),
    };
    let (line, _, _) = shown(Trendyol.poll(&link(&credentials), &window, 3)).unwrap_or_default();
    assert_eq!(
        line,
        "GET /integrator/order/meal/suppliers/107703/packages?storeId=3311\
         &packageStatuses=Created,Picking,Invoiced,Shipped,Delivered,Cancelled,UnSupplied\
         &packageModificationStartDate=1767286800000&packageModificationEndDate=1767286830000&page=3&size=50"
    );
}

#[test]
fn seller_and_store_come_from_the_branch_or_the_credentials() {
    let order = order(GO);
    let line = |branch: &str, credentials: &Credentials| {
        let link = Link {
            branch,
            ..link(credentials)
        };
        let window = Window {
            from: Timestamp::default(),
            to: Timestamp::default(),
        };
        let agent = shown(Trendyol.look(&order, &link)).map(|(_, headers, _)| headers.join(" "));
        let poll = shown(Trendyol.poll(&link, &window, 0)).map(|(line, _, _)| line);
        poll.and_then(|line| agent.map(|agent| (line, agent)))
    };
    let starts = |branch: &str, credentials: &Credentials, supplier: &str, store: &str| {
        let root = format!("GET /integrator/order/meal/suppliers/{supplier}/packages?storeId={store}&");
        line(branch, credentials).is_ok_and(|(line, agent)| {
            line.starts_with(&root) && agent.contains(&format!("User-Agent: {supplier} - "))
        })
    };
    let keys = [(API_KEY, "k"), (API_SECRET, "s")];
    assert!(starts("5:6", &credentials(), "5", "6"));
    assert!(starts("6", &credentials(), "107703", "6"));
    assert!(starts("5:6", &secrets(&keys), "5", "6"));
    let missing = |name| Err(PlatformError::MissingCredential { name });
    assert_eq!(line("6", &secrets(&keys)), missing(SUPPLIER_ID));
    assert_eq!(line("5:", &secrets(&keys)), missing("remoteId"));
    assert_eq!(line("5:6", &secrets(&[(API_KEY, "k")])), missing(API_SECRET));
    assert_eq!(line("5:6", &Credentials::new()), missing(API_KEY));
    // Nothing that is written in a setting can leave its place.
    let sly = secrets(&[(API_KEY, "k"), (API_SECRET, "s"), (INTEGRATOR_NAME, "a\r\nx: şy")]);
    let (line, agent) = line("../5:6&page=9", &sly).unwrap_or_default();
    assert!(
        line.contains("/suppliers/..%2F5/packages?storeId=6%26page%3D9&"),
        "{line}"
    );
    assert!(agent.contains("- ax: y x-agentname: ax: y"), "{agent}");
}

#[test]
fn without_an_integrator_the_seller_is_its_own() {
    let keys = secrets(&[(API_KEY, "k"), (API_SECRET, "s")]);
    let headers = shown(Trendyol.look(&order(GO), &link(&keys))).map(|(_, headers, _)| headers);
    assert_eq!(
        headers.unwrap_or_default(),
        [
            "Authorization: Basic azpz",
            "User-Agent: 107703 - SelfIntegration",
            "x-agentname: SelfIntegration",
            "x-executor-user: pos@garson.invalid"
        ]
    );
}

#[test]
fn answers_are_told_apart() {
    let credentials = credentials();
    let outcome = |call, status, body| Trendyol.outcome(call, &link(&credentials), &response(status, body));
    let words = r#"{"errors":[{"message":"önce"},{"message":"sonra"}]}"#;
    for call in [CallKind::Verify, CallKind::Cancel, CallKind::Ready, SHIP, DELIVER] {
        for status in [200, 202, 204] {
            assert_eq!(outcome(call, status, ""), Ok(Success::Done));
        }
        for status in [400, 422] {
            let message = Explanation::answered(status, Some("önce; sonra"));
            assert_eq!(outcome(call, status, words), Err(CallError::Refused { message }));
        }
        for (status, cause) in [
            (401, RefusalCause::Access),
            (403, RefusalCause::Access),
            (404, RefusalCause::Other),
            (411, RefusalCause::Other),
        ] {
            let message = Explanation::answered(status, Some("önce; sonra"));
            assert_eq!(
                outcome(call, status, words),
                Err(CallError::retryable(message, cause))
            );
        }
        for status in [408, 425, 500, 502, 503, 504] {
            assert!(matches!(
                outcome(call, status, words),
                Err(CallError::Unclear { .. })
            ));
        }
        assert_eq!(
            outcome(call, 429, r#"{"message":"yavaş"}"#),
            Err(CallError::Later {
                message: Explanation::answered(429, Some("yavaş")),
                pause: Some(Duration::from_secs(10)),
            })
        );
        let conflict = outcome(call, 409, r#"{"exception":"Conflict"}"#);
        match call {
            CallKind::Ready => assert_eq!(conflict, Ok(Success::Already)),
            _ => {
                let retryable = CallError::retryable(
                    Explanation::answered(409, Some("Conflict")),
                    RefusalCause::Conflict,
                );
                assert_eq!(conflict, Err(retryable));
            }
        }
    }
}

#[test]
fn pages_hold_packages_as_they_are() {
    let credentials = credentials();
    let polled =
        |page, status, body: &str| Trendyol.polled(&link(&credentials), page, &response(status, body));
    let page = polled(0, 200, PAGE).unwrap_or_default();
    assert!(page.more);
    let ids: Vec<_> = page
        .orders
        .iter()
        .map(|body| read_order(std::str::from_utf8(body).unwrap_or_default()).map(|order| order.identity))
        .collect();
    assert_eq!(
        ids,
        [read_order(UBER), read_order(ENDED)].map(|order| order.map(|order| order.identity))
    );
    assert_eq!(polled(1, 200, PAGE).map(|page| page.more), Ok(false));
    for (body, found) in [
        ("{}", (0, false)),
        (r#"{"content":null,"totalPages":9}"#, (0, false)),
        (r#"{"content":[1],"totalPages":1}"#, (1, false)),
        (r#"{"content":[1]}"#, (1, true)),
    ] {
        let page = polled(0, 200, body).unwrap_or_default();
        assert_eq!((page.orders.len(), page.more), found, "{body}");
    }
    for (status, body) in [(200, "<html>"), (200, r#"{"content":{}}"#), (503, ""), (429, "")] {
        assert!(
            matches!(polled(0, status, body), Err(CallError::Later { .. })),
            "{status} {body}"
        );
    }
    assert!(matches!(
        polled(0, 401, ""),
        Err(CallError::RetryableRefusal { .. })
    ));
}

#[test]
fn a_looked_up_package_is_read_with_or_without_a_list_around_it() {
    let credentials = credentials();
    let looked = |status, body: &str| Trendyol.looked(&link(&credentials), &response(status, body));
    assert_eq!(looked(200, UBER), Ok(UBER.as_bytes().to_vec()));
    let listed = format!(r#"{{"content":[{UBER}]}}"#);
    assert_eq!(looked(200, &listed), Ok(UBER.trim_ascii().as_bytes().to_vec()));
    assert!(matches!(
        looked(200, r#"{"content":[]}"#),
        Err(CallError::Refused { .. })
    ));
    assert!(matches!(
        looked(404, r#"{"message":"DomainNotFound"}"#),
        Err(CallError::RetryableRefusal { .. })
    ));
    assert!(matches!(looked(500, ""), Err(CallError::Later { .. })));
    assert!(matches!(looked(200, ""), Err(CallError::Later { .. })));
}

#[test]
fn replies_make_the_platform_try_again_where_that_helps() {
    let status = |reception| Trendyol.reply(&reception, "r").status;
    let order_id = an_order("1").id;
    assert_eq!(status(IntakeOutcome::Taken { order_id }), 200);
    assert_eq!(status(IntakeOutcome::Conflict { order_id }), 200);
    assert_eq!(status(IntakeOutcome::Noted), 200);
    assert_eq!(status(IntakeOutcome::NotGenuine), 401);
    let name = || "x".to_owned();
    assert_eq!(status(IntakeOutcome::UnknownBranch { branch: name() }), 500);
    assert_eq!(status(IntakeOutcome::UnknownOrder { identity: name() }), 500);
    let (path, message) = (name(), name());
    assert_eq!(
        status(IntakeOutcome::Unreadable(Unreadable { path, message })),
        500
    );
}

/// The platform refuses requests without an acting user.
#[test]
fn somebody_acts_even_where_the_account_names_nobody() {
    for named in [None, Some(""), Some("  ")] {
        let mut credentials = credentials();
        credentials.remove(EXECUTOR_USER);
        credentials.extend(named.map(|name| (EXECUTOR_USER.to_owned(), Secret::new(name.to_owned()))));
        let order = order(STORE);
        let request = Trendyol.write(&call_request(CallKind::Verify, &order, None), &link(&credentials));
        let (_, headers, _) = shown(request).unwrap();
        assert!(
            headers.contains(&"x-executor-user: pos@garson.invalid".to_owned()),
            "{headers:?}"
        );
    }
}
