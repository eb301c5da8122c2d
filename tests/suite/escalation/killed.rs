//! The real program, killed while steps are due and while messages are being sent.

use super::setup::{gateway_at, mail_channel, message_step, set_steps, step, timeline};
use crate::support::{
    ApiClient, Backend, CannedResponse, Program, Receiver, Shop, SmtpMood, SmtpSink, TestStorage, wait_until,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

on_both! {
    kills_neither_forget_nor_repeat_a_step
    message_that_was_being_sent_when_the_program_was_killed_is_not_repeated
}

/// The program with a restaurant; it can be killed and restarted at the same address.
struct Running {
    program: Program,
    addr: SocketAddr,
    settings: Vec<(&'static str, String)>,
    client: ApiClient,
    shop: Shop,
    // Last, so that the database is removed after everything that uses it.
    storage: TestStorage,
}

impl Running {
    async fn open(backend: Backend, mail: &SmtpSink) -> Self {
        let storage = TestStorage::new(backend);
        let key = storage.create_account("a@example.com");
        let settings = vec![
            ("GARSON_RATE_LIMIT", "off".to_owned()),
            ("GARSON_ALLOW_PRIVATE_TARGETS", "true".to_owned()),
            ("GARSON_LOG__LEVEL", "warn".to_owned()),
            ("GARSON_SMTP__HOST", "127.0.0.1".to_owned()),
            ("GARSON_SMTP__PORT", mail.addr.port().to_string()),
            ("GARSON_SMTP__TLS", "none".to_owned()),
            ("GARSON_SMTP__FROM", "garson@example.com".to_owned()),
        ];
        let mut program = start(&storage, 0, &settings);
        let addr = program.address().await;
        let client = ApiClient::new(addr, &key);
        let made = client.post("/restaurants", &json!({ "name": "s" })).await.data();
        let restaurant = made["id"].as_str().unwrap().to_owned();
        let path = format!("/restaurants/{restaurant}/integrations/direct");
        let credentials = json!({ "inboundKey": "inbound-s" });
        let body = json!({ "isActive": true, "remoteId": "s", "credentials": credentials });
        client.put(&path, &body).await.data();
        let shop = Shop {
            addr,
            restaurant,
            store: "s".to_owned(),
            key: "inbound-s".to_owned(),
        };
        Self {
            program,
            addr,
            settings,
            client,
            shop,
            storage,
        }
    }

    fn kill(&mut self) {
        self.program.kill();
    }

    async fn start(&mut self) {
        self.program = start(&self.storage, self.addr.port(), &self.settings);
        assert_eq!(self.program.address().await, self.addr);
    }

    /// The messages of an order by channel, with their states.
    async fn messages(&self) -> Vec<(String, String, String)> {
        let found = self.client.get("/messages").await.data();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let found = found.as_array().unwrap().iter();
        found
            .map(|it| (text(&it["orderId"]), text(&it["channelId"]), text(&it["state"])))
            .collect()
    }
}

fn start(storage: &TestStorage, port: u16, settings: &[(&'static str, String)]) -> Program {
    let settings: Vec<_> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    Program::serve_at(storage, port, &settings)
}

async fn kills_neither_forget_nor_repeat_a_step(backend: Backend) {
    const ORDERS: usize = 30;
    let mail = SmtpSink::start(SmtpMood::Accepts, None).await;
    let receiver = Receiver::start().await;
    let mut running = Running::open(backend, &mail).await;
    let one = gateway_at(&running.client, &receiver, "One", "/one?c={code}").await;
    let two = gateway_at(&running.client, &receiver, "Two", "/two?c={code}").await;
    let steps = json!([
        message_step(&one, 1),
        step("ring", 2),
        message_step(&two, 3),
        step("ring", 4),
    ]);
    set_steps(&running.client, &running.shop, steps).await;
    let mut orders = Vec::new();
    for number in 0..ORDERS {
        orders.push(running.shop.order(&format!("K{number}")).await);
    }
    for pause in [300, 700, 150, 900, 500] {
        // Kills hit the program while it takes steps and sends; when exactly is not important.
        tokio::time::sleep(Duration::from_millis(pause)).await;
        running.kill();
        running.start().await;
    }
    wait_until("every step is taken and every message has ended", async || {
        let messages = running.messages().await;
        messages.len() == 2 * ORDERS
            && messages
                .iter()
                .all(|(_, _, state)| state == "sent" || state == "unclear")
    })
    .await;
    receiver_is_settled(&receiver).await;
    let mut arrived = BTreeMap::<String, usize>::new();
    for request in receiver.seen() {
        *arrived.entry(request.path().to_owned()).or_default() += 1;
    }
    let messages = running.messages().await;
    for (number, order) in orders.iter().enumerate() {
        for (channel, path) in [(&one, "one"), (&two, "two")] {
            let of: Vec<_> = messages
                .iter()
                .filter(|it| it.0 == *order && it.1 == *channel)
                .collect();
            assert_eq!(of.len(), 1, "one message for each step: {of:?}");
            let count = arrived
                .get(&format!("/{path}?c=K{number}"))
                .copied()
                .unwrap_or_default();
            if of[0].2 == "sent" {
                assert_eq!(count, 1, "{path} of {number}");
            } else {
                assert!(count <= 1, "{path} of {number} was repeated");
            }
        }
        wait_until("both rings are on the timeline", async || {
            rings(&running.client, order).await == 2
        })
        .await;
    }
    // No step is left that could be taken again.
    running.kill();
    running.start().await;
    let before = receiver.count();
    let order = running.shop.order("after").await;
    wait_until("the steps of a new order are taken", async || {
        rings(&running.client, &order).await == 2
    })
    .await;
    for order in &orders {
        assert_eq!(rings(&running.client, order).await, 2);
    }
    receiver.wait_for(before + 2).await;
    assert_eq!(receiver.count(), before + 2);
}

async fn rings(client: &ApiClient, order: &str) -> usize {
    let lines = timeline(client, order).await;
    lines.iter().filter(|line| line.contains("ring urgently")).count()
}

/// Waits until requests of killed programs are read.
async fn receiver_is_settled(receiver: &Receiver) {
    wait_until("no request is open", async || receiver.open() == 0).await;
}

async fn message_that_was_being_sent_when_the_program_was_killed_is_not_repeated(backend: Backend) {
    let mail = SmtpSink::start(SmtpMood::HangsAtTheEnd, None).await;
    let receiver = Receiver::start().await;
    receiver.set_default_response(CannedResponse::Silence);
    let mut running = Running::open(backend, &mail).await;
    let sms = gateway_at(&running.client, &receiver, "SMS", "/sms").await;
    let post = mail_channel(&running.client, "Mail", "a@example.com").await;
    let steps = json!([message_step(&sms, 1), message_step(&post, 1), step("ring", 2)]);
    set_steps(&running.client, &running.shop, steps).await;
    let order = running.shop.order("1").await;
    receiver.wait_for(1).await;
    wait_until("the mail is handed over", async || mail.handed_over() == 1).await;
    running.kill();
    // From now on a repeat would succeed.
    receiver.set_default_response(CannedResponse::Status(200));
    mail.set_mood(SmtpMood::Accepts);
    running.start().await;
    wait_until("it is known that the outcome is not known", async || {
        let messages = running.messages().await;
        messages.len() == 2 && messages.iter().all(|(_, _, state)| state == "unclear")
    })
    .await;
    wait_until("the timeline says so for both", async || {
        let lines = timeline(&running.client, &order).await;
        lines
            .iter()
            .filter(|line| line.contains("not known whether the message"))
            .count()
            == 2
    })
    .await;
    assert_eq!(rings(&running.client, &order).await, 1);
    // The messages of the next order are sent, so the two were passed over.
    let next = running.shop.order("2").await;
    wait_until("the messages of the next order are sent", async || {
        let messages = running.messages().await;
        messages
            .iter()
            .filter(|it| it.0 == next && it.2 == "sent")
            .count()
            == 2
    })
    .await;
    assert_eq!((receiver.count(), mail.handed_over()), (2, 2));
}
