//! The agent prints each order once, whatever is restarted or killed.

use super::setup::Kitchen;
use crate::support::{
    ApiClient, Backend, Program, SocketPrinter, TestStorage, command, order_body, request, send, wait_until,
};
use serde_json::json;
use std::time::Duration;

on_both! {
    each_order_is_printed_once
    ; sqlite_only:
    order_is_printed_when_it_is_verified
    other_restaurants_are_not_printed
    killed_agent_continues_where_it_was
    ticket_that_was_being_sent_is_marked_after_a_kill
    orders_that_came_too_long_ago_are_reported
    restarted_service_is_followed_again
    cancelled_order_is_not_printed_later
    second_agent_with_the_same_state_is_refused
    wrong_arguments_are_explained
}

async fn each_order_is_printed_once(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    kitchen.order("ESKI-1").await;
    let mut agent = kitchen.agent(&[]).await;
    for number in 1..=5 {
        kitchen.order(&format!("NO-{number}")).await;
    }
    kitchen.wait_for_tickets("NO-5", 1).await;
    kitchen.wait_until_idle().await;
    agent.terminate();
    assert!(agent.ended().await, "{}", agent.printed());
    // What comes while it is off is printed afterwards.
    kitchen.order("NO-6").await;
    let agent = kitchen.agent(&[]).await;
    kitchen.order("NO-7").await;
    kitchen.wait_for_tickets("NO-7", 1).await;
    kitchen.wait_until_idle().await;
    for number in 1..=7 {
        assert_eq!(kitchen.printer.count(&format!("NO-{number}")), 1, "{number}");
    }
    // Orders from before its first start are not its business.
    assert_eq!(kitchen.printer.tickets().len(), 7);
    let printed = agent.printed();
    assert!(
        !printed.contains(&kitchen.service.a.key) && !printed.contains("Lahmacun"),
        "{printed}"
    );
}

async fn order_is_printed_when_it_is_verified(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let _agent = kitchen.agent(&["--on", "verified", "--kind", "customer"]).await;
    let first = kitchen.order("ILK-1").await;
    kitchen.order("IKI-2").await;
    kitchen
        .service
        .a
        .act(&format!("/orders/verify/{first}"))
        .await
        .data();
    kitchen.wait_for_tickets("ILK-1", 1).await;
    kitchen.wait_until_idle().await;
    let tickets = kitchen.printer.tickets();
    assert_eq!(tickets.len(), 1);
    assert!(
        tickets[0].text.contains("mali değeri yoktur"),
        "{}",
        tickets[0].text
    );
}

async fn other_restaurants_are_not_printed(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let other = kitchen.service.shop(&kitchen.service.a, "moda").await;
    let _agent = kitchen.agent(&["--restaurant", &kitchen.shop.restaurant]).await;
    other.order("BASKA-1").await;
    kitchen.order("BIZIM-1").await;
    kitchen.wait_for_tickets("BIZIM-1", 1).await;
    kitchen.wait_until_idle().await;
    assert_eq!(kitchen.printer.tickets().len(), 1);
}

async fn killed_agent_continues_where_it_was(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    for round in 0..4 {
        let mut agent = kitchen.agent(&[]).await;
        for number in 0..3 {
            kitchen.order(&format!("TUR-{round}-{number}")).await;
        }
        // In the middle of them.
        kitchen
            .wait_for_tickets(&format!("TUR-{round}-{}", round % 3), 1)
            .await;
        agent.kill();
    }
    let _agent = kitchen.agent(&[]).await;
    kitchen.wait_for_tickets("TUR-3-2", 1).await;
    kitchen.wait_until_idle().await;
    let tickets = kitchen.printer.tickets();
    for round in 0..4 {
        for number in 0..3 {
            let id = format!("TUR-{round}-{number}");
            let of_order: Vec<_> = tickets
                .iter()
                .filter(|ticket| ticket.text.contains(&id))
                .collect();
            // A ticket that was on its way when the agent was killed may come twice; the second one says so.
            let clean = of_order
                .iter()
                .filter(|ticket| !ticket.text.contains("DAHA ÖNCE BASILMIŞ"));
            assert!(
                !of_order.is_empty() && clean.count() <= 1,
                "{id}: {}",
                of_order.len()
            );
        }
    }
}

async fn ticket_that_was_being_sent_is_marked_after_a_kill(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let mut agent = kitchen.agent(&[]).await;
    let other = kitchen.order("TAM-1").await;
    kitchen.wait_for_tickets("TAM-1", 1).await;
    kitchen.wait_until_idle().await;
    // The printer stops in the middle of the ticket.
    kitchen.printer.behave(|it| it.paper_ends_after = Some(40));
    kitchen.order("YARIM-1").await;
    kitchen.wait_for_state("no_paper").await;
    assert!(kitchen.state()["sending"].is_string());
    agent.kill();
    // A ticket of another order is wanted, and may be printed first.
    let printers = kitchen.service.a.get("/printers").await.data();
    let body = json!({ "printerId": printers[0]["id"] });
    let path = format!("/orders/{other}/print");
    kitchen.service.a.post(&path, &body).await.done();
    kitchen.printer.behave(|it| it.has_paper = true);
    let _agent = kitchen.agent(&[]).await;
    kitchen.wait_for_tickets("TAM-1", 2).await;
    wait_until("a marked ticket", async || {
        let tickets = kitchen.printer.tickets();
        tickets
            .iter()
            .any(|ticket| ticket.text.contains("DAHA ÖNCE BASILMIŞ OLABİLİR"))
    })
    .await;
    kitchen.wait_until_idle().await;
    assert_eq!(kitchen.state()["interrupted"], json!([]));
    assert_eq!(kitchen.printer.tickets().len(), 3);
}

/// The clock of the service is moved; to the agent it is as if its own were wrong.
async fn orders_that_came_too_long_ago_are_reported(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let mut agent = kitchen.agent(&[]).await;
    agent.kill();
    let old = kitchen.order("ESKI-1").await;
    kitchen.service.advance(Duration::from_secs(4 * 3_600));
    kitchen.order("YENI-1").await;
    let mut agent = kitchen.agent(&[]).await;
    kitchen.wait_for_tickets("YENI-1", 1).await;
    kitchen.wait_until_idle().await;
    assert_eq!(kitchen.printer.count("ESKI-1"), 0);
    let printed = agent.printed();
    let said = printed.lines().find(|line| line.contains("came too long ago"));
    assert!(said.is_some_and(|line| line.contains(&old)), "{printed}");
    assert!(
        printed.contains("the clock of this computer is wrong"),
        "{printed}"
    );
    assert!(!printed.contains("Lahmacun"), "{printed}");
    let reported = async || {
        let printers = kitchen.service.a.get("/printers").await.data();
        let clock = printers[0]["clockDifferenceSeconds"].as_i64();
        let is_behind = clock.is_some_and(|seconds| (-14_500..=-14_300).contains(&seconds));
        printers[0]["skipped"] == json!(1) && is_behind
    };
    wait_until("the panel knows of it", &reported).await;
    let mut user = kitchen.service.user().await;
    let page = user.open("/status").await;
    assert!(
        page.has("Geç ulaştığı için basılmayan sipariş (son 24 saat): 1"),
        "{}",
        page.text()
    );
    assert!(page.has("Bilgisayarın saati 240 dk geri."), "{}", page.text());
    // A restart neither forgets nor counts it twice.
    agent.kill();
    let _agent = kitchen.agent(&[]).await;
    kitchen.order("YENI-2").await;
    kitchen.wait_for_tickets("YENI-2", 1).await;
    wait_until("the panel still knows of it", &reported).await;
    assert_eq!(kitchen.printer.tickets().len(), 2);
}

async fn restarted_service_is_followed_again(backend: Backend) {
    let storage = TestStorage::new(backend);
    let key = storage.create_account("a@example.com");
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let more = [("GARSON_RATE_LIMIT", "off")];
    let mut server = Program::serve_at(&storage, port, &more);
    let addr = server.address().await;
    let client = ApiClient::new(addr, &key);
    let made = client.post("/restaurants", &json!({ "name": "r" })).await.data();
    let path = format!(
        "/restaurants/{}/integrations/direct",
        made["id"].as_str().unwrap()
    );
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "inbound-s" } });
    client.put(&path, &body).await.data();
    let printer = SocketPrinter::start(48).await;
    let state = storage.folder().join("print.json");
    let mut start = command();
    start
        .args([
            "print",
            "--url",
            &format!("http://{addr}"),
            "--printer",
            &printer.url(),
            "--state",
        ])
        .arg(&state)
        .env("GARSON_PRINT_KEY", &key);
    let agent = Program::start(start);
    wait_until("the agent follows the events", async || {
        std::fs::read_to_string(&state).is_ok_and(|text| text.contains("\"cursor\":\""))
    })
    .await;
    let order = async |id: &str| {
        let headers = [("content-type", "application/json"), ("x-api-key", "inbound-s")];
        let body = order_body("s", id, 1_000).to_string();
        let bytes = request("POST", "/hooks/direct/orders", &headers, body.as_bytes());
        send(addr, &bytes).await.data();
    };
    for round in 0..3 {
        let id = format!("ACIK-{round}");
        order(&id).await;
        wait_until("a ticket", async || printer.count(&id) == 1).await;
        server.kill();
        server = Program::serve_at(&storage, port, &more);
        server.address().await;
    }
    order("SON-1").await;
    wait_until("the last ticket", async || printer.count("SON-1") == 1).await;
    assert_eq!(printer.tickets().len(), 4, "{}", agent.printed());
}

async fn cancelled_order_is_not_printed_later(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let _agent = kitchen.agent(&[]).await;
    kitchen.printer.behave(|it| it.has_paper = false);
    kitchen.order("VAZGEC-1").await;
    kitchen.wait_for_state("no_paper").await;
    kitchen.shop.cancel("VAZGEC-1", json!({})).await.success();
    kitchen.printer.behave(|it| it.has_paper = true);
    kitchen.order("DEVAM-1").await;
    kitchen.wait_for_tickets("DEVAM-1", 1).await;
    assert_eq!(kitchen.printer.count("VAZGEC-1"), 0);
}

async fn second_agent_with_the_same_state_is_refused(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let _agent = kitchen.agent(&[]).await;
    let mut second = Program::start(kitchen.agent_command(&kitchen.printer.url(), &[]));
    assert!(!second.ended().await);
    assert!(
        second.printed().contains("another agent uses"),
        "{}",
        second.printed()
    );
}

async fn wrong_arguments_are_explained(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    for (printer, flags, said) in [
        ("tcp://printer", vec![], "host and port"),
        ("lp0", vec![], "must be tcp://HOST:PORT"),
        ("/dev/null", vec!["--width", "a4"], "58, 80"),
        ("/dev/null", vec!["--codepage", "utf8"], "pc857, wpc1254 or ascii"),
    ] {
        let mut program = Program::start(kitchen.agent_command(printer, &flags));
        assert!(!program.ended().await);
        assert!(program.printed().contains(said), "{said}: {}", program.printed());
    }
    let mut without_key = kitchen.agent_command("/dev/null", &[]);
    without_key.env_remove("GARSON_PRINT_KEY");
    let mut program = Program::start(without_key);
    assert!(!program.ended().await);
    assert!(
        program.printed().contains("which API key?"),
        "{}",
        program.printed()
    );
}
