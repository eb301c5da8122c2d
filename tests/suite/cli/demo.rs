//! `garson demo`: one command, and there is something to look at.

use crate::support::{Caller, Home, Kind, Program, block_on, command};
use serde_json::json;

#[test]
fn the_demo_prints_a_key_that_works_and_cleans_up() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let mut start = command();
        start
            .args(["demo", "--listen", "127.0.0.1:0"])
            .current_dir(home.folder())
            .env("TMPDIR", home.folder());
        let mut demo = Program::start(start);
        let addr = demo.address().await;
        crate::support::until("the key is printed", async || {
            demo.printed().contains("Ctrl-C ends it.")
        })
        .await;
        let printed = demo.printed();
        let key = printed.lines().find(|line| line.contains("API key")).unwrap();
        let caller = Caller::new(addr, key.split_whitespace().last().unwrap());
        let orders = caller.get("/orders").await.data();
        assert_eq!(orders.as_array().unwrap().len(), 5);
        let mut statuses: Vec<i64> = orders
            .as_array()
            .unwrap()
            .iter()
            .map(|order| order["status"].as_i64().unwrap())
            .collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [400, 400, 500, 600, 900]);
        // What it says can be tried can be tried.
        caller.act("/orders/verify/WEB-5").await.data();
        assert_ne!(
            caller.get("/orders/grouped-payments").await.data()["groups"],
            json!([])
        );
        let folder = home.folder().join(format!("garson-demo-{}", demo.id()));
        assert!(folder.is_dir());
        demo.terminate();
        assert!(demo.ended().await, "{}", demo.printed());
        assert!(!folder.exists());
        assert!(!demo.printed().contains("panicked"));
    });
}
