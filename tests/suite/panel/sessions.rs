//! Sessions: listed, ended individually and all at once; the password.

use crate::support::{PASSWORD, PanelUser, TestService, secret_file};

cases! {
    session_ends_after_its_maximum_lifetime
    sessions_are_listed_and_ended
    all_other_sessions_are_ended
    ; sqlite_only:
    common_password_is_refused
    sessions_of_other_accounts_cannot_be_ended
    the_password_is_changed
    the_operator_sets_a_password
    a_new_account_can_sign_in
}

async fn signed_in(service: &TestService, agent: &str, password: &str) -> PanelUser {
    let mut user = service.anonymous_user();
    user.agent = agent.to_owned();
    let page = user.sign_in("first@example.com", password).await;
    assert_eq!(page.path, "/", "{}", page.html);
    user
}

async fn sessions_are_listed_and_ended(service: TestService) {
    service.give_password("first@example.com").await;
    let mut tablet = signed_in(&service, "Tablet <b>7</b>", PASSWORD).await;
    let mut phone = signed_in(&service, "Phone", PASSWORD).await;
    let page = phone.open("/sessions").await;
    assert!(page.has("Phone bu tarayıcı"), "{}", page.text());
    assert!(page.has("01.03.2026 12:00"), "{}", page.text());
    // What a browser says of itself is text.
    assert!(page.has("Tablet <b>7</b>") && !page.html.contains("<b>7"));
    let page = phone.submit(&page.form("/sessions/end"), &[]).await;
    assert!(page.has("Oturum sonlandırıldı."), "{}", page.text());
    assert!(!page.has("Tablet"));
    // It is said once.
    assert!(!phone.open("/sessions").await.has("Oturum sonlandırıldı."));
    assert_eq!(tablet.open("/").await.path, "/sign-in");
    assert_eq!(phone.open("/").await.path, "/");
}

async fn all_other_sessions_are_ended(service: TestService) {
    service.give_password("first@example.com").await;
    let mut theirs = service.user_of("second@example.com").await;
    let mut others = Vec::new();
    for n in 0..3 {
        others.push(signed_in(&service, &format!("Other {n}"), PASSWORD).await);
    }
    let mut mine = signed_in(&service, "Mine", PASSWORD).await;
    let page = mine.open("/sessions").await;
    let page = mine.submit(&page.form("/sessions/end-others"), &[]).await;
    assert!(page.has("Diğer tüm oturumlar sonlandırıldı."), "{}", page.text());
    for other in &mut others {
        assert_eq!(other.open("/").await.path, "/sign-in");
    }
    assert_eq!(theirs.open("/").await.path, "/");
}

async fn sessions_of_other_accounts_cannot_be_ended(service: TestService) {
    let mut theirs = service.user_of("second@example.com").await;
    let mut more = service.anonymous_user();
    more.sign_in("second@example.com", PASSWORD).await;
    let page = theirs.open("/sessions").await;
    let name = page.form("/sessions/end").value("session").to_owned();
    let mut mine = service.user().await;
    let mut other = service.anonymous_user();
    other.sign_in("first@example.com", PASSWORD).await;
    let form = mine.open("/sessions").await.form("/sessions/end");
    mine.submit(&form, &[("session", &name)]).await;
    assert_eq!(more.open("/").await.path, "/");
    assert_eq!(other.open("/").await.path, "/");
}

async fn the_password_is_changed(service: TestService) {
    service.give_password("first@example.com").await;
    let mut other = signed_in(&service, "Other", PASSWORD).await;
    let mut mine = signed_in(&service, "Mine", PASSWORD).await;
    let form = mine.open("/sessions").await.form("/password");
    let page = mine
        .submit(&form, &[("old", "wrong one"), ("new", "another horse")])
        .await;
    assert_eq!(page.status, 422);
    assert!(page.has("Mevcut parola yanlış."), "{}", page.text());
    assert!(!page.html.contains("another horse") && !page.html.contains("wrong one"));
    let page = mine.submit(&form, &[("old", PASSWORD), ("new", "short")]).await;
    assert!(
        page.status == 422 && page.has("en az 8 karakter olmalı"),
        "{}",
        page.text()
    );
    let page = mine
        .submit(&form, &[("old", PASSWORD), ("new", "another horse")])
        .await;
    assert!(page.has("Parola değiştirildi"), "{}", page.text());
    assert_eq!(other.open("/").await.path, "/sign-in");
    assert_eq!(mine.open("/").await.path, "/");
    assert_eq!(
        service
            .anonymous_user()
            .sign_in("first@example.com", PASSWORD)
            .await
            .status,
        401
    );
    signed_in(&service, "Again", "another horse").await;
}

async fn the_operator_sets_a_password(service: TestService) {
    let mut mine = service.user().await;
    for _ in 0..6 {
        service
            .anonymous_user()
            .sign_in("first@example.com", "wrong")
            .await;
    }
    let set = service.command(&["account", "password", "--email", "first@example.com"]);
    assert!(set.success, "{}", set.err);
    let line = set.out.lines().find(|line| line.starts_with("Password")).unwrap();
    let password = line.split_whitespace().nth(1).unwrap();
    assert_eq!(mine.open("/").await.path, "/sign-in");
    signed_in(&service, "Again", password).await;
    // The first user may be gone; then it is the oldest owner.
    let owner = serde_json::json!({ "email": "ayse@example.com", "role": "owner" });
    service.a.post("/users", &owner).await.data();
    let set = service.command(&["user", "reset-password", "--email", "ayse@example.com"]);
    assert!(set.success, "{}", set.err);
    let users = service.a.get("/users").await.data();
    let first = users
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["email"] == "first@example.com");
    let path = format!("/users/{}", first.unwrap()["id"].as_str().unwrap());
    service.a.delete(&path).await.success();
    let set = service.command(&["account", "password", "--email", "first@example.com"]);
    assert!(set.out.contains("ayse@example.com"), "{set:?}");
}

async fn a_new_account_can_sign_in(service: TestService) {
    let words = [
        "account",
        "create",
        "--name",
        "Yeni",
        "--email",
        "new@example.com",
        "--json",
    ];
    let made = service.command(&words);
    let made: serde_json::Value = serde_json::from_str(made.out.trim()).unwrap();
    assert!(made["panel"]["url"].as_str().unwrap().starts_with("http://"));
    let text = |name: &str| made["panel"][name].as_str().unwrap().to_owned();
    let page = service
        .anonymous_user()
        .sign_in(&text("email"), &text("password"))
        .await;
    assert_eq!((page.status, page.path.as_str()), (200, "/"));
    // One that is given is not shown.
    let given = secret_file("my own words");
    let words = [
        "account",
        "create",
        "--name",
        "x",
        "--email",
        "two@example.com",
        "--password-file",
        given.path().to_str().unwrap(),
    ];
    let made = service.command(&words);
    assert!(
        made.success && !made.out.contains("my own words") && made.out.contains("Panel"),
        "{}",
        made.out
    );
    let page = service
        .anonymous_user()
        .sign_in("two@example.com", "my own words")
        .await;
    assert_eq!((page.status, page.path.as_str()), (200, "/"));
}

async fn common_password_is_refused(service: TestService) {
    service.give_password("first@example.com").await;
    let mut mine = signed_in(&service, "Mine", PASSWORD).await;
    let form = mine.open("/sessions").await.form("/password");
    for common in ["12345678", "Password1", "aaaaaaaaaa"] {
        let page = mine.submit(&form, &[("old", PASSWORD), ("new", common)]).await;
        assert!(
            page.status == 422 && page.has("kolay tahmin edilen"),
            "{}",
            page.text()
        );
    }
    let given = secret_file("12345678");
    let words = [
        "account",
        "create",
        "--name",
        "Yeni",
        "--email",
        "new@example.com",
        "--password-file",
        given.path().to_str().unwrap(),
    ];
    let refused = service.command(&words);
    assert!(
        !refused.success && refused.err.contains("easy to guess"),
        "{refused:?}"
    );
    signed_in(&service, "Again", PASSWORD).await;
}

async fn session_ends_after_its_maximum_lifetime(service: TestService) {
    service.give_password("first@example.com").await;
    let mut mine = signed_in(&service, "Mine", PASSWORD).await;
    for _ in 0..8 {
        service.advance(std::time::Duration::from_secs(11 * 24 * 3600));
        assert_eq!(mine.open("/").await.path, "/");
    }
    service.advance(std::time::Duration::from_secs(3 * 24 * 3600));
    assert_eq!(mine.open("/").await.path, "/sign-in");
}
