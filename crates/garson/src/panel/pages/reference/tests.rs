use super::*;
use http::HeaderValue;

fn page(host: &'static str) -> String {
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, HeaderValue::from_static(host));
    render().unwrap().join(&server(&headers))
}

#[test]
fn every_operation_and_event_is_shown_orders_first() {
    let page = page("garson.example:8080");
    let document = openapi::document();
    for item in document.paths.paths.values() {
        for operation in [&item.get, &item.post, &item.put, &item.patch, &item.delete]
            .into_iter()
            .flatten()
        {
            let id = operation.operation_id.as_ref().unwrap();
            assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
            assert!(page.contains(&format!("href=\"#{id}\"")), "{id}");
        }
    }
    for name in document.webhooks.unwrap().paths.keys() {
        assert!(page.contains(name.as_str()), "{name}");
    }
    let place = |id: &str| page.find(&format!("<section id=\"section-{id}\"")).unwrap();
    assert!(place("orders") < place("events") && place("events") < place("webhook"));
    assert!(place("webhook") < place("restaurants") && place("restaurants") < place("integrations"));
}

#[test]
fn page_is_small_and_names_this_server() {
    let page = page("garson.example:8080");
    assert!(page.len() < 330_000, "{} bytes", page.len());
    assert!(page.contains("http://garson.example:8080/web-api/v1/orders"));
    assert!(!page.contains("server.invalid"));
}

#[test]
fn hostile_host_is_not_repeated() {
    for host in ["", "a b", "x\"><script>", "'; rm -rf /; '", "a/b", "a@b"] {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        assert_eq!(server(&headers), UNKNOWN_SERVER, "{host}");
    }
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, HeaderValue::from_static("[::1]:8080"));
    headers.insert("x-forwarded-proto", HeaderValue::from_static("https"));
    assert_eq!(server(&headers), "https://[::1]:8080");
}

#[test]
fn every_error_code_has_its_status() {
    let reference = Reference::read(&openapi::document());
    let shown: usize = reference.errors.iter().map(|error| error.codes.len()).sum();
    assert_eq!(shown, crate::http::error::Code::ALL.len());
}
