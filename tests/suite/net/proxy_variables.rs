//! Proxy variables of the environment are ignored.

use crate::support::{ApiClient, Backend, Program, Receiver, TestStorage, block_on};
use serde_json::json;

#[test]
fn proxy_variables_are_ignored() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let key = storage.create_account("one@example.com");
        let proxy = Receiver::start().await;
        let receiver = Receiver::start().await;
        let url = proxy.url("");
        let mut more = vec![("GARSON_ALLOW_PRIVATE_TARGETS", "true")];
        for name in [
            "HTTP_PROXY",
            "http_proxy",
            "HTTPS_PROXY",
            "https_proxy",
            "ALL_PROXY",
            "all_proxy",
        ] {
            more.push((name, url.as_str()));
        }
        let mut server = Program::serve(&storage, &more);
        let client = ApiClient::new(server.address().await, &key);
        client
            .put("/webhook", &json!({ "url": receiver.url("/") }))
            .await
            .data();
        assert_eq!(client.act("/webhook/test").await.data()["statusCode"], json!(200));
        assert_eq!((receiver.connections(), proxy.connections()), (1, 0));
    });
}
