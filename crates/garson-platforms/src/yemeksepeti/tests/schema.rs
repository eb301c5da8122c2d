//! The requests against the shapes that the platform's API description gives them, written out by hand.

use super::requests::written;
use super::*;
use garson_core::order::CallKind::{Cancel, Ready, Tell, Verify};

/// One operation: its method, its path with braces, what it takes.
struct Operation {
    method: &'static str,
    path: &'static str,
    takes: Takes,
}

enum Takes {
    Nothing,
    /// Fields of a form, all required.
    Form(&'static [&'static str]),
    /// A JSON object whose `status` decides which fields it has.
    Status(&'static [(&'static str, &'static [(&'static str, Kind)])]),
}

enum Kind {
    Text,
    Moment,
    Reason,
}

const OPERATIONS: [Operation; 4] = [
    Operation {
        method: "POST",
        path: "/v2/login",
        takes: Takes::Form(&["username", "password", "grant_type"]),
    },
    Operation {
        method: "POST",
        path: "/v2/order/status/{orderToken}",
        takes: Takes::Status(&[
            (
                "order_accepted",
                &[("acceptanceTime", Kind::Moment), ("remoteOrderId", Kind::Text)],
            ),
            (
                "order_rejected",
                &[("reason", Kind::Reason), ("message", Kind::Text)],
            ),
            ("order_picked_up", &[]),
        ]),
    },
    Operation {
        method: "POST",
        path: "/v2/orders/{orderToken}/preparation-completed",
        takes: Takes::Nothing,
    },
    Operation {
        method: "GET",
        path: "/v2/chains/{chainCode}/orders/{orderId}",
        takes: Takes::Nothing,
    },
];

fn fits_path(path: &str, pattern: &str) -> bool {
    let fits = |(part, pattern): (&str, &str)| {
        let is_parameter = pattern.starts_with('{');
        if is_parameter {
            !part.is_empty()
        } else {
            part == pattern
        }
    };
    path.split('/').count() == pattern.split('/').count() && path.split('/').zip(pattern.split('/')).all(fits)
}

fn fits(request: &HttpRequest) -> Result<(), String> {
    let path = request.url.strip_prefix(BASE).ok_or("is not on the platform")?;
    let operation = OPERATIONS
        .iter()
        .find(|known| known.method == request.method && fits_path(path, known.path))
        .ok_or_else(|| format!("there is no {} {path}", request.method))?;
    let header = |name: &str| {
        let found = request.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.expose().as_str())
    };
    if !matches!(operation.takes, Takes::Form(_)) && !header("Authorization").starts_with("Bearer ") {
        return Err("nobody is authorized".to_owned());
    }
    match (&operation.takes, &request.body) {
        (Takes::Nothing, None) => Ok(()),
        (Takes::Form(fields), Some(body))
            if header("Content-Type") == "application/x-www-form-urlencoded" =>
        {
            let body = std::str::from_utf8(body).map_err(|error| error.to_string())?;
            let names: Vec<&str> = body
                .split('&')
                .filter_map(|pair| pair.split('=').next())
                .collect();
            (names == *fields)
                .then_some(())
                .ok_or(format!("the form has {names:?}"))
        }
        (Takes::Status(shapes), Some(body)) if header("Content-Type") == "application/json" => fits_status(
            &serde_json::from_slice(body).map_err(|error| error.to_string())?,
            shapes,
        ),
        _ => Err("the body is missing, too much or of another type".to_owned()),
    }
}

fn fits_status(body: &Value, shapes: &[(&str, &[(&str, Kind)])]) -> Result<(), String> {
    let status = body["status"].as_str().unwrap_or_default();
    let shape = shapes.iter().find(|(known, _)| *known == status);
    let (_, fields) = shape.ok_or_else(|| format!("the status is {status}"))?;
    let count = body.as_object().map_or(0, serde_json::Map::len);
    if count != fields.len() + 1 {
        return Err(format!("{status} has {count} fields"));
    }
    for (name, kind) in *fields {
        let text = body[*name].as_str().unwrap_or_default();
        let is_fit = match kind {
            Kind::Text => !text.is_empty(),
            Kind::Moment => text.len() == 24 && text.parse::<Timestamp>().is_ok(),
            Kind::Reason => Yemeksepeti
                .fixed_reasons(None)
                .iter()
                .any(|reason| reason.id == text),
        };
        if !is_fit {
            return Err(format!("{name} is {text:?}"));
        }
    }
    Ok(())
}

#[test]
fn requests_have_the_described_shape() {
    let credentials = credentials();
    let token = session_token();
    let link = link(&credentials, Some(&token));
    let mut requests: Vec<HttpRequest> = Yemeksepeti.login(&link).ok().flatten().into_iter().collect();
    for body in [PLATFORM, OWN, PICKUP, LEAST] {
        let order = order_of(body);
        let calls = [
            Verify,
            Cancel,
            Ready,
            Tell(Status::OnTheWay),
            Tell(Status::Delivered),
        ];
        requests.extend(calls.into_iter().filter_map(|call| written(call, &order).ok()));
        requests.extend(Yemeksepeti.look(&order, &link).ok());
    }
    assert_eq!(requests.len(), 17);
    for request in requests {
        assert_eq!(fits(&request), Ok(()), "{}", request.url);
    }
}
