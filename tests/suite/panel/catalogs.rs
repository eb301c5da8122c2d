//! Menus that are sent to a platform from the panel.

use crate::products::catalogs::{open, report, switch_on};
use crate::products::setup::ProductWorld;
use crate::support::{Backend, wait_until};
use garson_sim::Platform::Yemeksepeti;

on_both! {
    ; sqlite_only:
    menu_is_sent_from_the_panel_and_its_result_is_shown
    page_is_there_only_where_menus_can_be_sent
    page_of_another_account_is_not_found
}

fn path(world: &ProductWorld) -> String {
    format!("/restaurants/{}/catalog", world.restaurant)
}

async fn menu_is_sent_from_the_panel_and_its_result_is_shown(backend: Backend) {
    let world = open(backend).await;
    let mut user = world.service.user().await;
    let here = path(&world);
    let products = user
        .open(&format!("/restaurants/{}/products", world.restaurant))
        .await;
    assert!(products.links().contains(&here), "{:?}", products.links());
    let page = user.open(&here).await;
    assert!(page.has("Henüz menü gönderilmedi."), "{}", page.text());
    // Nothing is sent without the tick.
    let form = page.form(&here);
    let chosen = [("from", "getir"), ("to", "yemeksepeti")];
    let after = user.submit(&form, &chosen).await;
    assert!(after.has("onaylayın"), "{}", after.text());
    assert_eq!(world.calls(Yemeksepeti, "catalog").await, 0);
    report(&world, "").await;
    let mut stream = user.follow_board(&page).await;
    let confirmed = [("from", "getir"), ("to", "yemeksepeti"), ("confirm", "on")];
    let after = user.submit(&form, &confirmed).await;
    assert!(after.has("Menü gönderildi"), "{}", after.text());
    assert!(
        after.has("platform aldı") && after.has("Getir Yemek → Yemeksepeti"),
        "{}",
        after.text()
    );
    report(&world, "done_with_errors").await;
    // An open page shows the result by itself.
    loop {
        let told = stream.next().await.unwrap();
        if told.event == "parts" && told.data.contains("eksikle tamamlandı") {
            assert!(
                told.data.contains("some items were not imported"),
                "{}",
                told.data
            );
            assert!(told.data.contains("the image cannot be read"), "{}", told.data);
            break;
        }
    }
    let log = user.open(&format!("{here}?log=yemeksepeti")).await;
    let log = log.within("content", "main");
    assert!(log.has("platform işliyor"), "{}", log.text());
    // What cannot be sent is refused in the page's language.
    let wrong = [("from", "yemeksepeti"), ("to", "yemeksepeti"), ("confirm", "on")];
    let body: String = form
        .fields
        .iter()
        .filter(|(name, _)| name == "csrf")
        .map(|(name, value)| format!("{name}={value}&"))
        .chain(wrong.iter().map(|(name, value)| format!("{name}={value}&")))
        .collect();
    let reply = user.send("POST", &here, &[], &body).await;
    assert_eq!(reply.status, 303);
    let page = user.open(&here).await;
    assert!(page.has("başka bir platformdan alınmalı"), "{}", page.text());
}

async fn page_is_there_only_where_menus_can_be_sent(backend: Backend) {
    // Switched on, but the platform could not report.
    let world = ProductWorld::open_with(backend, switch_on).await;
    let mut user = world.service.user().await;
    let here = path(&world);
    let products = user
        .open(&format!("/restaurants/{}/products", world.restaurant))
        .await;
    assert!(!products.links().contains(&here));
    assert_eq!(user.open(&here).await.status, 409);
    let csrf = user.open("/keys").await.form("/keys").value("csrf").to_owned();
    let body = format!("csrf={csrf}&from=getir&to=yemeksepeti&confirm=on");
    let reply = user.send("POST", &here, &[], &body).await;
    assert_eq!(reply.status, 409);
    assert_eq!(world.calls(Yemeksepeti, "catalog").await, 0);
}

async fn page_of_another_account_is_not_found(backend: Backend) {
    let world = open(backend).await;
    let mut user = world.service.user_of("second@example.com").await;
    let here = path(&world);
    assert_eq!(user.open(&here).await.status, 404);
    assert_eq!(user.stream_refused(&format!("{here}/stream")).await.status, 404);
    let csrf = user.open("/keys").await.form("/keys").value("csrf").to_owned();
    let body = format!("csrf={csrf}&from=getir&to=yemeksepeti&confirm=on");
    assert_eq!(user.send("POST", &here, &[], &body).await.status, 404);
    wait_until("nothing is sent", async || {
        world.service.count("catalog_pushes") == 0
    })
    .await;
}
