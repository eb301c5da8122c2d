//! Forms that do not come from our own pages are refused, and nothing changes.

use crate::support::{House, PASSWORD};

cases! {
    a_form_without_its_token_is_refused_and_nothing_changes
    whoever_sends_an_old_form_is_led_to_a_new_one
    a_form_from_another_site_is_refused
    nobody_is_signed_in_by_another_site
}

async fn a_form_without_its_token_is_refused_and_nothing_changes(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let order = shop.order("1").await;
    let mut visitor = house.visitor().await;
    let mut theirs = house.visitor_of("second@example.com").await;
    let foreign = theirs.open("/keys").await.form("/keys").value("csrf").to_owned();
    let (board, keys, sessions) = (
        visitor.open("/").await,
        visitor.open("/keys").await,
        visitor.open("/sessions").await,
    );
    let forms = [board.forms(), keys.forms(), sessions.forms()].concat();
    assert!(forms.len() > 8);
    let before = house.a.get(&format!("/orders/{order}")).await.data();
    for form in forms {
        for wrong in [
            None,
            Some(""),
            Some("x"),
            Some(&"0".repeat(64)[..]),
            Some(&foreign),
        ] {
            let body = form.forged("csrf", wrong) + "&do=verify";
            let reply = visitor.send("POST", &form.action, &[], &body).await;
            assert_eq!(reply.status, 403, "{form:?} with {wrong:?}");
            assert!(reply.text().contains("Form artık geçerli değil"));
            assert!(reply.header("content-security-policy").is_some());
        }
    }
    assert_eq!(house.a.get(&format!("/orders/{order}")).await.data(), before);
    assert_eq!(house.a.get("/keys").await.data().as_array().unwrap().len(), 1);
    assert_eq!(visitor.open("/").await.path, "/");
    assert_eq!(house.count("sessions"), 2);
}

async fn whoever_sends_an_old_form_is_led_to_a_new_one(house: House) {
    // The page for signing in was left open for longer than the browser keeps what its form is bound to.
    house.give_password("first@example.com").await;
    let mut visitor = house.stranger();
    let filled = [("email", "first@example.com"), ("password", PASSWORD)];
    let form = visitor.open("/sign-in?next=%2Fkeys").await.form("/sign-in");
    visitor.cookies.clear();
    let page = visitor.submit(&form, &filled).await;
    assert_eq!(page.status, 403);
    assert!(page.has("bu sayfayı yenilemek yetmez"), "{}", page.text());
    assert!(visitor.cookies.contains_key("garson_guest"));
    // Loading it again sends the same form again.
    assert_eq!(visitor.submit(&form, &filled).await.status, 403);
    assert!(page.links().contains(&"/sign-in?next=%2Fkeys".to_owned()));
    let page = visitor.open("/sign-in?next=%2Fkeys").await;
    let page = visitor.submit(&page.form("/sign-in"), &filled).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/keys"));

    // A page of somebody who has signed in anew since.
    let form = visitor.open("/restaurants/new").await.form("/restaurants/new");
    let mut again = house.visitor().await;
    let page = again.submit(&form, &[("name", "Yeni")]).await;
    assert_eq!(page.status, 403);
    assert!(page.links().contains(&"/restaurants/new".to_owned()));
    // It leads nowhere else.
    let forged = form.forged("page", Some("//evil.example"));
    let reply = again.send("POST", "/restaurants/new", &[], &forged).await;
    assert!(reply.status == 403 && !reply.text().contains("evil.example"));
}

async fn a_form_from_another_site_is_refused(house: House) {
    let mut visitor = house.visitor().await;
    let form = visitor.open("/keys").await.form("/keys");
    let body = form.body(&[]);
    for wrong in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let reply = visitor.send("POST", "/keys", &[wrong], &body).await;
        assert_eq!(reply.status, 403, "{wrong:?}");
    }
    assert_eq!(house.a.get("/keys").await.data().as_array().unwrap().len(), 1);
    for right in [
        ("sec-fetch-site", "same-origin"),
        ("origin", "http://garson.test"),
    ] {
        let body = visitor.open("/keys").await.form("/keys").body(&[]);
        let reply = visitor.send("POST", "/keys", &[right], &body).await;
        assert_eq!(reply.status, 200, "{right:?}");
    }
}

async fn nobody_is_signed_in_by_another_site(house: House) {
    house.give_password("first@example.com").await;
    let mut visitor = house.stranger();
    let form = visitor.open("/sign-in").await.form("/sign-in");
    let body = form.body(&[("email", "first@example.com"), ("password", PASSWORD)]);
    // Another browser does not hold what the form is bound to.
    let reply = house.stranger().send("POST", "/sign-in", &[], &body).await;
    assert_eq!(reply.status, 403);
    assert_eq!(house.count("sessions"), 0);
    assert_eq!(visitor.send("POST", "/sign-in", &[], &body).await.status, 303);
}
