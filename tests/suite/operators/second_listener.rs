//! The second address, for metrics, health and the API reference.

use crate::support::{Backend, Program, Scrape, TestStorage, block_on, request, send, wait_until};
use std::net::SocketAddr;

async fn second_address(program: &Program) -> SocketAddr {
    const BEFORE: &str = "API reference are at http://";
    wait_until("the second address is printed", async || {
        program.printed().contains(BEFORE)
    })
    .await;
    let printed = program.printed();
    let (_, rest) = printed.split_once(BEFORE).unwrap();
    rest.lines().next().unwrap().trim().parse().unwrap()
}

#[test]
fn metrics_are_only_at_the_second_address() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let settings = [("GARSON_SERVER__OPERATIONS_LISTEN", "127.0.0.1:0")];
        let mut program = Program::serve(&storage, &settings);
        let main = program.address().await;
        let second = second_address(&program).await;
        let status = async |addr, path: &str| send(addr, &request("GET", path, &[], &[])).await.status;
        assert_eq!(status(main, "/metrics").await, 404);
        assert_eq!(Scrape::of(second).await.count("garson_storage_up"), 1.0);
        for path in [
            "/healthz",
            "/readyz",
            "/docs/",
            "/docs/en/start",
            "/docs/api/",
            "/openapi.json",
        ] {
            assert_eq!(status(main, path).await, 200, "{path}");
            assert_eq!(status(second, path).await, 200, "{path}");
        }
        // Nothing else is there.
        for path in ["/", "/sign-in", "/web-api/v1/orders", "/hooks/direct/orders"] {
            assert_eq!(status(second, path).await, 404, "{path}");
        }
        // The page has its style and script.
        let page = send(second, &request("GET", "/docs/", &[], &[])).await.text();
        for part in page.split('"').filter(|part| part.starts_with("/assets/")) {
            assert_eq!(status(second, part).await, 200, "{part}");
        }
        program.terminate();
        assert!(program.ended().await);
    });
}

#[test]
fn used_second_address_prevents_the_start() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap().to_string();
        let mut program = Program::serve(&storage, &[("GARSON_SERVER__OPERATIONS_LISTEN", &address)]);
        assert!(!program.ended().await);
        let wanted = format!("cannot listen on {address}");
        assert!(program.printed().contains(&wanted), "{}", program.printed());
    });
}
