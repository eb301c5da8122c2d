//! Sign in and sign out: access, lockout, and what attackers can learn.

use crate::support::{Backend, PASSWORD, PanelUser, Scrape, TestService};
use std::time::{Duration, Instant};

cases! {
    user_signs_in_and_out
    too_many_wrong_passwords_lock_the_address
    concurrent_guesses_are_all_counted
    idle_session_ends
    orders_do_not_wait_for_passwords
    ; sqlite_only:
    sign_in_does_not_reveal_whether_an_account_exists
    cookies_are_http_only_and_same_site
    anonymous_pages_reveal_no_configuration
}

const EMAIL: &str = "first@example.com";

async fn user_signs_in_and_out(service: TestService) {
    service.give_password(EMAIL).await;
    let mut user = service.anonymous_user();
    let page = user.open("/").await;
    assert_eq!(page.path, "/sign-in");
    assert!(page.has("Giriş yap") && page.form("/sign-in").value("password").is_empty());
    // The address is the same however it is written.
    let page = user.sign_in(" First@Example.com ", PASSWORD).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/"));
    assert!(page.has("First"), "{}", page.html);
    let held = user.cookies["garson_session"].clone();
    let page = user.submit(&page.form("/sign-out"), &[]).await;
    assert_eq!(page.path, "/sign-in");
    assert!(!user.cookies.contains_key("garson_session"));
    // What the browser held is worth nothing any more.
    user.cookies.insert("garson_session".to_owned(), held);
    assert_eq!(user.open("/").await.path, "/sign-in");
    assert_eq!(service.count("sessions"), 0);
}

async fn anonymous_pages_reveal_no_configuration(service: TestService) {
    service.give_password(EMAIL).await;
    let mut user = service.anonymous_user();
    let mut pages = Vec::new();
    for is_english in [false, true] {
        if is_english {
            user.in_english();
        }
        pages.push(user.open("/sign-in").await);
        pages.push(user.open("/orders").await);
        for _ in 0..6 {
            pages.push(user.sign_in(EMAIL, "wrong password").await);
        }
    }
    assert!(pages.iter().any(|page| page.status == 429));
    for page in pages {
        let text = page.text();
        for hint in ["GARSON", "garson account", ".toml", "allow_"] {
            assert!(!text.contains(hint), "{hint}: {text}");
        }
    }
}

async fn sign_in_does_not_reveal_whether_an_account_exists(service: TestService) {
    service.give_password(EMAIL).await;
    let mut user = service.anonymous_user();
    let mut texts = Vec::new();
    // A known address, an unknown one, and one that has no password.
    for email in [EMAIL, "nobody@example.com", "second@example.com"] {
        for _ in 0..7 {
            let page = user.sign_in(email, "wrong password").await;
            assert!(matches!(page.status, 401 | 429));
            assert!(!user.cookies.contains_key("garson_session"));
            texts.push((page.status, page.text()));
        }
    }
    assert_eq!(texts[..7], texts[7..14]);
    assert_eq!(texts[..7], texts[14..]);
    assert!(texts[0].1.contains("E-posta ya da parola yanlış."));
    // A password that is not there is not an empty one.
    service.advance(Duration::from_secs(3600));
    assert_eq!(user.sign_in("second@example.com", "").await.status, 401);
}

async fn too_many_wrong_passwords_lock_the_address(service: TestService) {
    service.give_password(EMAIL).await;
    let mut user = service.user_of("second@example.com").await;
    for _ in 0..5 {
        assert_eq!(user.sign_in(EMAIL, "wrong").await.status, 401);
    }
    // Now not even the right one helps, and others are not concerned.
    let page = user.sign_in(EMAIL, PASSWORD).await;
    assert_eq!(page.status, 429);
    assert!(page.has("Çok fazla hatalı deneme"), "{}", page.html);
    assert_eq!(user.sign_in("second@example.com", PASSWORD).await.status, 200);
    service.advance(Duration::from_secs(59));
    assert_eq!(user.sign_in(EMAIL, PASSWORD).await.status, 429);
    service.advance(Duration::from_secs(2));
    // One more, and it lasts twice as long.
    assert_eq!(user.sign_in(EMAIL, "wrong").await.status, 401);
    service.advance(Duration::from_secs(119));
    assert_eq!(user.sign_in(EMAIL, PASSWORD).await.status, 429);
    service.advance(Duration::from_secs(2));
    assert_eq!(user.sign_in(EMAIL, PASSWORD).await.status, 200);
    // All is forgiven.
    assert_eq!(service.count("sign_in_failures"), 0);
    for _ in 0..4 {
        assert_eq!(user.sign_in(EMAIL, "wrong").await.status, 401);
    }
    assert_eq!(user.sign_in(EMAIL, PASSWORD).await.status, 200);
    // What is old is swept away.
    user.sign_in(EMAIL, "wrong").await;
    service.advance(Duration::from_secs(25 * 60 * 60));
    service.sweep().await;
    assert_eq!(service.count("sign_in_failures"), 0);
}

async fn concurrent_guesses_are_all_counted(service: TestService) {
    service.give_password(EMAIL).await;
    let mut guessing = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let mut user = service.anonymous_user();
        guessing.spawn(async move { user.sign_in(EMAIL, "wrong").await.status });
    }
    let mut answers = guessing.join_all().await;
    answers.sort_unstable();
    assert_eq!(answers, [[401; 5].as_slice(), &[429; 7]].concat());
}

async fn idle_session_ends(service: TestService) {
    let mut user = service.user().await;
    // Used now and then, it goes on.
    for _ in 0..4 {
        service.advance(Duration::from_secs(20 * 24 * 60 * 60));
        assert_eq!(user.open("/").await.path, "/");
    }
    service.advance(Duration::from_secs(31 * 24 * 60 * 60));
    assert_eq!(user.open("/").await.path, "/sign-in");
    service.sweep().await;
    assert_eq!(service.count("sessions"), 0);
}

async fn cookies_are_http_only_and_same_site(service: TestService) {
    service.give_password(EMAIL).await;
    let mut user = service.anonymous_user();
    let page = user.open("/sign-in").await;
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
        let reply = user
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
    let held = &user.cookies["garson_session"];
    assert!(held.len() >= 40);
    let dump = format!("sessions WHERE agent LIKE '%{held}%'");
    assert_eq!(service.count(&dump), 0);
}

mod guessing {
    on_both! {
        anonymous_guesses_do_not_lock_out_the_owner
        sign_in_flood_delays_no_other_request
        ; sqlite_only:
        known_browser_is_not_locked_out
        password_can_be_changed_during_guessing
        password_spraying_is_limited
    }

    use super::{
        anonymous_guesses_do_not_lock_out_the_owner, known_browser_is_not_locked_out,
        password_can_be_changed_during_guessing, password_spraying_is_limited,
        sign_in_flood_delays_no_other_request,
    };
}

/// A service behind a proxy on this machine, which sends client addresses.
async fn behind_a_proxy(backend: Backend) -> TestService {
    let trust = |settings: &mut garson::config::Settings| {
        settings.server.trusted_proxies = vec!["127.0.0.1".to_owned()];
    };
    let service = TestService::open_with(backend, trust, None).await;
    service.give_password(EMAIL).await;
    service
}

fn visitor_at(service: &TestService, client: &str) -> PanelUser {
    let mut user = service.anonymous_user();
    user.client = Some(client.to_owned());
    user
}

async fn guess_until_locked(user: &mut PanelUser) {
    for _ in 0..5 {
        assert_eq!(user.sign_in(EMAIL, "wrong").await.status, 401);
    }
    assert_eq!(user.sign_in(EMAIL, PASSWORD).await.status, 429);
}

async fn anonymous_guesses_do_not_lock_out_the_owner(backend: Backend) {
    let service = behind_a_proxy(backend).await;
    let mut stranger = visitor_at(&service, "203.0.113.1");
    guess_until_locked(&mut stranger).await;
    let mut owner = visitor_at(&service, "203.0.113.2");
    assert_eq!(owner.sign_in(EMAIL, PASSWORD).await.status, 200);
    // The owner's success lifts nothing for the stranger, and what it says of itself does not either.
    assert_eq!(stranger.sign_in(EMAIL, PASSWORD).await.status, 429);
    stranger.client = Some("198.51.100.9, 203.0.113.1".to_owned());
    assert_eq!(stranger.sign_in(EMAIL, PASSWORD).await.status, 429);
    // A new password of the operator's ends the lock.
    service.give_password(EMAIL).await;
    assert_eq!(stranger.sign_in(EMAIL, PASSWORD).await.status, 200);
}

async fn known_browser_is_not_locked_out(backend: Backend) {
    let service = behind_a_proxy(backend).await;
    let mut owner = visitor_at(&service, "203.0.113.1");
    let page = owner.sign_in(EMAIL, PASSWORD).await;
    owner.submit(&page.form("/sign-out"), &[]).await;
    let mut stranger = visitor_at(&service, "203.0.113.1");
    guess_until_locked(&mut stranger).await;
    assert_eq!(owner.sign_in(EMAIL, PASSWORD).await.status, 200);
    // Another account's browser, or a forged one, is a stranger's.
    for forged in ["x", "", &"A".repeat(100)] {
        stranger
            .cookies
            .insert("garson_browser".to_owned(), forged.to_owned());
        assert_eq!(stranger.sign_in(EMAIL, PASSWORD).await.status, 429);
    }
    let mut neighbour = service.user_of("second@example.com").await;
    neighbour.client = Some("203.0.113.1".to_owned());
    assert_eq!(neighbour.sign_in(EMAIL, PASSWORD).await.status, 429);
    // A known browser cannot guess without limit either.
    for _ in 0..5 {
        assert_eq!(owner.sign_in(EMAIL, "wrong").await.status, 401);
    }
    assert_eq!(owner.sign_in(EMAIL, PASSWORD).await.status, 429);
}

async fn password_can_be_changed_during_guessing(backend: Backend) {
    let service = behind_a_proxy(backend).await;
    let mut owner = visitor_at(&service, "203.0.113.1");
    owner.sign_in(EMAIL, PASSWORD).await;
    guess_until_locked(&mut visitor_at(&service, "203.0.113.1")).await;
    let page = owner.open("/sessions").await;
    let changed = [("old", PASSWORD), ("new", "another password")];
    let page = owner.submit(&page.form("/password"), &changed).await;
    assert_eq!(
        (page.status, page.path.as_str()),
        (200, "/sessions"),
        "{}",
        page.html
    );
    let mut elsewhere = visitor_at(&service, "203.0.113.2");
    assert_eq!(elsewhere.sign_in(EMAIL, "another password").await.status, 200);
}

async fn password_spraying_is_limited(backend: Backend) {
    let service = behind_a_proxy(backend).await;
    let mut stranger = visitor_at(&service, "203.0.113.1");
    let began = Instant::now();
    let mut tried = 0;
    for account in 0..100 {
        let page = stranger
            .sign_in(&format!("a{account}@example.com"), "Summer2026")
            .await;
        tried += u64::from(page.status == 401);
    }
    // Thirty at once, and one more every three seconds.
    assert!(tried <= 31 + began.elapsed().as_secs() / 3, "{tried}");
    let counted = Scrape::of(service.addr).await;
    assert!(counted.count("garson_refusals_total{kind=\"sign_in_flood\"}") > 0.0);
    let mut owner = visitor_at(&service, "203.0.113.2");
    assert_eq!(owner.sign_in(EMAIL, PASSWORD).await.status, 200);
}

async fn sign_in_flood_delays_no_other_request(backend: Backend) {
    let service = behind_a_proxy(backend).await;
    let mut owner = visitor_at(&service, "203.0.113.2");
    let form = owner.open("/sign-in").await.form("/sign-in");
    let mut flood = tokio::task::JoinSet::new();
    for n in 0..300 {
        let mut stranger = visitor_at(&service, "203.0.113.1");
        flood.spawn(async move {
            stranger
                .sign_in(&format!("a{n}@example.com"), "wrong")
                .await
                .status
        });
    }
    // Some are through, so that the others are on their way.
    for _ in 0..3 {
        flood.join_next().await.unwrap().unwrap();
    }
    let began = Instant::now();
    let filled = [("email", EMAIL), ("password", PASSWORD)];
    assert_eq!(owner.submit(&form, &filled).await.status, 200);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(8), "{took:?}");
    let answers = flood.join_all().await;
    assert!(answers.contains(&429) && answers.iter().all(|status| [401, 429].contains(status)));
}

/// Checking a password takes long on purpose. While many are checked, orders are taken.
async fn orders_do_not_wait_for_passwords(service: TestService) {
    service.give_password(EMAIL).await;
    let shop = service.shop(&service.a, "moda").await;
    let mut checks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let mut user = service.anonymous_user();
        checks.spawn(async move {
            for _ in 0..10 {
                let page = user.sign_in(EMAIL, PASSWORD).await;
                assert_eq!(page.path, "/", "{} {}", page.status, page.text());
            }
        });
    }
    let mut taken = 0;
    while !checks.is_empty() {
        let id = format!("K-{taken}");
        tokio::select! {
            ended = checks.join_next() => ended.unwrap().unwrap(),
            _ = shop.order(&id) => taken += 1,
        }
    }
    // Each check takes tens of milliseconds of a thread; an order that waited for them would be one of few.
    assert!(
        taken >= 10,
        "only {taken} orders were taken while passwords were checked"
    );
}
