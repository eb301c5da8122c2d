//! Plain http is warned of where strangers could read along, and only there.

use crate::support::{House, Kind, block_on};
use serde_json::json;

#[test]
fn a_webhook_over_plain_http_is_warned_of_if_it_is_public() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        block_on(async {
            let house = House::open_private(kind).await;
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
                let set = house.a.put("/webhook", &json!({ "url": url })).await.data();
                let warning = set["warning"].as_str();
                assert_eq!(warning.is_some_and(|text| text.contains("clear")), warns, "{url}");
                assert_eq!(house.a.get("/webhook").await.data()["warning"], set["warning"]);
            }
        });
    }
}
