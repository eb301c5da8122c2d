//! Refused attacks are counted and logged by kind, with the address and without personal data.

use crate::support::{ApiClient, Backend, PanelUser, Program, TestStorage, block_on, request, send};

#[test]
fn refusals_are_counted_and_logged_without_personal_data() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let key = storage.create_account("owner@example.com");
        let more = [("GARSON_SERVER__TRUSTED_PROXIES", "127.0.0.1")];
        let mut program = Program::serve(&storage, &more);
        let addr = program.address().await;
        let mut user = PanelUser::at(addr);
        user.client = Some("203.0.113.7".to_owned());
        for _ in 0..7 {
            user.sign_in("owner@example.com", "hunter2hunter2").await;
        }
        ApiClient::new(addr, "gsn_wrong")
            .get("/orders")
            .await
            .refused(401, "unauthorized");
        ApiClient::new(addr, &key).get("/orders").await.data();
        let hook = [
            ("authorization", "Bearer wrong-secret"),
            ("x-forwarded-for", "203.0.113.8"),
        ];
        send(addr, &request("POST", "/hooks/direct/orders", &hook, b"{}")).await;
        let metrics = send(addr, &request("GET", "/metrics", &[], &[])).await.text();
        for (kind, count) in [
            ("wrong_password", 5),
            ("sign_in_locked", 2),
            ("wrong_key", 1),
            ("wrong_hook_secret", 1),
        ] {
            let line = format!("garson_refusals_total{{kind=\"{kind}\"}} {count}");
            assert!(metrics.contains(&line), "{line} is not in {metrics}");
            let logged = program.printed();
            let lines = logged
                .lines()
                .filter(|line| line.contains(kind))
                .collect::<Vec<_>>();
            // All refusals of a kind are one line.
            assert_eq!(lines.len(), 1, "{kind}: {logged}");
        }
        let logged = program.printed();
        assert!(
            logged.contains("203.0.113.7") && logged.contains("203.0.113.8"),
            "{logged}"
        );
        for secret in ["owner@", "hunter2", "gsn_wrong", "wrong-secret"] {
            assert!(!logged.contains(secret), "{secret} is in {logged}");
        }
    });
}
