//! Every call for every courier, compared with what goes over the wire.

use super::super::cipher::spaced;
use super::*;
use garson_core::explanation::PlatformTask;
use garson_core::order::Reason;

fn write(call: CallKind, order: &Order, reason: Option<&Reason>) -> Result<HttpRequest, PlatformError> {
    let credentials = credentials();
    let call_request = CallRequest {
        call,
        order,
        reason,
        note: Some("not"),
        preparation_minutes: Some(20),
        now: Timestamp::default(),
    };
    Migros.write(&call_request, &link(&credentials))
}

/// Method, URL, headers and the decrypted body.
fn shown(request: &HttpRequest) -> (String, Vec<(String, String)>, Option<String>) {
    let headers = request
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), value.expose().clone()));
    let body = request.body.as_deref().map(|body| {
        let sealed: Value = serde_json::from_slice(body).unwrap();
        assert_eq!(sealed.as_object().map(serde_json::Map::len), Some(1));
        String::from_utf8(key().open(sealed["value"].as_str().unwrap()).unwrap()).unwrap()
    });
    (
        format!("{} {}", request.method, request.url),
        headers.collect(),
        body,
    )
}

fn posted(path: &str, body: &str) -> (String, Vec<(String, String)>, Option<String>) {
    let headers = vec![
        ("XApiKey".to_owned(), "restaurant-key".to_owned()),
        ("Content-Type".to_owned(), "application/json".to_owned()),
    ];
    (format!("POST {BASE}{path}"), headers, Some(body.to_owned()))
}

fn asked(path: &str) -> (String, Vec<(String, String)>, Option<String>) {
    let headers = vec![("XApiKey".to_owned(), "restaurant-key".to_owned())];
    (format!("GET {BASE}{path}"), headers, None)
}

#[test]
fn each_step_is_one_request() {
    let update = "/Order/v2/UpdateOrderStatus";
    let reason = Reason {
        id: "12".to_owned(),
        name: "Yoğun".to_owned(),
    };
    let on_the_way = CallKind::Tell(Status::OnTheWay);
    let delivered = CallKind::Tell(Status::Delivered);
    let own = RESTAURANT;
    for (sample, call, status, path, body) in [
        (
            ORDER,
            CallKind::Verify,
            Status::New,
            update,
            r#"{"orderId": 900412377, "storeId": 20417, "orderStatus": "Approved"}"#,
        ),
        (
            ORDER,
            CallKind::Ready,
            Status::Preparing,
            update,
            r#"{"orderId": 900412377, "storeId": 20417, "orderStatus": "Prepared"}"#,
        ),
        (
            ORDER,
            CallKind::Cancel,
            Status::New,
            update,
            r#"{"orderId": 900412377, "storeId": 20417, "orderStatus": "Rejected", "cancelReasonId": 12}"#,
        ),
        (
            ORDER,
            CallKind::Cancel,
            Status::Preparing,
            "/Order/v2/CancelOrder",
            r#"{"orderId": 900412377, "storeId": 20417, "userId": 5512034, "notifyUser": true, "cancelReasonId": 12}"#,
        ),
        (
            own,
            CallKind::Verify,
            Status::New,
            update,
            r#"{"orderId": 900412378, "storeId": 20417, "orderStatus": "Approved"}"#,
        ),
        (
            own,
            CallKind::Ready,
            Status::Preparing,
            update,
            r#"{"orderId": 900412378, "storeId": 20417, "orderStatus": "Prepared"}"#,
        ),
        (
            own,
            on_the_way,
            Status::OnTheWay,
            update,
            r#"{"orderId": 900412378, "storeId": 20417, "orderStatus": "Delivery"}"#,
        ),
        (
            own,
            delivered,
            Status::Delivered,
            update,
            r#"{"orderId": 900412378, "storeId": 20417, "orderStatus": "Completed"}"#,
        ),
        (
            own,
            CallKind::Cancel,
            Status::Delivered,
            "/Order/v2/CancelOrder",
            r#"{"orderId": 900412378, "storeId": 20417, "userId": 5512034, "notifyUser": true, "cancelReasonId": 12}"#,
        ),
    ] {
        let order = order(sample, status);
        assert!(Migros.wants(call, &order, &credentials()), "{call:?}");
        let request = write(call, &order, Some(&reason)).unwrap();
        assert_eq!(shown(&request), posted(path, body), "{call:?} {status}");
        assert_eq!(request.limit, None);
    }
}

#[test]
fn what_the_platform_does_itself_is_not_told() {
    let unsupported = Err(PlatformError::Unsupported {
        what: PlatformTask::Step,
    });
    let mut forgotten = order(RESTAURANT, Status::OnTheWay);
    forgotten.provider_data = None;
    for order in [order(ORDER, Status::OnTheWay), forgotten] {
        for status in Status::ALL {
            let call = CallKind::Tell(status);
            assert!(!Migros.wants(call, &order, &credentials()), "{call:?}");
            assert_eq!(write(call, &order, None).map(drop), unsupported, "{call:?}");
        }
    }
    for status in [Status::Preparing, Status::Cancelled, Status::ScheduledAccepted] {
        let call = CallKind::Tell(status);
        assert_eq!(
            write(call, &order(RESTAURANT, status), None).map(drop),
            unsupported
        );
    }
}

#[test]
fn little_is_needed_to_cancel() {
    let mut order = order(ORDER, Status::Preparing);
    order.provider_data = Some("damaged".to_owned());
    let request = write(CallKind::Cancel, &order, None).unwrap();
    let body = r#"{"orderId": 900412377, "storeId": 20417, "notifyUser": true}"#;
    assert_eq!(shown(&request), posted("/Order/v2/CancelOrder", body));
    // Ids that are no plain numbers go out as the texts that they are.
    order.provider_order_id = "007".to_owned();
    let reason = Reason {
        id: "kapalı".to_owned(),
        name: String::new(),
    };
    order.status = Status::New;
    let request = write(CallKind::Cancel, &order, Some(&reason)).unwrap();
    let body =
        r#"{"orderId": "007", "storeId": 20417, "orderStatus": "Rejected", "cancelReasonId": "kapalı"}"#;
    assert_eq!(shown(&request), posted("/Order/v2/UpdateOrderStatus", body));
}

#[test]
fn questions_are_asked_where_the_platform_answers_them() {
    let credentials = credentials();
    let link = link(&credentials);
    let mut order = order(ORDER, Status::New);
    let look = |order: &Order| shown(&Migros.look(order, &link).unwrap());
    assert_eq!(
        look(&order),
        asked("/Order/v2/GetOrderDetail?orderId=900412377&storeId=20417")
    );
    order.provider_order_id = "1&x=/..".to_owned();
    assert_eq!(
        look(&order),
        asked("/Order/v2/GetOrderDetail?orderId=1%26x%3D%2F..&storeId=20417")
    );
    let reasons = Migros.reasons(&order, &link).unwrap();
    assert_eq!(shown(&reasons), asked("/Mapping/v2/GetCancelReasons"));
    let window = Window {
        from: Timestamp::default(),
        to: Timestamp::default(),
    };
    for (page, path, offset) in [
        (0, "/Order/PendingOrdersWithStores", 0),
        (1, "/Order/ActiveOrdersWithStores", 0),
        (2, "/Order/PendingOrdersWithStores", 100),
        (3, "/Order/ActiveOrdersWithStores", 100),
    ] {
        let request = Migros.poll(&link, &window, page).unwrap();
        let body = format!(r#"{{"storeIds": [20417], "limit": 100, "offset": {offset}}}"#);
        assert_eq!(shown(&request), posted(path, &body));
    }
    assert!(Migros.poll(&link, &window, u32::MAX).is_ok());
    assert!(Migros.login(&link).unwrap().is_none());
    assert!(Migros.enlist(&link).unwrap().is_none());
}

#[test]
fn a_missing_or_unfit_credential_is_named() {
    let order = order(ORDER, Status::New);
    let written = |change: &dyn Fn(&mut Credentials)| {
        let mut credentials = credentials();
        change(&mut credentials);
        let call_request = CallRequest {
            call: CallKind::Verify,
            order: &order,
            reason: None,
            note: None,
            preparation_minutes: None,
            now: Timestamp::default(),
        };
        Migros
            .write(&call_request, &link(&credentials))
            .map(|request| request.body.unwrap())
    };
    let set = |name: &'static str, value: &'static str| {
        written(&move |credentials| {
            drop(credentials.insert(name.to_owned(), Secret::new(value.to_owned())));
        })
    };
    let missing = |name| Err(PlatformError::MissingCredential { name });
    assert_eq!(set(API_KEY, ""), missing("apiKey"));
    assert_eq!(written(&|c| drop(c.remove(SECRET_KEY))), missing("secretKey"));
    assert_eq!(set(SECRET_KEY, "short"), missing("secretKey of 32 bytes"));
    assert_eq!(set(KEY_DERIVATION, "md5"), missing("keyDerivation"));
    let usual = written(&|_| ());
    assert!(usual.is_ok());
    assert_eq!(set(KEY_DERIVATION, "raw"), usual);
    assert_eq!(set(KEY_DERIVATION, ""), usual);
    let hashed = set(KEY_DERIVATION, "sha256");
    assert!(hashed.is_ok() && hashed != usual);
}

/// Encrypted with `openssl enc -aes-256-ecb`, so that both ends are not ours.
#[test]
fn the_cipher_is_the_one_that_others_use() {
    let credentials = credentials();
    let mut hashed = credentials.clone();
    hashed.insert(KEY_DERIVATION.to_owned(), Secret::new("sha256".to_owned()));
    let plain = r#"{"orderId": 1, "storeIds": [2, 3], "ad": "Çiğ köfte"}"#;
    for (credentials, value) in [(&credentials, RAW_VALUE), (&hashed, HASHED_VALUE)] {
        let key = Key::of(&link(credentials)).unwrap();
        assert_eq!(STANDARD.encode(key.encrypt(plain.as_bytes())), value);
        assert_eq!(key.open(value).as_deref(), Some(plain.as_bytes()));
    }
    let value: Value = serde_json::from_str(plain).unwrap();
    let value = json!({ "orderId": value["orderId"], "storeIds": value["storeIds"], "ad": value["ad"] });
    assert_eq!(spaced(&value).len(), plain.len());
    assert_eq!(spaced(&json!({ "a": [], "b": {} })), br#"{"a": [], "b": {}}"#);
}

#[test]
fn what_is_not_encrypted_with_the_key_is_noticed() {
    let key = key();
    for length in 0..50 {
        let plain = vec![b'x'; length];
        let data = key.encrypt(&plain);
        assert!(data.len() > length && data.len().is_multiple_of(16));
        assert_eq!(key.decrypt(data.clone()), Some(plain));
        assert_eq!(key.decrypt(data[1..].to_vec()), None);
        assert_eq!(Key::from_bytes([7; 32]).decrypt(data), None);
    }
    for wrong in ["", "!", "AAAA", "AAAAAAAAAAAAAAAAAAAAAA=="] {
        assert_eq!(key.open(wrong), None, "{wrong}");
    }
}

const RAW_VALUE: &str =
    "H8rylK0vMSAqWbaY7FGs8clffy038A50nvFEANG0gNcMHpnSWmqdoFRhhcyCGxHmZRHcE6cbsQk4nTrk8sm7aA==";
const HASHED_VALUE: &str =
    "ZyBTzS3P1PQnEWaCr6A2mwqnWuWmAA/Ea6QpHRe+Q74pHBB6Nppa/JlrEqs8Hh69kcu4BzFFvu0jdJfcRJM+7A==";
