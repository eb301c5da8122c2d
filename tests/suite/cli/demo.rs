//! `garson demo` starts a service with sample data.

use crate::support::{ApiClient, Backend, PanelUser, Program, TestStorage, block_on, command};
use serde_json::{Value, json};

#[test]
fn demo_generates_orders_of_four_platforms() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let mut start = command();
        start
            .args(["demo", "--listen", "127.0.0.1:0"])
            .current_dir(storage.folder())
            .env("TMPDIR", storage.folder());
        let mut demo = Program::start(start);
        let addr = demo.address().await;
        crate::support::wait_until("the key is printed", async || {
            demo.printed().contains("Ctrl-C ends it.")
        })
        .await;
        let printed = demo.printed();
        let key = printed.lines().find(|line| line.contains("API key")).unwrap();
        let client = ApiClient::new(addr, key.split_whitespace().last().unwrap());
        // The web shop's are there from the start; the platforms' come within seconds, and move on by themselves.
        let orders = async || {
            client
                .get("/orders?limit=200")
                .await
                .data()
                .as_array()
                .unwrap()
                .clone()
        };
        let shop = |order: &&Value| order["provider"] == "direct";
        let mut statuses: Vec<i64> = orders()
            .await
            .iter()
            .filter(shop)
            .map(|order| order["status"].as_i64().unwrap())
            .collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [400, 400, 500, 600, 900]);
        for provider in ["getir", "yemeksepeti", "trendyol", "migros"] {
            crate::support::wait_until(
                &format!("an order of {provider} is verified by itself"),
                async || {
                    orders().await.iter().any(|order| {
                        order["provider"] == provider
                            && (500..=900).contains(&order["status"].as_i64().unwrap())
                    })
                },
            )
            .await;
        }
        // The panel can be looked at as it says.
        let words: Vec<&str> = printed
            .lines()
            .find_map(|line| line.trim().strip_prefix("sign in with "))
            .unwrap()
            .split_whitespace()
            .collect();
        let page = PanelUser::at(addr)
            .sign_in(words[0], words[words.len() - 1])
            .await;
        assert!(
            page.status == 200 && page.has("Moda Lokantası"),
            "{}",
            page.text()
        );
        // What it says can be tried can be tried.
        client.act("/orders/verify/WEB-5").await.data();
        assert_ne!(
            client.get("/orders/grouped-payments").await.data()["groups"],
            json!([])
        );
        // After many events, how to sign in is said again: the introduction has scrolled away.
        let reminder = format!(
            "events so far. Panel: http://{addr}/, sign in with {} and the password {}",
            words[0],
            words[words.len() - 1]
        );
        crate::support::wait_until("the password is said again", async || {
            demo.printed().contains(&reminder)
        })
        .await;
        let folder = storage.folder().join(format!("garson-demo-{}", demo.id()));
        // The terminal shows nothing else.
        let log = std::fs::read_to_string(folder.join("demo.log")).unwrap();
        assert!(
            log.contains("applied a migration") && log.contains("delivered"),
            "{log}"
        );
        assert!(!demo.printed().contains(" INFO "), "{}", demo.printed());
        demo.terminate();
        assert!(demo.ended().await, "{}", demo.printed());
        assert!(!folder.exists());
        assert!(!demo.printed().contains("panicked"));
    });
}
