//! Plain HTTP gets a warning only for public targets.

use crate::support::{Backend, TestService, block_on};
use serde_json::json;

#[test]
fn public_plain_http_webhook_gets_a_warning() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let service = TestService::open_private(backend).await;
            for (url, warns) in [
                ("http://pos.example.com/", true),
                ("http://8.8.8.8/", true),
                ("http://[2606:4700::1111]:8080/", true),
                ("https://pos.example.com/", false),
                ("https://8.8.8.8/", false),
                ("http://127.0.0.1:3000/", false),
                ("http://10.0.4.7/", false),
                ("http://192.168.1.20:8080/", false),
                ("http://[::1]/", false),
                ("http://till.local/", false),
                ("http://localhost:3000/", false),
            ] {
                let set = service.a.put("/webhook", &json!({ "url": url })).await.data();
                let warning = set["warning"].as_str();
                assert_eq!(warning.is_some_and(|text| text.contains("clear")), warns, "{url}");
                assert_eq!(service.a.get("/webhook").await.data()["warning"], set["warning"]);
            }
        });
    }
}
