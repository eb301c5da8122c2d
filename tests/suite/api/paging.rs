//! Pages: complete in both directions, by cursor.

use crate::support::TestService;
use serde_json::{Value, json};

cases! {
    list_is_paged_in_both_directions
    newest_page_has_a_cursor_for_later_items
    prev_without_a_cursor_starts_at_the_oldest
    cursors_of_an_empty_list_stay_valid
    forged_cursors_are_refused
    invalid_limits_are_refused
    all_four_lists_are_paged
}

fn ids(page: &Value) -> Vec<String> {
    let items = page["data"].as_array().unwrap();
    items
        .iter()
        .map(|order| order["providerOrderId"].as_str().unwrap().to_owned())
        .collect()
}

fn cursor<'a>(page: &'a Value, name: &str) -> &'a str {
    page["paging"][name]
        .as_str()
        .unwrap_or_else(|| panic!("no {name} in {}", page["paging"]))
}

async fn fill(service: &TestService, count: usize) -> Vec<String> {
    let shop = service.shop(&service.a, "s").await;
    for n in 0..count {
        shop.order(&format!("{n:02}")).await;
    }
    (0..count).rev().map(|n| format!("{n:02}")).collect()
}

async fn list_is_paged_in_both_directions(service: TestService) {
    let wanted = fill(&service, 11).await;
    for limit in [1, 3, 4, 11, 200] {
        let mut page = service.a.get(&format!("/orders?limit={limit}")).await.success();
        let mut walked = ids(&page);
        while page["paging"]["next"] != json!(null) {
            let path = format!("/orders?limit={limit}&dir=next&cursor={}", cursor(&page, "next"));
            page = service.a.get(&path).await.success();
            assert!(!ids(&page).is_empty());
            walked.extend(ids(&page));
        }
        assert_eq!(walked, wanted, "down by {limit}");
        let mut back = ids(&page);
        loop {
            let path = format!("/orders?limit={limit}&dir=prev&cursor={}", cursor(&page, "prev"));
            page = service.a.get(&path).await.success();
            if ids(&page).is_empty() {
                break;
            }
            let mut whole = ids(&page);
            whole.extend(back);
            back = whole;
        }
        assert_eq!(back, wanted, "up by {limit}");
    }
    assert_eq!(ids(&service.a.get("/orders").await.success()), wanted);
}

async fn newest_page_has_a_cursor_for_later_items(service: TestService) {
    let empty = service.a.get("/orders").await.success();
    let from_nothing = cursor(&empty, "prev").to_owned();
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    let first = service.a.get("/orders").await.success();
    assert_eq!(first["paging"]["next"], json!(null));
    let here = cursor(&first, "prev").to_owned();
    let nothing = service
        .a
        .get(&format!("/orders?dir=prev&cursor={here}"))
        .await
        .success();
    assert_eq!(nothing["data"], json!([]));
    let here = cursor(&nothing, "prev").to_owned();
    shop.order("2").await;
    shop.order("3").await;
    let news = service
        .a
        .get(&format!("/orders?dir=prev&cursor={here}"))
        .await
        .success();
    assert_eq!(ids(&news), ["3", "2"]);
    let all = service
        .a
        .get(&format!("/orders?dir=prev&cursor={from_nothing}"))
        .await
        .success();
    assert_eq!(ids(&all), ["3", "2", "1"]);
}

async fn prev_without_a_cursor_starts_at_the_oldest(service: TestService) {
    fill(&service, 5).await;
    let oldest = service.a.get("/orders?dir=prev&limit=2").await.success();
    assert_eq!(ids(&oldest), ["01", "00"]);
    let up = service
        .a
        .get(&format!(
            "/orders?dir=prev&limit=2&cursor={}",
            cursor(&oldest, "prev")
        ))
        .await
        .success();
    assert_eq!(ids(&up), ["03", "02"]);
    let down = service
        .a
        .get(&format!("/orders?limit=2&cursor={}", cursor(&up, "next")))
        .await
        .success();
    assert_eq!(ids(&down), ["01", "00"]);
}

/// An account that has nothing yet gives out cursors too, and they lead to what comes later.
async fn cursors_of_an_empty_list_stay_valid(service: TestService) {
    let lists = [
        "/orders",
        "/orders/reports/pending",
        "/events",
        "/webhook/deliveries",
    ];
    let mut given_out = Vec::new();
    for list in lists {
        for query in [
            "",
            "?dir=prev",
            "?cursor=0000000000000000",
            "?cursor=0000000000000000&dir=prev",
            "?cursor=0000000000000001",
        ] {
            let page = service.a.get(&format!("{list}{query}")).await.success();
            given_out.push((list, cursor(&page, "prev").to_owned()));
        }
    }
    // A client that polls an empty list continues with each cursor.
    for (list, cursor_before) in given_out.clone() {
        let page = service
            .a
            .get(&format!("{list}?cursor={cursor_before}"))
            .await
            .success();
        given_out.push((list, cursor(&page, "prev").to_owned()));
    }
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    for (list, cursor) in given_out {
        let page = service
            .a
            .get(&format!("{list}?dir=prev&cursor={cursor}"))
            .await
            .success();
        assert!(!page["data"].as_array().unwrap().is_empty(), "{list} {cursor}");
    }
}

async fn forged_cursors_are_refused(service: TestService) {
    fill(&service, 1).await;
    for list in [
        "/orders",
        "/orders/reports/pending",
        "/events",
        "/webhook/deliveries",
    ] {
        for forged in [
            "",
            "1",
            "x",
            "-000000000000001",
            "ffffffffffffffff",
            "000000000000000G",
            "00000000000000001",
            "..%2F..%2Fetc",
            "%00",
            "0000000000000001%00",
            "0000000000000001'--",
            "%F0%9F%8C%AF",
        ] {
            let reply = service.a.get(&format!("{list}?cursor={forged}")).await;
            assert_eq!(reply.status, 422, "{list} {forged}");
            if !forged.contains("%00") {
                reply.wrong(422, "invalid_cursor", "cursor");
            }
        }
        service
            .a
            .get(&format!("{list}?dir=up"))
            .await
            .wrong(422, "invalid_parameter", "dir");
        // Well-formed cursors that were not issued are only positions.
        for made_up in ["0000000000000000", "7fffffffffffffff"] {
            for dir in ["next", "prev"] {
                service
                    .a
                    .get(&format!("{list}?cursor={made_up}&dir={dir}"))
                    .await
                    .success();
            }
        }
    }
}

async fn invalid_limits_are_refused(service: TestService) {
    fill(&service, 2).await;
    for list in [
        "/orders",
        "/orders/reports/pending",
        "/events",
        "/webhook/deliveries",
    ] {
        for limit in [
            "0",
            "-1",
            "201",
            "1e3",
            "1.5",
            "",
            "x",
            "99999999999999999999999",
            "%00",
            "1&limit=2",
            "0x10",
        ] {
            service
                .a
                .get(&format!("{list}?limit={limit}"))
                .await
                .wrong(422, "invalid_parameter", "limit");
        }
        assert_eq!(
            service
                .a
                .get(&format!("{list}?limit=1"))
                .await
                .data()
                .as_array()
                .unwrap()
                .len(),
            1
        );
        service.a.get(&format!("{list}?limit=200&unknown=1")).await.data();
    }
}

async fn all_four_lists_are_paged(service: TestService) {
    fill(&service, 3).await;
    for list in [
        "/orders",
        "/orders/reports/pending",
        "/events",
        "/webhook/deliveries",
    ] {
        let whole = service.a.get(list).await.success();
        let mut walked = Vec::new();
        let mut path = format!("{list}?limit=1");
        loop {
            let page = service.a.get(&path).await.success();
            walked.extend(page["data"].as_array().unwrap().clone());
            let Some(next) = page["paging"]["next"].as_str() else {
                break;
            };
            path = format!("{list}?limit=1&cursor={next}");
        }
        assert_eq!(json!(walked), whole["data"], "{list}");
        assert_eq!(whole["paging"].as_object().unwrap().len(), 2);
    }
}
