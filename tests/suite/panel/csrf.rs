//! Forms from other sites are refused and change nothing.

use crate::support::{PASSWORD, TestService};

cases! {
    a_form_without_its_token_is_refused_and_nothing_changes
    ; sqlite_only:
    expired_form_redirects_to_a_new_one
    a_form_from_another_site_is_refused
    sign_in_from_another_site_is_refused
}

async fn a_form_without_its_token_is_refused_and_nothing_changes(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let order = shop.order("1").await;
    let mut user = service.user().await;
    let mut theirs = service.user_of("second@example.com").await;
    let foreign = theirs.open("/keys").await.form("/keys").value("csrf").to_owned();
    let (board, keys, sessions) = (
        user.open("/").await,
        user.open("/keys").await,
        user.open("/sessions").await,
    );
    let mut forms = [board.forms(), keys.forms(), sessions.forms()].concat();
    forms.retain(|form| form.is_post);
    assert!(forms.len() > 8);
    let before = service.a.get(&format!("/orders/{order}")).await.data();
    for form in forms {
        for wrong in [
            None,
            Some(""),
            Some("x"),
            Some(&"0".repeat(64)[..]),
            Some(&foreign),
        ] {
            let body = form.forged("csrf", wrong) + "&do=verify";
            let reply = user.send("POST", &form.action, &[], &body).await;
            assert_eq!(reply.status, 403, "{form:?} with {wrong:?}");
            assert!(reply.text().contains("Form artık geçerli değil"));
            assert!(reply.header("content-security-policy").is_some());
        }
    }
    assert_eq!(service.a.get(&format!("/orders/{order}")).await.data(), before);
    assert_eq!(service.a.get("/keys").await.data().as_array().unwrap().len(), 1);
    assert_eq!(user.open("/").await.path, "/");
    assert_eq!(service.count("sessions"), 2);
}

async fn expired_form_redirects_to_a_new_one(service: TestService) {
    // The page for signing in was left open for longer than the browser keeps what its form is bound to.
    service.give_password("first@example.com").await;
    let mut user = service.anonymous_user();
    let filled = [("email", "first@example.com"), ("password", PASSWORD)];
    let form = user.open("/sign-in?next=%2Fkeys").await.form("/sign-in");
    user.cookies.clear();
    let page = user.submit(&form, &filled).await;
    assert_eq!(page.status, 403);
    assert!(page.has("bu sayfayı yenilemek yetmez"), "{}", page.text());
    assert!(user.cookies.contains_key("garson_guest"));
    // Loading it again sends the same form again.
    assert_eq!(user.submit(&form, &filled).await.status, 403);
    assert!(page.links().contains(&"/sign-in?next=%2Fkeys".to_owned()));
    let page = user.open("/sign-in?next=%2Fkeys").await;
    let page = user.submit(&page.form("/sign-in"), &filled).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/keys"));

    // A page from before the user signed in again.
    let form = user.open("/restaurants/new").await.form("/restaurants/new");
    let mut again = service.user().await;
    let page = again.submit(&form, &[("name", "Yeni")]).await;
    assert_eq!(page.status, 403);
    assert!(page.links().contains(&"/restaurants/new".to_owned()));
    // It leads nowhere else.
    let forged = form.forged("page", Some("//evil.example"));
    let reply = again.send("POST", "/restaurants/new", &[], &forged).await;
    assert!(reply.status == 403 && !reply.text().contains("evil.example"));
}

async fn a_form_from_another_site_is_refused(service: TestService) {
    let mut user = service.user().await;
    let form = user.open("/keys").await.form("/keys");
    let body = form.body(&[]);
    for wrong in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let reply = user.send("POST", "/keys", &[wrong], &body).await;
        assert_eq!(reply.status, 403, "{wrong:?}");
    }
    assert_eq!(service.a.get("/keys").await.data().as_array().unwrap().len(), 1);
    for right in [
        ("sec-fetch-site", "same-origin"),
        ("origin", "http://garson.test"),
    ] {
        let body = user.open("/keys").await.form("/keys").body(&[]);
        let reply = user.send("POST", "/keys", &[right], &body).await;
        assert_eq!(reply.status, 200, "{right:?}");
    }
}

async fn sign_in_from_another_site_is_refused(service: TestService) {
    service.give_password("first@example.com").await;
    let mut user = service.anonymous_user();
    let form = user.open("/sign-in").await.form("/sign-in");
    let body = form.body(&[("email", "first@example.com"), ("password", PASSWORD)]);
    // Another browser does not hold what the form is bound to.
    let reply = service
        .anonymous_user()
        .send("POST", "/sign-in", &[], &body)
        .await;
    assert_eq!(reply.status, 403);
    assert_eq!(service.count("sessions"), 0);
    assert_eq!(user.send("POST", "/sign-in", &[], &body).await.status, 303);
}
