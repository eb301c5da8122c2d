//! Every request against Getir's own description of its gateway, written down by hand: method, path, whether the
//! `token` header is wanted, and the fields that the body may and must have.

use super::*;
use garson_core::platform::{MenuStep, Window};
use serde_json::json;

struct Operation {
    method: &'static str,
    path: &'static str,
    token: bool,
    /// Name, JSON type, required. No list: no body.
    body: Option<&'static [(&'static str, &'static str, bool)]>,
}

const fn bare(method: &'static str, path: &'static str) -> Operation {
    Operation {
        method,
        path,
        token: true,
        body: None,
    }
}

const OPERATIONS: &[Operation] = &[
    Operation {
        method: "POST",
        path: "/auth/login",
        token: false,
        body: Some(&[
            ("appSecretKey", "string", true),
            ("restaurantSecretKey", "string", true),
        ]),
    },
    Operation {
        method: "PUT",
        path: "/restaurants/pos-status",
        token: false,
        body: Some(&[
            ("posStatus", "number", true),
            ("appSecretKey", "string", true),
            ("restaurantSecretKey", "string", true),
        ]),
    },
    Operation {
        method: "POST",
        path: "/food-orders/{foodOrderId}/cancel",
        token: true,
        body: Some(&[
            ("cancelReasonId", "string", false),
            ("cancelNote", "string", false),
            ("productId", "string", false),
        ]),
    },
    bare("POST", "/food-orders/{foodOrderId}/verify"),
    bare("POST", "/food-orders/{foodOrderId}/verify-scheduled"),
    bare("POST", "/food-orders/{foodOrderId}/prepare"),
    bare("POST", "/food-orders/{foodOrderId}/handover"),
    bare("POST", "/food-orders/{foodOrderId}/deliver"),
    bare("POST", "/food-orders/active"),
    bare("POST", "/food-orders/periodic/cancelled"),
    bare("GET", "/food-orders/{foodOrderId}/cancel-options"),
    bare("GET", "/food-orders/{foodOrderId}"),
    bare("GET", "/restaurants/menu"),
    bare("GET", "/restaurants/option-products"),
];

fn fits(path: &str, template: &str) -> bool {
    let (path, template): (Vec<_>, Vec<_>) = (path.split('/').collect(), template.split('/').collect());
    let is_placeholder = |part: &str| part.starts_with('{');
    path.len() == template.len()
        && path
            .iter()
            .zip(&template)
            .all(|(part, wanted)| part == wanted || (is_placeholder(wanted) && !part.is_empty()))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Number(_) => "number",
        _ => "other",
    }
}

/// The operation that the request is, if the description allows it.
fn check(request: &HttpRequest) -> Result<&'static str, String> {
    let path = request.url.strip_prefix(BASE).unwrap();
    // A path that is spelled out wins over one with a placeholder.
    let mut found: Vec<_> = OPERATIONS
        .iter()
        .filter(|operation| operation.method == request.method && fits(path, operation.path))
        .collect();
    found.sort_by_key(|operation| operation.path.contains('{'));
    let operation = found.first().ok_or(format!("no such operation: {path}"))?;
    let header = |name: &str| request.headers.iter().any(|(n, _)| n == name);
    if header("token") != operation.token {
        return Err(format!("the token of {path}"));
    }
    match (operation.body, &request.body) {
        (None, None) => return Ok(operation.path),
        (Some(_), Some(_)) if header("Content-Type") => {}
        _ => return Err(format!("the body of {path}")),
    }
    let body: Value = serde_json::from_slice(request.body.as_deref().unwrap_or_default()).unwrap();
    let fields = body.as_object().ok_or("not an object")?;
    let allowed = operation.body.unwrap_or_default();
    for (name, value) in fields {
        if !allowed
            .iter()
            .any(|(known, wanted, _)| known == name && kind(value) == *wanted)
        {
            return Err(format!("{name} of {path}"));
        }
    }
    let missing = allowed
        .iter()
        .find(|(name, _, required)| *required && !fields.contains_key(*name));
    missing.map_or(Ok(operation.path), |(name, ..)| {
        Err(format!("{path} lacks {name}"))
    })
}

#[test]
fn every_request_is_one_that_getir_describes() {
    let reason = Reason {
        id: "65f1c0de8a4b2f0012abc002".to_owned(),
        name: "x".to_owned(),
    };
    let mut used = Vec::new();
    for status in [
        Status::Scheduled,
        Status::New,
        Status::Preparing,
        Status::OnTheWay,
    ] {
        for order in super::calls::orders(status) {
            for call in [
                CallKind::Verify,
                CallKind::Cancel,
                CallKind::Ready,
                CallKind::Tell(Status::OnTheWay),
                CallKind::Tell(Status::Delivered),
            ] {
                let call_request = CallRequest {
                    call,
                    order: &order,
                    reason: Some(&reason),
                    note: Some("not"),
                    preparation_minutes: None,
                    now: Timestamp::default(),
                };
                if let Ok(request) = with_link(|link| Getir.write(&call_request, link)) {
                    used.push(check(&request));
                }
            }
            used.extend(
                with_link(|link| [Getir.look(&order, link), Getir.reasons(&order, link)])
                    .map(|r| check(&r.unwrap())),
            );
        }
    }
    let window = Window {
        from: Timestamp::default(),
        to: Timestamp::default(),
    };
    with_link(|link| {
        used.extend([0, 1].map(|page| check(&Getir.poll(link, &window, page).unwrap())));
        used.extend([Getir.login(link), Getir.enlist(link)].map(|r| check(&r.unwrap().unwrap())));
        let named = r#"{"productCategories":[{"id":"c","products":[{"id":"p","optionCategories":["g"]}]}]}"#;
        for answers in [&[][..], &[answer(200, named)]] {
            let Ok(MenuStep::Ask(request)) = Getir.menu(link, answers) else {
                panic!("no question")
            };
            used.push(check(&request));
        }
    });
    let wrong: Vec<_> = used.iter().filter_map(|found| found.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    for operation in OPERATIONS {
        assert!(
            used.contains(&Ok(operation.path)),
            "{} is never used",
            operation.path
        );
    }
    // The check notices what it should.
    let bad = crate::common::request::with_json(
        "POST",
        format!("{BASE}/auth/login"),
        &json!({ "appSecretKey": 1 }),
    );
    assert!(check(&bad).is_err());
}
