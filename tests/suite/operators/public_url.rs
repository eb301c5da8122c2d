//! The public address of the service, wherever it is written.

use crate::support::{Backend, TestService, request, send};

on_both! {
    ; sqlite_only:
    public_address_is_in_documents_and_pages
}

async fn public_address_is_in_documents_and_pages(backend: Backend) {
    const URL: &str = "https://orders.example.com/garson";
    let change = |settings: &mut garson::config::Settings| settings.public_url = format!("{URL}/");
    let service = TestService::open_with(backend, change, None).await;
    let get = async |path: &str| send(service.addr, &request("GET", path, &[], &[])).await;
    let document = get("/openapi.json").await.json();
    assert_eq!(document["servers"][0]["url"], URL);
    let events = get("/asyncapi.json").await.json();
    assert_eq!(events["servers"]["garson"]["host"], "orders.example.com");
    assert_eq!(events["servers"]["garson"]["pathname"], "/garson");
    let reference = get("/docs/api/").await.text();
    assert!(reference.contains(&format!("{URL}/web-api/v1/")), "no address");
    assert!(!reference.contains("http://garson.test"));
    let shop = service.shop(&service.a, "s").await;
    let mut user = service.user().await;
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    let page = user.open(&path).await;
    assert!(
        page.has(&format!("POST {URL}/hooks/direct/orders")),
        "{}",
        page.html
    );
    // Without it, the address of the request.
    let service = TestService::open(backend).await;
    let document = send(service.addr, &request("GET", "/openapi.json", &[], &[]))
        .await
        .json();
    assert_eq!(document["servers"][0]["url"], "/");
}
