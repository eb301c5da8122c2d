//! Signing in and out: who may, who may not, and what can be learnt from trying.

use crate::support::{House, PASSWORD};
use std::time::Duration;

cases! {
    somebody_signs_in_and_out
    nothing_tells_whether_an_account_exists
    too_many_wrong_passwords_lock_the_address
    guesses_made_at_once_are_all_counted
    a_session_ends_when_it_is_not_used
    cookies_are_kept_from_scripts_and_other_sites
}

const EMAIL: &str = "first@example.com";

async fn somebody_signs_in_and_out(house: House) {
    house.give_password(EMAIL).await;
    let mut visitor = house.stranger();
    let page = visitor.open("/").await;
    assert_eq!(page.path, "/sign-in");
    assert!(page.has("Giriş yap") && page.form("/sign-in").value("password").is_empty());
    // The address is the same however it is written.
    let page = visitor.sign_in(" First@Example.com ", PASSWORD).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/"));
    assert!(page.has("First"), "{}", page.html);
    let held = visitor.cookies["garson_session"].clone();
    let page = visitor.submit(&page.form("/sign-out"), &[]).await;
    assert_eq!(page.path, "/sign-in");
    assert!(!visitor.cookies.contains_key("garson_session"));
    // What the browser held is worth nothing any more.
    visitor.cookies.insert("garson_session".to_owned(), held);
    assert_eq!(visitor.open("/").await.path, "/sign-in");
    assert_eq!(house.count("sessions"), 0);
}

async fn nothing_tells_whether_an_account_exists(house: House) {
    house.give_password(EMAIL).await;
    let mut visitor = house.stranger();
    let mut texts = Vec::new();
    // A known address, an unknown one, and one that has no password.
    for email in [EMAIL, "nobody@example.com", "second@example.com"] {
        for _ in 0..7 {
            let page = visitor.sign_in(email, "wrong password").await;
            assert!(matches!(page.status, 401 | 429));
            assert!(!visitor.cookies.contains_key("garson_session"));
            texts.push((page.status, page.text()));
        }
    }
    assert_eq!(texts[..7], texts[7..14]);
    assert_eq!(texts[..7], texts[14..]);
    assert!(texts[0].1.contains("E-posta ya da parola yanlış."));
    // A password that is not there is not an empty one.
    house.advance(Duration::from_secs(3600));
    assert_eq!(visitor.sign_in("second@example.com", "").await.status, 401);
}

async fn too_many_wrong_passwords_lock_the_address(house: House) {
    house.give_password(EMAIL).await;
    let mut visitor = house.visitor_of("second@example.com").await;
    for _ in 0..5 {
        assert_eq!(visitor.sign_in(EMAIL, "wrong").await.status, 401);
    }
    // Now not even the right one helps, and others are not concerned.
    let page = visitor.sign_in(EMAIL, PASSWORD).await;
    assert_eq!(page.status, 429);
    assert!(page.has("Çok fazla hatalı deneme"), "{}", page.html);
    assert_eq!(visitor.sign_in("second@example.com", PASSWORD).await.status, 200);
    house.advance(Duration::from_secs(59));
    assert_eq!(visitor.sign_in(EMAIL, PASSWORD).await.status, 429);
    house.advance(Duration::from_secs(2));
    // One more, and it lasts twice as long.
    assert_eq!(visitor.sign_in(EMAIL, "wrong").await.status, 401);
    house.advance(Duration::from_secs(119));
    assert_eq!(visitor.sign_in(EMAIL, PASSWORD).await.status, 429);
    house.advance(Duration::from_secs(2));
    assert_eq!(visitor.sign_in(EMAIL, PASSWORD).await.status, 200);
    // All is forgiven.
    assert_eq!(house.count("sign_in_failures"), 0);
    for _ in 0..4 {
        assert_eq!(visitor.sign_in(EMAIL, "wrong").await.status, 401);
    }
    assert_eq!(visitor.sign_in(EMAIL, PASSWORD).await.status, 200);
    // What is old is swept away.
    visitor.sign_in(EMAIL, "wrong").await;
    house.advance(Duration::from_secs(25 * 60 * 60));
    house.sweep().await;
    assert_eq!(house.count("sign_in_failures"), 0);
}

async fn guesses_made_at_once_are_all_counted(house: House) {
    house.give_password(EMAIL).await;
    let mut guessing = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let mut visitor = house.stranger();
        guessing.spawn(async move { visitor.sign_in(EMAIL, "wrong").await.status });
    }
    let mut answers = guessing.join_all().await;
    answers.sort_unstable();
    assert_eq!(answers, [[401; 5].as_slice(), &[429; 7]].concat());
}

async fn a_session_ends_when_it_is_not_used(house: House) {
    let mut visitor = house.visitor().await;
    // Used now and then, it goes on.
    for _ in 0..4 {
        house.advance(Duration::from_secs(20 * 24 * 60 * 60));
        assert_eq!(visitor.open("/").await.path, "/");
    }
    house.advance(Duration::from_secs(31 * 24 * 60 * 60));
    assert_eq!(visitor.open("/").await.path, "/sign-in");
    house.sweep().await;
    assert_eq!(house.count("sessions"), 0);
}

async fn cookies_are_kept_from_scripts_and_other_sites(house: House) {
    house.give_password(EMAIL).await;
    let mut visitor = house.stranger();
    let page = visitor.open("/sign-in").await;
    let body = page
        .form("/sign-in")
        .body(&[("email", EMAIL), ("password", PASSWORD)]);
    // Proxies behind one another each add what they were asked over.
    for (proto, is_secure) in [
        ("http", false),
        ("http, https", false),
        ("xhttps", false),
        ("https", true),
        ("HTTPS", true),
        ("https, http", true),
        (" https,http", true),
    ] {
        let reply = visitor
            .send("POST", "/sign-in", &[("x-forwarded-proto", proto)], &body)
            .await;
        assert_eq!(reply.status, 303);
        let cookie = reply.header("set-cookie").unwrap();
        assert!(
            cookie.starts_with("garson_session=") && cookie.contains("Path=/;"),
            "{cookie}"
        );
        assert!(
            cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Lax"),
            "{cookie}"
        );
        assert_eq!(cookie.contains("; Secure"), is_secure, "{proto}: {cookie}");
        let is_told = reply.header("strict-transport-security").is_some();
        assert_eq!(is_told, is_secure, "{proto}");
    }
    // What is stored cannot be used to sign in.
    let held = &visitor.cookies["garson_session"];
    assert!(held.len() >= 40);
    let dump = format!("sessions WHERE agent LIKE '%{held}%'");
    assert_eq!(house.count(&dump), 0);
}
