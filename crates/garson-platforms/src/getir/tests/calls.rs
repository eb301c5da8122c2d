//! The requests for each step, and what Getir is told of which courier's orders.

use super::*;
use garson_core::platform::MenuStep;

const READY: CallKind = CallKind::Ready;
const ON_THE_WAY: CallKind = CallKind::Tell(Status::OnTheWay);
const DELIVERED: CallKind = CallKind::Tell(Status::Delivered);

/// A request as text: method, address, headers, body, limit.
pub fn shown(request: &HttpRequest) -> String {
    let headers: Vec<_> = request
        .headers
        .iter()
        .map(|(name, value)| format!("{name}={}", value.expose()))
        .collect();
    let body = String::from_utf8(request.body.clone().unwrap_or_default()).unwrap();
    let limit = request.limit.unwrap_or("-");
    let path = request.url.strip_prefix(BASE).unwrap();
    format!("{} {path} {} {body} {limit}", request.method, headers.join(" "))
}

pub fn write(
    call: CallKind,
    order: &Order,
    reason: Option<&Reason>,
    note: Option<&str>,
) -> Result<String, PlatformError> {
    let call_request = CallRequest {
        call,
        order,
        reason,
        note,
        preparation_minutes: Some(20),
        now: Timestamp::default(),
    };
    with_link(|link| Getir.write(&call_request, link)).map(|request| shown(&request))
}

pub fn orders(status: Status) -> [Order; 2] {
    [NEW, WRAPPED].map(|body| record(&seen(NEW_ORDER, body).order, status))
}

#[test]
fn each_step_is_the_call_that_getir_knows() {
    let [theirs, ours] = orders(Status::New);
    let (a, b) = (
        "/food-orders/65f1c0de8a4b2f0012ab34cd",
        "/food-orders/65f1c0de8a4b2f0012ab34ce",
    );
    for (call, order, at, step) in [
        (CallKind::Verify, &theirs, a, Some("verify")),
        (CallKind::Verify, &ours, b, Some("verify")),
        (READY, &theirs, a, Some("prepare")),
        (READY, &ours, b, None),
        (ON_THE_WAY, &theirs, a, Some("handover")),
        (ON_THE_WAY, &ours, b, Some("prepare")),
        (DELIVERED, &theirs, a, None),
        (DELIVERED, &ours, b, Some("deliver")),
        (CallKind::Tell(Status::Preparing), &theirs, a, None),
        (CallKind::Tell(Status::Cancelled), &ours, b, None),
    ] {
        assert_eq!(
            Getir.wants(call, order, &credentials()),
            step.is_some(),
            "{call:?}"
        );
        let expected = step.map(|step| format!("POST {at}/{step} token=the-token  -"));
        assert_eq!(write(call, order, None, None).ok(), expected, "{call:?}");
        if step.is_none() {
            assert!(matches!(
                write(call, order, None, None),
                Err(PlatformError::Unsupported { .. })
            ));
        }
    }
}

#[test]
fn orders_for_later_are_verified_in_their_own_way() {
    let new = seen(NEW_ORDER, SCHEDULED).order;
    let at = "/food-orders/65f1c0de8a4b2f0012ab34cf";
    let early = write(CallKind::Verify, &record(&new, Status::Scheduled), None, None);
    assert_eq!(
        early,
        Ok(format!("POST {at}/verify-scheduled token=the-token  default"))
    );
    let due = write(CallKind::Verify, &record(&new, Status::New), None, None);
    assert_eq!(due, Ok(format!("POST {at}/verify token=the-token  -")));
}

#[test]
fn cancelling_names_the_reason_and_the_note() {
    let [order, _] = orders(Status::Preparing);
    let reason = Reason {
        id: "65f1c0de8a4b2f0012abc002".to_owned(),
        name: "Ürün yok".to_owned(),
    };
    let head = format!("POST /food-orders/{ID}/cancel Content-Type=application/json token=the-token");
    for (reason, note, body) in [
        (
            Some(&reason),
            Some("Bitti 😔"),
            r#"{"cancelReasonId":"65f1c0de8a4b2f0012abc002","cancelNote":"Bitti 😔"}"#,
        ),
        (
            Some(&reason),
            None,
            r#"{"cancelReasonId":"65f1c0de8a4b2f0012abc002"}"#,
        ),
        (None, Some(" "), "{}"),
    ] {
        assert_eq!(
            write(CallKind::Cancel, &order, reason, note),
            Ok(format!("{head} {body} -"))
        );
    }
}

#[test]
fn questions_are_asked_where_getir_answers_them() {
    let [order, _] = orders(Status::New);
    let window = Window {
        from: Timestamp::default(),
        to: Timestamp::default(),
    };
    let keys = r#""appSecretKey":"app-key","restaurantSecretKey":"restaurant-key"}"#;
    with_link(|link| {
        let show = |request: Result<HttpRequest, PlatformError>| request.map(|request| shown(&request));
        let id = format!("/food-orders/{ID}");
        assert_eq!(
            show(Getir.look(&order, link)),
            Ok(format!("GET {id} token=the-token  default"))
        );
        assert_eq!(
            show(Getir.reasons(&order, link)),
            Ok(format!("GET {id}/cancel-options token=the-token  cancel-options"))
        );
        for (page, expected) in [
            (0, "POST /food-orders/active token=the-token  default"),
            (1, "POST /food-orders/periodic/cancelled token=the-token  -"),
        ] {
            assert_eq!(show(Getir.poll(link, &window, page)), Ok(expected.to_owned()));
        }
        assert!(Getir.poll(link, &window, 2).is_err());
        let login = Getir
            .login(link)
            .map(|request| request.map(|request| shown(&request)));
        assert_eq!(
            login,
            Ok(Some(format!(
                "POST /auth/login Content-Type=application/json {{{keys} -"
            )))
        );
        let enlist = Getir
            .enlist(link)
            .map(|request| request.map(|request| shown(&request)));
        let expected = format!(
            r#"PUT /restaurants/pos-status Content-Type=application/json {{"posStatus":100,{keys} -"#
        );
        assert_eq!(enlist, Ok(Some(expected)));
        match Getir.menu(link, &[]) {
            Ok(MenuStep::Ask(request)) => {
                assert_eq!(shown(&request), "GET /restaurants/menu token=the-token  config")
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn ids_stay_in_their_place_and_nothing_is_sent_without_a_key() {
    let [mut order, _] = orders(Status::New);
    order.provider_order_id = "../x?y".to_owned();
    let sent = write(CallKind::Verify, &order, None, None);
    assert_eq!(
        sent,
        Ok("POST /food-orders/..%2Fx%3Fy/verify token=the-token  -".to_owned())
    );
    let none = Credentials::new();
    let link = Link {
        base: BASE,
        branch: BRANCH,
        credentials: &none,
        token: None,
        callback_hosts: &[],
    };
    assert!(matches!(
        Getir.login(&link),
        Err(PlatformError::MissingCredential { name: APP_KEY })
    ));
    assert!(matches!(
        Getir.look(&order, &link),
        Err(PlatformError::MissingCredential { name: "token" })
    ));
}

#[test]
fn orders_of_an_unknown_courier_are_taken_as_getirs() {
    for kind in [None, Some(Value::from(3))] {
        let new = seen(NEW_ORDER, &with(NEW, "/deliveryType", kind)).order;
        let order = record(&new, Status::Preparing);
        assert_eq!(new.content.fulfilment.courier, Courier::Platform);
        assert!(
            Getir.wants(READY, &order, &credentials()) && !Getir.wants(DELIVERED, &order, &credentials())
        );
    }
}
