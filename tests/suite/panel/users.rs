//! Users of an account: invited, changed, disabled and removed by an owner.

use crate::support::{PASSWORD, PanelUser, StealAwareInstant, TestService};
use serde_json::json;
use std::time::Duration;

cases! {
    invited_person_accepts_once
    removed_user_is_out_within_a_second
    account_keeps_an_owner
    sensitive_changes_ask_for_the_password_again
    ; sqlite_only:
    invitation_ends_after_a_week
    new_invitation_replaces_the_first
    form_that_is_sent_twice_invites_one_user
    changed_role_signs_the_user_out
    disabled_user_cannot_sign_in
    sessions_are_each_users_own
    profile_is_changed
    wrong_confirmations_are_limited
    user_is_signed_out_everywhere
    operator_manages_users
}

/// The path of an invitation that is shown on a page.
fn link(page: &crate::support::Page) -> String {
    let text = page.text();
    let at = text
        .find("/invitation/")
        .unwrap_or_else(|| panic!("no link in {text}"));
    text[at..].split_whitespace().next().unwrap().to_owned()
}

async fn invite(owner: &mut PanelUser, email: &str, role: &str) -> String {
    let form = owner.open("/users/new").await.form("/users/new");
    let page = owner.submit(&form, &[("email", email), ("role", role)]).await;
    assert_eq!(page.status, 200, "{}", page.text());
    link(&page)
}

async fn invited_person_accepts_once(service: TestService) {
    let mut owner = service.user().await;
    let path = invite(&mut owner, " Ayse@Example.com ", "accountant").await;
    let page = owner.open("/users").await;
    assert!(
        page.has("ayse@example.com") && page.has("davet edildi"),
        "{}",
        page.text()
    );
    // The link is shown once.
    assert!(!page.has("/invitation/"));
    let mut ayse = service.anonymous_user();
    let page = ayse.open(&path).await;
    assert!(page.has("ayse@example.com"), "{}", page.text());
    let form = page.form(&path);
    for (password, why) in [
        ("short", "En az 8 karakter olmalı"),
        ("password1", "kolay tahmin edilmemeli"),
    ] {
        let page = ayse
            .submit(&form, &[("name", "Ayşe"), ("password", password)])
            .await;
        assert_eq!(page.status, 422);
        assert!(page.has(why) && !page.html.contains(password), "{}", page.text());
    }
    let page = ayse
        .submit(&form, &[("name", "Ayşe Yılmaz"), ("password", "quiet zebra 41")])
        .await;
    assert!(
        page.path.starts_with("/sign-in") && page.has("Şimdi giriş yapın"),
        "{}",
        page.text()
    );
    let again = ayse.open(&path).await;
    assert!(
        again.status == 404 && again.has("Bağlantı artık geçerli değil"),
        "{}",
        again.text()
    );
    let again = ayse
        .submit(&form, &[("name", "X"), ("password", "another zebra 41")])
        .await;
    assert_eq!(again.status, 404);
    let page = ayse.sign_in("AYSE@example.com", "quiet zebra 41").await;
    assert_eq!(page.path, "/");
    let links = page.links();
    assert!(
        links.contains(&"/reports".to_owned()) && !links.contains(&"/users".to_owned()),
        "{links:?}"
    );
    assert!(owner.open("/users").await.has("Ayşe Yılmaz"));
    // The address is taken now, in whatever case.
    let form = owner.open("/users/new").await.form("/users/new");
    let page = owner
        .submit(&form, &[("email", "aySE@example.com"), ("role", "shift")])
        .await;
    assert!(page.status == 409 && page.has("kullanımda"), "{}", page.text());
}

async fn invitation_ends_after_a_week(service: TestService) {
    let mut owner = service.user().await;
    let path = invite(&mut owner, "ayse@example.com", "shift").await;
    let mut ayse = service.anonymous_user();
    service.advance(Duration::from_secs(7 * 24 * 3600 - 1));
    assert_eq!(ayse.open(&path).await.status, 200);
    service.advance(Duration::from_secs(2));
    assert_eq!(ayse.open(&path).await.status, 404);
}

async fn new_invitation_replaces_the_first(service: TestService) {
    let mut owner = service.user().await;
    let first = invite(&mut owner, "ayse@example.com", "shift").await;
    let users = service.a.get("/users").await.data();
    let users = users.as_array().unwrap();
    let invited = users.iter().find(|it| it["email"] == "ayse@example.com");
    let id = invited.unwrap()["id"].as_str().unwrap();
    let page = owner.open(&format!("/users/{id}")).await;
    let page = owner
        .submit(&page.form(&format!("/users/{id}/invite")), &[])
        .await;
    let second = link(&page);
    assert_ne!(first, second);
    let mut ayse = service.anonymous_user();
    assert_eq!(ayse.open(&first).await.status, 404);
    assert_eq!(ayse.open(&second).await.status, 200);
}

async fn form_that_is_sent_twice_invites_one_user(service: TestService) {
    let mut owner = service.user().await;
    let form = owner.open("/users/new").await.form("/users/new");
    for _ in 0..2 {
        let page = owner
            .submit(&form, &[("email", "ayse@example.com"), ("role", "shift")])
            .await;
        assert_eq!(page.status, 200, "{}", page.text());
    }
    assert_eq!(service.count("users"), 3);
}

async fn removed_user_is_out_within_a_second(service: TestService) {
    let (id, mut ayse) = service.colleague("ayse@example.com", "shift", None).await;
    let board = ayse.open("/").await;
    let mut stream = ayse.follow_board(&board).await;
    let began = StealAwareInstant::now();
    service.a.delete(&format!("/users/{id}")).await.success();
    // Whatever was sent before, the stream comes to its end.
    while stream.next().await.is_some() {}
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(ayse.open("/").await.path, "/sign-in");
    assert_eq!(ayse.sign_in("ayse@example.com", PASSWORD).await.status, 401);
}

async fn changed_role_signs_the_user_out(service: TestService) {
    let (id, mut ayse) = service.colleague("ayse@example.com", "manager", None).await;
    let board = ayse.open("/").await;
    let mut stream = ayse.follow_board(&board).await;
    // A new name changes no rights.
    let path = format!("/users/{id}");
    service
        .a
        .json("PATCH", &path, r#"{"name": "Ayşe Y."}"#)
        .await
        .success();
    assert_eq!(ayse.open("/restaurants").await.path, "/restaurants");
    service
        .a
        .json("PATCH", &path, r#"{"role": "accountant"}"#)
        .await
        .success();
    while stream.next().await.is_some() {}
    assert_eq!(ayse.open("/").await.path, "/sign-in");
    ayse.sign_in("ayse@example.com", PASSWORD).await;
    assert_eq!(ayse.open("/restaurants").await.status, 403);
}

async fn disabled_user_cannot_sign_in(service: TestService) {
    let (id, mut ayse) = service.colleague("ayse@example.com", "shift", None).await;
    let mut owner = service.user().await;
    let path = format!("/users/{id}");
    let form = owner.open(&path).await.form(&path);
    let page = owner.submit(&form, &[("disabled", "on")]).await;
    assert!(page.has("Kaydedildi."), "{}", page.text());
    assert_eq!(ayse.open("/").await.path, "/sign-in");
    let page = ayse.sign_in("ayse@example.com", PASSWORD).await;
    assert!(
        page.status == 401 && page.has("E-posta ya da parola yanlış."),
        "{}",
        page.text()
    );
    service
        .a
        .json("PATCH", &path, r#"{"isDisabled": false}"#)
        .await
        .success();
    assert_eq!(ayse.sign_in("ayse@example.com", PASSWORD).await.path, "/");
}

async fn account_keeps_an_owner(service: TestService) {
    let mut owner = service.user().await;
    let users = service.a.get("/users").await.data();
    let id = users[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/users/{id}");
    for body in [r#"{"role": "manager"}"#, r#"{"isDisabled": true}"#] {
        service
            .a
            .json("PATCH", &path, body)
            .await
            .refused(409, "last_owner");
    }
    service.a.delete(&path).await.refused(409, "last_owner");
    let page = owner.open(&path).await;
    let page = owner.submit(&page.form(&format!("{path}/remove")), &[]).await;
    assert!(
        page.status == 409 && page.has("Hesabın bir sahibi kalmalı"),
        "{}",
        page.text()
    );
    // An invited owner cannot sign in yet, so the account would have none.
    service
        .a
        .post("/users", &json!({ "email": "new@example.com", "role": "owner" }))
        .await
        .data();
    let (second, _) = service.colleague("second.owner@example.com", "owner", None).await;
    service.a.delete(&path).await.success();
    assert_eq!(owner.open("/").await.path, "/sign-in");
    service
        .a
        .delete(&format!("/users/{second}"))
        .await
        .refused(409, "last_owner");
}

async fn sessions_are_each_users_own(service: TestService) {
    let (_, mut ayse) = service.colleague("ayse@example.com", "shift", None).await;
    let mut owner = service.user().await;
    owner.agent = "Owner's browser".to_owned();
    owner.sign_in("first@example.com", PASSWORD).await;
    let page = ayse.open("/sessions").await;
    assert!(
        !page.has("Owner's browser") && page.has("127.0.0.1"),
        "{}",
        page.text()
    );
    assert!(page.forms().iter().all(|form| form.action != "/sessions/end"));
    // Somebody else's session cannot be ended by its name.
    let theirs = owner.open("/sessions").await.form("/sessions/end");
    let own = page.form("/password");
    let body = format!("csrf={}&session={}", own.value("csrf"), theirs.value("session"));
    ayse.send("POST", "/sessions/end", &[], &body).await;
    assert_eq!(owner.open("/sessions").await.path, "/sessions");
    assert_eq!(service.count("sessions"), 3);
}

async fn user_is_signed_out_everywhere(service: TestService) {
    let (_, mut ayse) = service.colleague("ayse@example.com", "shift", None).await;
    let mut owner = service.user().await;
    let mut tablet = service.anonymous_user();
    tablet.sign_in("ayse@example.com", PASSWORD).await;
    let form = ayse.open("/sessions").await.form("/sessions/end-all");
    assert_eq!(ayse.submit(&form, &[]).await.path, "/sign-in");
    assert_eq!(tablet.open("/").await.path, "/sign-in");
    assert_eq!(ayse.open("/").await.path, "/sign-in");
    assert_eq!(owner.open("/").await.path, "/");
}

async fn profile_is_changed(service: TestService) {
    let (_, mut ayse) = service.colleague("ayse@example.com", "shift", None).await;
    let form = ayse.open("/account").await.form("/account");
    let page = ayse.submit(&form, &[("email", "first@example.com")]).await;
    assert!(page.status == 409, "{}", page.text());
    let page = ayse.submit(&form, &[("email", "nobody")]).await;
    assert!(
        page.status == 422 && page.has("bir e-posta adresi olmalı") || page.has("Bir e-posta adresi olmalı")
    );
    let filled = [
        ("email", "yilmaz@example.com"),
        ("name", "A. Yılmaz"),
        ("language", "en"),
    ];
    let page = ayse.submit(&form, &filled).await;
    assert!(page.has("Saved."), "{}", page.text());
    let mut other = service.anonymous_user();
    assert_eq!(other.sign_in("ayse@example.com", PASSWORD).await.status, 401);
    // A new browser shows the user's language.
    let page = other.sign_in("yilmaz@example.com", PASSWORD).await;
    assert!(page.path == "/" && page.has("Sign out"), "{}", page.text());
}

const MINUTES: Duration = Duration::from_secs(60);

async fn sensitive_changes_ask_for_the_password_again(service: TestService) {
    let mut owner = service.user().await;
    service.advance(11 * MINUTES);
    let form = owner.open("/keys").await.form("/keys");
    let asked = owner.submit(&form, &[("label", "Kasa <2>")]).await;
    assert_eq!(asked.status, 403);
    assert!(asked.has("Siz olduğunuzu doğrulayın"), "{}", asked.text());
    let keys = async || service.a.get("/keys").await.data().as_array().unwrap().len();
    assert_eq!(keys().await, 1);
    let confirm = asked.form("/keys");
    // What was filled in is still there.
    assert_eq!(confirm.value("label"), "Kasa <2>");
    let wrong = owner
        .submit(&confirm, &[("confirm-password", "wrong horse")])
        .await;
    assert!(
        wrong.status == 403 && wrong.has("Parola ya da kod yanlış."),
        "{}",
        wrong.text()
    );
    assert_eq!(keys().await, 1);
    let done = owner.submit(&confirm, &[("confirm-password", PASSWORD)]).await;
    assert!(done.status == 200 && done.has("Kasa <2>"), "{}", done.text());
    assert_eq!(keys().await, 2);
    // For ten minutes it is not asked again.
    service.advance(9 * MINUTES);
    let form = owner.open("/keys").await.form("/keys");
    assert_eq!(owner.submit(&form, &[]).await.status, 200);
    service.advance(2 * MINUTES);
    let form = owner.open("/keys").await.form("/keys");
    assert_eq!(owner.submit(&form, &[]).await.status, 403);
    assert_eq!(keys().await, 3);
    // Whatever is not sensitive is not interrupted.
    let form = owner.open("/restaurants/new").await.form("/restaurants/new");
    assert_eq!(owner.submit(&form, &[("name", "Moda")]).await.status, 200);
}

async fn wrong_confirmations_are_limited(service: TestService) {
    let mut owner = service.user().await;
    service.advance(11 * MINUTES);
    let form = owner.open("/keys").await.form("/keys");
    let form = owner.submit(&form, &[]).await.form("/keys");
    let mut last = String::new();
    for n in 0..8 {
        let page = owner
            .submit(&form, &[("confirm-password", &format!("guess {n}"))])
            .await;
        assert_eq!(page.status, 403);
        last = page.text();
    }
    assert!(last.contains("Çok fazla hatalı deneme"), "{last}");
    let page = owner.submit(&form, &[("confirm-password", PASSWORD)]).await;
    assert_eq!(page.status, 403);
    // Others are not locked out by that.
    let mut other = service.anonymous_user();
    assert_eq!(other.sign_in("first@example.com", PASSWORD).await.path, "/");
}

async fn operator_manages_users(service: TestService) {
    let invite = |email: &str, role: &str| {
        let account = ["user", "invite", "--account", "first@example.com"];
        service.command(&[&account[..], &["--email", email, "--role", role]].concat())
    };
    let refused = invite("ayse@example.com", "boss");
    assert!(
        !refused.success && refused.err.contains("read-only"),
        "{refused:?}"
    );
    let refused = invite("second@example.com", "shift");
    assert!(
        !refused.success && refused.err.contains("belongs to a user"),
        "{refused:?}"
    );
    let made = invite("ayse@example.com", "shift");
    assert!(made.success && made.out.contains("/invitation/"), "{made:?}");
    let listed = service.command(&["user", "list", "--account", "first@example.com"]);
    let lines: Vec<Vec<&str>> = listed
        .out
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines.len(), 3, "{listed:?}");
    assert_eq!(
        lines[2][1..5],
        ["ayse@example.com", "shift", "invited", "off"],
        "{listed:?}"
    );
    let json = service.command(&["user", "list", "--account", "first@example.com", "--json"]);
    let first: serde_json::Value = serde_json::from_str(json.out.lines().next().unwrap()).unwrap();
    assert_eq!(first["role"], json!("owner"));
    let mut owner = service.user().await;
    let reset = service.command(&["user", "reset-password", "--email", "FIRST@example.com"]);
    assert!(reset.success, "{reset:?}");
    let line = reset
        .out
        .lines()
        .find(|line| line.starts_with("Password"))
        .unwrap();
    let password = line.split_whitespace().nth(1).unwrap();
    assert_eq!(owner.open("/").await.path, "/sign-in");
    assert_eq!(owner.sign_in("first@example.com", password).await.path, "/");
    let done = service.command(&["user", "disable-two-factor", "--email", "first@example.com"]);
    assert!(done.success, "{done:?}");
    let unknown = service.command(&["user", "disable-two-factor", "--email", "nobody@example.com"]);
    assert!(
        !unknown.success && unknown.err.contains("There is no user"),
        "{unknown:?}"
    );
}
