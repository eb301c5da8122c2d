//! Tickets that people ask for, printers in the panel, and who may see them.

use super::setup::Kitchen;
use crate::support::{Backend, TestService, wait_until};
use serde_json::json;

on_both! {
    requested_ticket_is_printed_once
    printer_is_shown_and_removed_in_the_panel
    ; sqlite_only:
    removed_printer_registers_again
    requests_and_printers_are_limited
    printers_of_other_accounts_do_not_exist
}

async fn printer_id(service: &TestService) -> String {
    let printers = service.a.get("/printers").await.data();
    printers[0]["id"].as_str().unwrap().to_owned()
}

async fn requested_ticket_is_printed_once(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let mut agent = kitchen.agent(&[]).await;
    let order = kitchen.order("TEKRAR-1").await;
    kitchen.wait_for_tickets("TEKRAR-1", 1).await;
    // In the panel.
    let mut user = kitchen.service.user().await;
    let page = user.open(&format!("/orders/{order}")).await;
    let path = format!("/orders/{order}/print");
    let page = user.submit(&page.form(&path), &[("kind", "courier")]).await;
    assert!(page.html.contains("Yazıcıya iletildi"), "{}", page.html);
    kitchen.wait_for_tickets("TEKRAR-1", 2).await;
    let second = &kitchen.printer.tickets()[1].text;
    assert!(
        second.contains("TEKRAR BASKI") && second.contains("Nakit tahsil et 100 TL"),
        "{second}"
    );
    // By the API; the agent is killed after it was printed, and prints no third one.
    let body = json!({ "printerId": printer_id(&kitchen.service).await });
    kitchen.service.a.post(&path, &body).await.done();
    kitchen.wait_for_tickets("TEKRAR-1", 3).await;
    wait_until("the request is done", async || {
        kitchen.service.count("print_jobs") == 0
    })
    .await;
    agent.kill();
    let _agent = kitchen.agent(&[]).await;
    kitchen.order("SON-1").await;
    kitchen.wait_for_tickets("SON-1", 1).await;
    assert_eq!(kitchen.printer.count("TEKRAR-1"), 3);
}

async fn printer_is_shown_and_removed_in_the_panel(backend: Backend) {
    let service = TestService::open(backend).await;
    let made = service
        .a
        .post("/printers", &json!({ "name": "Mutfak <1>" }))
        .await
        .data();
    let id = made["id"].as_str().unwrap();
    let report = json!({ "state": "no_paper", "message": "rulo", "waiting": 2 });
    let answer = service
        .a
        .post(&format!("/printers/{id}/report"), &report)
        .await
        .data();
    assert_eq!(answer, json!({ "jobs": [] }));
    let mut user = service.user().await;
    let board = user.open("/").await;
    assert!(
        board.html.contains("Kâğıt bitti") && board.html.contains("Mutfak &#60;1&#62;"),
        "{}",
        board.html
    );
    let status = user.open("/status").await;
    assert!(
        status.html.contains("Kâğıt bitti") && status.html.contains("rulo"),
        "{}",
        status.html
    );
    service
        .a
        .post(&format!("/printers/{id}/report"), &json!({ "state": "ready" }))
        .await
        .data();
    let board = user.open("/").await;
    assert!(!board.html.contains("Mutfak &#60;1&#62;"));
    // An agent that reports nothing any more.
    service.advance(std::time::Duration::from_secs(120));
    let notice = user.open("/printers/notice").await;
    assert!(
        notice.html.contains("Yazdırma programı çalışmıyor"),
        "{}",
        notice.html
    );
    assert_eq!(
        service.a.get("/printers").await.data()[0]["isConnected"],
        json!(false)
    );
    let status = user.open("/status").await;
    let page = user
        .submit(&status.form(&format!("/printers/{id}/remove")), &[])
        .await;
    assert!(page.html.contains("Yazıcı kaldırıldı"), "{}", page.html);
    assert_eq!(service.a.get("/printers").await.data(), json!([]));
}

async fn removed_printer_registers_again(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let _agent = kitchen.agent(&[]).await;
    // The agent waits for paper meanwhile.
    kitchen.printer.behave(|it| it.has_paper = false);
    kitchen.order("BEKLER-1").await;
    kitchen.wait_for_state("no_paper").await;
    let id = printer_id(&kitchen.service).await;
    kitchen.service.a.delete(&format!("/printers/{id}")).await.done();
    wait_until("the printer is registered again", async || {
        let printers = kitchen.service.a.get("/printers").await.data();
        printers[0]["id"].as_str().is_some_and(|again| again != id)
    })
    .await;
    let again = printer_id(&kitchen.service).await;
    wait_until("the new id is stored", async || {
        kitchen.state()["printerId"] == json!(again)
    })
    .await;
}

async fn requests_and_printers_are_limited(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "kadikoy").await;
    let mut printers = Vec::new();
    for number in 0..100 {
        let body = json!({ "name": format!("P{number}"), "restaurantId": shop.restaurant });
        let made = service.a.post("/printers", &body).await.data();
        printers.push(made["id"].as_str().unwrap().to_owned());
    }
    service
        .a
        .post("/printers", &json!({ "name": "P" }))
        .await
        .refused(429, "too_many_prints");
    let order = shop.order("COK-1").await;
    let body = json!({ "printerId": printers[0] });
    // A second press is not a second ticket.
    for _ in 0..3 {
        service
            .a
            .post(&format!("/orders/{order}/print"), &body)
            .await
            .done();
    }
    assert_eq!(service.count("print_jobs"), 1);
    // What nobody prints within an hour is dropped.
    service.advance(std::time::Duration::from_secs(3_601));
    service.sweep().await;
    assert_eq!(service.count("print_jobs"), 0);
    let body = json!({ "name": "P", "restaurantId": "00000000-0000-0000-0000-000000000000" });
    service
        .a
        .post("/printers", &body)
        .await
        .refused(404, "restaurant_not_found");
    let path = format!("/printers/{}/report", printers[0]);
    for (report, field) in [
        (json!({ "state": "dancing" }), "state"),
        (json!({ "state": "ready", "skipped": -1 }), "skipped"),
        (json!({ "state": "ready", "skipped": 1_000_001 }), "skipped"),
        (
            json!({ "state": "ready", "clockDifferenceSeconds": 1_000_000_001 }),
            "clockDifferenceSeconds",
        ),
    ] {
        let wrong = service.a.post(&path, &report).await;
        wrong.wrong(422, "invalid_field", field);
    }
    let report = json!({ "state": "ready", "skipped": 2.0, "clockDifferenceSeconds": -10_800 });
    service.a.post(&path, &report).await.data();
    let shown = service.a.get("/printers").await.data();
    let shown = shown.as_array().unwrap().iter();
    let shown = shown
        .filter(|it| it["id"] == json!(printers[0]))
        .collect::<Vec<_>>();
    assert_eq!(
        (&shown[0]["skipped"], &shown[0]["clockDifferenceSeconds"]),
        (&json!(2), &json!(-10_800))
    );
}

async fn printers_of_other_accounts_do_not_exist(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.b, "theirs").await;
    let order = shop.order("W-1").await;
    let made = service.a.post("/printers", &json!({ "name": "P" })).await.data();
    let id = made["id"].as_str().unwrap();
    let body = json!({ "printerId": id });
    service
        .b
        .post(&format!("/orders/{order}/print"), &body)
        .await
        .refused(404, "printer_not_found");
    let body = json!({ "name": "P", "restaurantId": shop.restaurant });
    service
        .a
        .post("/printers", &body)
        .await
        .refused(404, "restaurant_not_found");
    assert_eq!(service.b.get("/printers").await.data(), json!([]));
    let mut user = service.user_of("second@example.com").await;
    let ours = service.shop(&service.a, "ours").await.order("O-1").await;
    assert_eq!(user.open(&format!("/orders/{ours}/ticket")).await.status, 404);
}
