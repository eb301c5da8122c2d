//! Headers, lists, limits, the menu, and the model that invoices by itself.

use super::*;

#[tokio::test]
async fn headers_are_checked() {
    let stage = stage().await;
    let url = orders(&stage, "/packages");
    let without = |name: &str| {
        HEADERS
            .into_iter()
            .filter(|(header, _)| *header != name)
            .collect::<Vec<_>>()
    };
    let with = |name, value| [without(name), vec![(name, value)]].concat();
    assert_eq!(get(&url, &HEADERS).await.status, 200);
    assert_eq!(
        get(&url, &without("x-executor-user")).await.status,
        200,
        "only moves need it"
    );
    assert_eq!(get(&url, &without("authorization")).await.status, 401);
    assert_eq!(
        get(&url, &with("authorization", "Basic a2V5Ondyb25n"))
            .await
            .status,
        401
    );
    assert_eq!(get(&url, &without("user-agent")).await.status, 403);
    assert_eq!(get(&url, &with("user-agent", "curl/8")).await.status, 403);
    assert_eq!(get(&url, &without("x-agentname")).await.status, 400);
    let other = stage.url("/integrator/order/meal/suppliers/9/packages");
    assert_eq!(get(&other, &HEADERS).await.status, 401);
    let picked = orders(&stage, "/packages/picked");
    let body = json!({"packageId": "x", "preparationTime": 5}).to_string();
    let answer = call(Method::PUT, &picked, &without("x-executor-user"), body)
        .await
        .unwrap();
    assert_eq!(answer.status, 400);
    let body = json!({"packageId": "x", "preparationTime": 5}).to_string();
    let answer = call(
        Method::PUT,
        &picked,
        &with("x-executor-user", "else@example.com"),
        body,
    )
    .await
    .unwrap();
    assert_eq!(answer.status, 400);
    assert_eq!(get(&orders(&stage, "/nothing"), &HEADERS).await.status, 404);
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "compares with the system clock")]
async fn lists_have_windows_and_pages() {
    let stage = stage().await;
    let request = OrderRequest {
        count: 60,
        push: false,
        ..stage.request(Courier::Platform)
    };
    let ids = stage.control.place_orders(&request).await.unwrap();
    let list = async |query: &str| get(&orders(&stage, &format!("/packages?{query}")), &HEADERS).await;
    let page = list("page=1&size=50").await.body;
    assert_eq!(
        (&page["totalCount"], &page["totalPages"]),
        (&json!(60), &json!(2))
    );
    assert_eq!(page["content"].as_array().unwrap().len(), 10);
    for wrong in ["size=51", "size=0", "page=x", "packageModificationStartDate=-1"] {
        assert_eq!(list(wrong).await.status, 400, "{wrong}");
    }
    stage.control.advance_clock(60).await.unwrap();
    let id = &ids[0].provider_order_id;
    make(&stage, "picked", json!({"packageId": id, "preparationTime": 5})).await;
    let since = jiff::Timestamp::now().as_millisecond() + 30_000;
    let changed = list(&format!("packageModificationStartDate={since}")).await.body;
    assert_eq!(
        (&changed["totalCount"], &changed["content"][0]["id"]),
        (&json!(1), &json!(id))
    );
    assert_eq!(
        list("packageStatuses=Picking,Invoiced&storeId=77").await.body["totalCount"],
        1
    );
    assert_eq!(list("storeId=78").await.status, 401);
}

#[tokio::test]
async fn fifty_calls_in_ten_seconds() {
    let stage = stage().await;
    let url = orders(&stage, "/packages");
    for _ in 0..50 {
        assert_eq!(get(&url, &HEADERS).await.status, 200);
    }
    assert_eq!(get(&url, &HEADERS).await.status, 429);
    let products = stage.url("/integrator/product/meal/suppliers/2738/stores/77/products");
    assert_eq!(
        get(&products, &HEADERS).await.status,
        200,
        "each endpoint has its own count"
    );
    stage.control.advance_clock(11).await.unwrap();
    assert_eq!(get(&url, &HEADERS).await.status, 200);
}

#[tokio::test]
async fn the_menu_refers_to_itself() {
    let stage = stage().await;
    let products = stage.url("/integrator/product/meal/suppliers/2738/stores/77/products");
    let menu = get(&products, &HEADERS).await.body;
    let ids = |name: &str| {
        menu[name]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].clone())
            .collect::<Vec<_>>()
    };
    let (known, groups) = (ids("products"), ids("modifierGroups"));
    for section in menu["sections"].as_array().unwrap() {
        assert!(
            section["products"]
                .as_array()
                .unwrap()
                .iter()
                .all(|product| known.contains(&product["id"]))
        );
    }
    for product in menu["products"].as_array().unwrap() {
        assert!(
            product["modifierGroups"]
                .as_array()
                .unwrap()
                .iter()
                .all(|group| groups.contains(&group["id"]))
        );
    }
    for group in menu["modifierGroups"].as_array().unwrap() {
        assert!(
            group["modifierProducts"]
                .as_array()
                .unwrap()
                .iter()
                .all(|one| known.contains(&one["id"]))
        );
    }
}

#[tokio::test]
async fn the_uber_model_invoices_by_itself() {
    let stage = Stage::with(Platform::Trendyol, "77", quick(), |store| {
        store.quirks.uber = true
    })
    .await;
    let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
    let body = package(&stage, &id).await;
    assert_eq!(body["orderCode"].as_str().unwrap().len(), 5);
    assert_eq!(body["userInformation"]["appName"], "UberEats");
    assert_eq!(body["address"]["pinCode"].as_str().unwrap().len(), 8);
    assert_eq!(
        make(&stage, "picked", json!({"packageId": id, "preparationTime": 5}))
            .await
            .status,
        200
    );
    assert_eq!(stage.state(&id).await, "Invoiced");
    assert_eq!(
        make(&stage, "invoiced", json!({"packageId": id})).await.status,
        409
    );
    assert!(
        stage
            .control
            .put_store(&store(Platform::Trendyol, "78", None))
            .await
            .is_ok()
    );
}
