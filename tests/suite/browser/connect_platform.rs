//! A restaurant is created and connected to a platform, and its first order arrives.

use super::setup::browser_tests;

browser_tests! {
    a_restaurant_is_connected_to_a_platform
}

mod case {
    use super::super::setup::Setup;
    use crate::support::{credentials, store};
    use garson_sim::Platform;
    use garson_sim::views::OrderRequest;

    const BRANCH: &str = "5f0000000000000000000002";

    pub async fn a_restaurant_is_connected_to_a_platform(setup: Setup) {
        let (browser, world) = (&setup.browser, &setup.world);
        // The platform knows the branch.
        let mut branch = store(Platform::Getir, &format!("http://{}", world.service.addr));
        BRANCH.clone_into(&mut branch.remote_id);
        let mut known = credentials(Platform::Getir);
        known["inboundKey"] = "getir-knocks-again".into();
        known["restaurantSecretKey"] = "second-secret".into();
        branch.credentials = known.clone();
        world.control.put_store(&branch).await.unwrap();

        browser.go("/restaurants/new").await;
        browser.fill("[name=name]", "Kadıköy").await;
        browser.click("form[action='/restaurants/new'] button.main").await;
        browser.wait_for_text("h1", "Kadıköy").await;
        browser.click("a[href$='/integrations']").await;
        browser.click("#p-getir a.main").await;
        browser.fill("[name=remoteId]", BRANCH).await;
        for (name, value) in known.as_object().unwrap() {
            browser
                .fill(&format!("[name='credentials.{name}']"), value.as_str().unwrap())
                .await;
        }
        browser.click("main form.stack button.main").await;
        browser.wait_for_text(".notice.good", "Bağlantı kaydedildi").await;
        browser.click("#p-getir .menu > summary").await;
        browser.click("#p-getir form[action$='/try'] button").await;
        browser.wait_for_text(".notice.good", "Bağlantı çalışıyor").await;

        setup.open_board().await;
        let request = OrderRequest {
            remote_id: Some(BRANCH.to_owned()),
            ..OrderRequest::new(Platform::Getir)
        };
        world.place(request).await;
        browser.wait_for_text(".order", "Kadıköy").await;
    }
}
