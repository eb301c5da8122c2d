//! Sign-in with OpenID Connect: who is recognised, who is not, and a provider that misbehaves.

use crate::support::{
    Backend, CLIENT, CLIENT_SECRET, PASSWORD, Page, PanelUser, Person, ProviderMood, Reply, Signature,
    TestProvider, TestService,
};
use garson::config::Settings;
use garson_core::secret::Secret;
use serde_json::json;
use std::time::{Duration, Instant};

on_both! {
    invited_user_is_recognised_by_the_verified_address_and_then_by_the_id
    sensitive_change_is_confirmed_at_the_provider
    ; sqlite_only:
    stranger_is_not_let_in
    forged_token_is_refused
    callback_belongs_to_the_browser_that_began
    second_factor_is_asked_for_as_well
    new_key_of_the_provider_is_read
    address_can_be_on_the_persons_own_page
    provider_that_misbehaves_holds_up_nobody
    another_address_forgets_the_identity
    owner_and_operator_disconnect_a_user
    last_owner_cannot_be_disconnected
    another_provider_recognises_people_anew
    user_without_a_password_sets_one
    sign_in_page_says_nothing_without_a_provider
}

const EMAIL: &str = "first@example.com";

async fn with_provider(backend: Backend, provider: &TestProvider) -> TestService {
    let change = |settings: &mut Settings| name_provider(settings, provider);
    TestService::open_with(backend, change, None).await
}

pub fn name_provider(settings: &mut Settings, provider: &TestProvider) {
    settings.public_url = "https://panel.example.com".to_owned();
    settings.openid.issuer = provider.issuer();
    settings.openid.client_id = CLIENT.to_owned();
    settings.openid.client_secret = Secret::new(CLIENT_SECRET.to_owned());
    settings.openid.label = "Lokanta Grubu".to_owned();
}

async fn go(user: &mut PanelUser) -> Reply {
    user.send("GET", "/sign-in/openid?next=%2Forders", &[], "").await
}

/// Signs in at the provider, and comes back.
async fn sign_in(user: &mut PanelUser, provider: &TestProvider, person: &Person) -> Page {
    let sent_there = go(user).await;
    let back = provider.sign_in(&sent_there, person);
    user.open(&back).await
}

async fn assert_refused(
    service: &TestService,
    provider: &TestProvider,
    person: &Person,
    status: u16,
    text: &str,
) {
    let mut user = service.anonymous_user();
    let page = sign_in(&mut user, provider, person).await;
    assert!(
        page.status == status && page.has(text),
        "{}: {}",
        page.status,
        page.text()
    );
    assert_eq!(user.open("/").await.path, "/sign-in");
}

async fn invite(service: &TestService, email: &str, role: &str) -> String {
    let invited = service
        .a
        .post("/users", &json!({ "email": email, "role": role }))
        .await
        .data();
    invited["id"].as_str().unwrap().to_owned()
}

async fn set_disabled(service: &TestService, id: &str, is_disabled: bool) {
    let change = json!({ "isDisabled": is_disabled }).to_string();
    let changed = service.a.json("PATCH", &format!("/users/{id}"), &change).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
}

async fn user_row(service: &TestService, email: &str) -> serde_json::Value {
    let users = service.a.get("/users").await.data();
    let found = users.as_array().unwrap().iter().find(|it| it["email"] == email);
    found.unwrap().clone()
}

async fn invited_user_is_recognised_by_the_verified_address_and_then_by_the_id(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    let invited = json!({ "email": "ayse@example.com", "role": "manager" });
    let invited = service.a.post("/users", &invited).await.data();
    let link = invited["invitationLink"].as_str().unwrap();
    let invitation = link[link.find("/invitation/").unwrap()..].to_owned();
    assert_eq!(service.anonymous_user().open(&invitation).await.status, 200);
    let mut user = service.anonymous_user();
    let page = user.open("/sign-in?next=/orders").await;
    assert!(page.has("Lokanta Grubu ile giriş yap"), "{}", page.text());
    assert!(
        page.links().contains(&"/sign-in/openid?next=/orders".to_owned()),
        "{:?}",
        page.links()
    );
    let ayse = Person::new("id-1", "Ayse@Example.com");
    let page = sign_in(&mut user, &provider, &ayse).await;
    assert_eq!(
        (page.status, page.path.as_str()),
        (200, "/orders"),
        "{}",
        page.text()
    );
    assert_eq!(user_row(&service, "ayse@example.com").await["hasAccepted"], true);
    // The invitation is over: nobody sets a password by its link.
    assert_eq!(service.anonymous_user().open(&invitation).await.status, 404);
    // The provider knows the person, whatever the address is there meanwhile.
    let mut other = service.anonymous_user();
    let renamed = Person::new("id-1", "ayse.yilmaz@example.com").with("email_verified", false);
    assert_eq!(sign_in(&mut other, &provider, &renamed).await.path, "/orders");
    // The address now belongs to somebody else there.
    let successor = Person::new("id-2", "ayse@example.com");
    assert_refused(&service, &provider, &successor, 403, "başka bir kimliğe bağlı").await;
    let log = service.a.get("/audit?limit=50").await.text();
    assert!(log.contains("id-1") && log.contains(&provider.issuer()), "{log}");
    assert!(!log.contains("id-2"));
    assert!(log.contains(r#""method":"openid""#), "{log}");
}

async fn stranger_is_not_let_in(backend: Backend) {
    let provider = TestProvider::start().await;
    let mut service = with_provider(backend, &provider).await;
    let stranger = Person::new("id-1", "nobody@example.com");
    assert_refused(&service, &provider, &stranger, 403, "etkin bir kullanıcı yok").await;
    let (not_verified, silent) = (
        Person::new("id-1", EMAIL).with("email_verified", false),
        Person::new("id-1", EMAIL).with("email_verified", json!(null)),
    );
    for person in [&not_verified, &silent] {
        assert_refused(&service, &provider, person, 403, "doğrulandığını bildirmiyor").await;
    }
    // The Kelvin sign is a k in lower case.
    invite(&service, "kerem@example.com", "shift").await;
    let similar = Person::new("id-4", "\u{212a}erem@example.com");
    assert_refused(&service, &provider, &similar, 403, "doğrulandığını bildirmiyor").await;
    let id = invite(&service, "ayse@example.com", "shift").await;
    set_disabled(&service, &id, true).await;
    let ayse = Person::new("id-3", "ayse@example.com");
    assert_refused(&service, &provider, &ayse, 403, "etkin bir kullanıcı yok").await;
    // A user who is disabled afterwards is not let in either.
    set_disabled(&service, &id, false).await;
    let mut user = service.anonymous_user();
    assert_eq!(sign_in(&mut user, &provider, &ayse).await.status, 200);
    set_disabled(&service, &id, true).await;
    assert_eq!(user.open("/").await.path, "/sign-in");
    assert_refused(&service, &provider, &ayse, 403, "etkin bir kullanıcı yok").await;
    // Where the operator trusts the addresses, an address without a word about it is enough, and one that is not verified is not.
    service
        .restart_with(|settings| settings.openid.trust_email = true)
        .await;
    assert_refused(
        &service,
        &provider,
        &not_verified,
        403,
        "doğrulandığını bildirmiyor",
    )
    .await;
    let mut user = service.anonymous_user();
    assert_eq!(sign_in(&mut user, &provider, &silent).await.path, "/orders");
}

async fn forged_token_is_refused(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    let person = || Person::new("id-1", EMAIL);
    let forged = [
        person().with("nonce", "of another attempt"),
        person().with("aud", "another-client"),
        person().with("iss", "https://login.example.org"),
        person().with("exp", 1_700_000_100),
        person().signed(Signature::OtherKey),
        person().signed(Signature::None),
        Person::new("id-9", "stranger@example.com").signed(Signature::OfOtherClaims),
        person().with("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"),
    ];
    for person in forged {
        assert_refused(&service, &provider, &person, 401, "girişi onaylamadı").await;
    }
    let mut user = service.anonymous_user();
    assert_eq!(sign_in(&mut user, &provider, &person()).await.path, "/orders");
}

async fn callback_belongs_to_the_browser_that_began(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    let person = Person::new("id-1", EMAIL);
    let mut user = service.anonymous_user();
    let back = provider.sign_in(&go(&mut user).await, &person);
    let begun = user.cookies.clone();
    // Somebody else opens the address: a link that signs people in as another one does not work.
    let mut victim = service.anonymous_user();
    let page = victim.open(&back).await;
    assert!(page.status == 400 && page.has("yarıda kaldı"), "{}", page.text());
    go(&mut victim).await;
    assert_eq!(victim.open(&back).await.status, 400);
    // Another state, no state, no code, and an error of the provider.
    for (path, status) in [
        ("/sign-in/openid/callback?code=code1&state=wrong", 400),
        ("/sign-in/openid/callback?code=code1", 400),
        ("/sign-in/openid/callback", 400),
    ] {
        user.cookies.clone_from(&begun);
        assert_eq!(user.open(path).await.status, status, "{path}");
    }
    user.cookies.clone_from(&begun);
    let cancelled = back.replace("code=code1", "error=access_denied");
    // As often as somebody likes: the provider is not asked, so it keeps nobody from signing in.
    for _ in 0..40 {
        user.cookies.clone_from(&begun);
        let page = user.open(&cancelled).await;
        assert!(page.status == 401 && page.has("onaylamadı"), "{}", page.text());
    }
    // The true one works once, also after the answer to another attempt.
    user.cookies.clone_from(&begun);
    let other = "/sign-in/openid/callback?code=code1&state=of-another-tab";
    assert_eq!(user.open(other).await.status, 400);
    assert_eq!(user.open(&back).await.path, "/orders");
    let mut again = service.anonymous_user();
    again.cookies.clone_from(&begun);
    assert_eq!(again.open(&back).await.status, 401);
    // After ten minutes it would not have worked, and a page elsewhere is not returned to.
    let mut late = service.anonymous_user();
    let back = provider.sign_in(&go(&mut late).await, &person);
    service.advance(Duration::from_secs(601));
    assert_eq!(late.open(&back).await.status, 400);
    let mut user = service.anonymous_user();
    let away = user
        .send("GET", "/sign-in/openid?next=https://evil.example", &[], "")
        .await;
    let back = provider.sign_in(&away, &person);
    assert_eq!(user.open(&back).await.path, "/");
}

async fn second_factor_is_asked_for_as_well(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    let mut owner = service.user().await;
    super::two_factor::turn_on(&service, &mut owner).await;
    let mut user = service.anonymous_user();
    let page = sign_in(&mut user, &provider, &Person::new("id-1", EMAIL)).await;
    assert_eq!(page.path, "/sign-in/code?next=%2Forders", "{}", page.text());
    assert_eq!(user.open("/").await.path, "/sign-in");
    // Without the code, the identity is not connected to the user: the one who has it is not kept out.
    let log = service.a.get("/audit?limit=50").await.text();
    assert!(!log.contains("id-1"), "{log}");
    let page = sign_in(&mut user, &provider, &Person::new("id-2", EMAIL)).await;
    assert_eq!(page.path, "/sign-in/code?next=%2Forders", "{}", page.text());
}

async fn sensitive_change_is_confirmed_at_the_provider(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    invite(&service, "ayse@example.com", "owner").await;
    let mut user = service.anonymous_user();
    let ayse = |asked_at: i64| Person::new("id-1", "ayse@example.com").with("auth_time", asked_at / 1000);
    let now = || service.app.now().as_millis();
    assert_eq!(sign_in(&mut user, &provider, &ayse(now())).await.path, "/orders");
    service.advance(Duration::from_secs(700));
    let page = user.open("/users/new").await;
    let filled = [("email", "can@example.com"), ("name", "Can")];
    let asked = user.submit(&page.form("/users/new"), &filled).await;
    assert_eq!(asked.status, 403);
    assert!(
        asked.has("Lokanta Grubu ile doğrula") && !asked.has("Parola"),
        "{}",
        asked.text()
    );
    let continued = asked.form("/users/new");
    // Signing in again is no proof if the provider does not ask, or does not say when it did.
    for person in [Person::new("id-1", "ayse@example.com"), ayse(now() - 3_600_000)] {
        let mut other = service.anonymous_user();
        assert_eq!(sign_in(&mut other, &provider, &person).await.path, "/orders");
        let page = other.open("/users/new").await;
        assert_eq!(other.submit(&page.form("/users/new"), &filled).await.status, 403);
    }
    // Nobody is recognised who is another user, was not asked again, or was asked long ago.
    invite(&service, "other@example.com", "owner").await;
    let refused = [
        Person::new("id-1", "ayse@example.com"),
        ayse(now() - 600_000),
        ayse(now() + 600_000),
        Person::new("id-2", "other@example.com").with("auth_time", now() / 1000),
    ];
    for person in refused {
        let there = user.send("GET", "/sign-in/openid?confirm=yes", &[], "").await;
        let location = there.header("location").unwrap();
        assert!(
            location.contains("prompt=login") && location.contains("max_age=0"),
            "{location}"
        );
        let page = user.open(&provider.sign_in(&there, &person)).await;
        assert!(page.status == 403 && page.has("Doğrulanamadı"), "{}", page.text());
        assert_eq!(user.submit(&continued, &[]).await.status, 403);
    }
    let there = user.send("GET", "/sign-in/openid?confirm=yes", &[], "").await;
    let page = user.open(&provider.sign_in(&there, &ayse(now()))).await;
    assert!(page.status == 200 && page.has("Doğrulandı"), "{}", page.text());
    let done = user.submit(&continued, &[]).await;
    assert!(
        done.status == 200 && done.has("can@example.com"),
        "{}",
        done.text()
    );
}

async fn new_key_of_the_provider_is_read(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    let person = Person::new("id-1", EMAIL);
    assert_eq!(
        sign_in(&mut service.anonymous_user(), &provider, &person)
            .await
            .path,
        "/orders"
    );
    provider.change_key("second");
    assert_eq!(
        sign_in(&mut service.anonymous_user(), &provider, &person)
            .await
            .path,
        "/orders"
    );
    // Not at every token with an unknown key: whoever sends such tokens does not make the service ask again and again.
    provider.change_key("third");
    let before = provider.connections();
    for _ in 0..3 {
        assert_refused(&service, &provider, &person, 401, "onaylamadı").await;
    }
    assert_eq!(provider.connections() - before, 3, "one for each code");
}

async fn address_can_be_on_the_persons_own_page(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    let mut person = Person::new("id-1", EMAIL);
    person.info = Some(person.claims.clone());
    person.claims = json!({ "sub": "id-1" });
    // The page of somebody else is not believed.
    person.info.as_mut().unwrap()["sub"] = json!("id-2");
    let mut user = service.anonymous_user();
    assert_eq!(sign_in(&mut user, &provider, &person).await.status, 403);
    person.info.as_mut().unwrap()["sub"] = json!("id-1");
    assert_eq!(sign_in(&mut user, &provider, &person).await.path, "/orders");
}

async fn provider_that_misbehaves_holds_up_nobody(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    service.give_password(EMAIL).await;
    provider.set(ProviderMood::Hangs);
    let began = Instant::now();
    // Many at once wait for one request, not one after the other.
    let waiting: Vec<_> = (0..30)
        .map(|_| {
            let mut user = service.anonymous_user();
            tokio::spawn(async move { go(&mut user).await.status })
        })
        .collect();
    // Meanwhile people sign in with passwords.
    let mut user = service.anonymous_user();
    assert_eq!(user.sign_in(EMAIL, PASSWORD).await.path, "/");
    for answer in waiting {
        assert_eq!(answer.await.unwrap(), 502);
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(provider.connections() <= 3, "{}", provider.connections());
    for mood in [ProviderMood::Nonsense, ProviderMood::Endless] {
        provider.set(mood);
        let mut service = with_provider(backend, &provider).await;
        let page = service.anonymous_user().open("/sign-in/openid").await;
        assert!(
            page.status == 502 && page.has("Giriş hizmetine ulaşılamıyor"),
            "{}",
            page.text()
        );
        service.stop().await;
    }
    // It worked at first, and hangs when the person comes back.
    provider.set(ProviderMood::HangsAtTheCode);
    let service = with_provider(backend, &provider).await;
    let mut user = service.anonymous_user();
    let page = sign_in(&mut user, &provider, &Person::new("id-1", EMAIL)).await;
    assert_eq!(page.status, 502, "{}", page.text());
    provider.set(ProviderMood::Works);
    assert_eq!(
        sign_in(&mut user, &provider, &Person::new("id-1", EMAIL))
            .await
            .path,
        "/orders"
    );
}

async fn another_address_forgets_the_identity(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    let mut owner = service.user().await;
    let person = Person::new("id-1", EMAIL);
    assert_eq!(
        sign_in(&mut service.anonymous_user(), &provider, &person)
            .await
            .path,
        "/orders"
    );
    let page = owner.open("/account").await;
    let filled = [("email", "owner@example.com"), ("name", "Ali")];
    let page = owner.submit(&page.form("/account"), &filled).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert_refused(&service, &provider, &person, 403, "etkin bir kullanıcı yok").await;
    let person = Person::new("id-1", "owner@example.com");
    assert_eq!(
        sign_in(&mut service.anonymous_user(), &provider, &person)
            .await
            .path,
        "/orders"
    );
}

async fn owner_and_operator_disconnect_a_user(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    let id = invite(&service, "ayse@example.com", "shift").await;
    let (first, second) = (
        Person::new("id-1", "ayse@example.com"),
        Person::new("id-2", "ayse@example.com"),
    );
    let mut user = service.anonymous_user();
    assert_eq!(sign_in(&mut user, &provider, &first).await.status, 200);
    assert_refused(&service, &provider, &second, 403, "başka bir kimliğe bağlı").await;
    let mut owner = service.user().await;
    let page = owner.open(&format!("/users/{id}")).await;
    let page = owner
        .submit(&page.form(&format!("/users/{id}/forget-openid")), &[])
        .await;
    assert!(page.has("Bağlantı kaldırıldı."), "{}", page.text());
    assert_eq!(user.open("/").await.path, "/sign-in", "the sessions end");
    assert_eq!(sign_in(&mut user, &provider, &second).await.status, 200);
    let done = service.command(&["user", "forget-openid", "--email", "ayse@example.com"]);
    assert!(done.success, "{done:?}");
    assert_eq!(sign_in(&mut user, &provider, &first).await.status, 200);
}

async fn last_owner_cannot_be_disconnected(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    let id = invite(&service, "ayse@example.com", "owner").await;
    let now = service.app.now().as_millis() / 1000;
    let ayse = Person::new("id-1", "ayse@example.com").with("auth_time", now);
    let mut user = service.anonymous_user();
    assert_eq!(sign_in(&mut user, &provider, &ayse).await.status, 200);
    let first = user_row(&service, EMAIL).await["id"].as_str().unwrap().to_owned();
    service.a.delete(&format!("/users/{first}")).await.success();
    let page = user.open(&format!("/users/{id}")).await;
    let form = page.form(&format!("/users/{id}/forget-openid"));
    let refused = user.submit(&form, &[]).await;
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert_eq!(user.open("/users").await.status, 200);
}

async fn another_provider_recognises_people_anew(backend: Backend) {
    let (provider, other) = (TestProvider::start().await, TestProvider::start().await);
    let mut service = with_provider(backend, &provider).await;
    let person = Person::new("id-1", EMAIL);
    let mut user = service.anonymous_user();
    assert_eq!(sign_in(&mut user, &provider, &person).await.path, "/orders");
    let issuer = other.issuer();
    service
        .restart_with(move |settings| settings.openid.issuer = issuer)
        .await;
    let mut user = service.anonymous_user();
    let person = Person::new("id-7", EMAIL);
    assert_eq!(sign_in(&mut user, &other, &person).await.path, "/orders");
    assert_refused(
        &service,
        &other,
        &Person::new("id-8", EMAIL),
        403,
        "başka bir kimliğe bağlı",
    )
    .await;
}

async fn user_without_a_password_sets_one(backend: Backend) {
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider).await;
    invite(&service, "ayse@example.com", "shift").await;
    let mut user = service.anonymous_user();
    let ayse = Person::new("id-1", "ayse@example.com");
    sign_in(&mut user, &provider, &ayse).await;
    service.advance(Duration::from_secs(700));
    let page = user.open("/sessions").await;
    let form = page.form("/password");
    let new = [("new", "quiet zebra 41")];
    let asked = user.submit(&form, &new).await;
    assert!(
        asked.status == 403 && asked.has("Lokanta Grubu ile doğrula"),
        "{}",
        asked.text()
    );
    let there = user.send("GET", "/sign-in/openid?confirm=yes", &[], "").await;
    let ayse = ayse.with("auth_time", service.app.now().as_millis() / 1000);
    assert_eq!(user.open(&provider.sign_in(&there, &ayse)).await.status, 200);
    let page = user.submit(&asked.form("/password"), &[]).await;
    assert_eq!(
        (page.status, page.path.as_str()),
        (200, "/sessions"),
        "{}",
        page.text()
    );
    let mut by_password = service.anonymous_user();
    let page = by_password.sign_in("ayse@example.com", "quiet zebra 41").await;
    assert_eq!(page.path, "/", "{}", page.text());
    // From now on the old one is needed.
    let form = user.open("/sessions").await.form("/password");
    assert_eq!(user.submit(&form, &[("new", "other zebra 42")]).await.status, 422);
}

async fn sign_in_page_says_nothing_without_a_provider(backend: Backend) {
    let service = TestService::open(backend).await;
    let mut user = service.anonymous_user();
    let page = user.open("/sign-in").await;
    assert!(page.links().iter().all(|link| !link.contains("openid")));
    for path in ["/sign-in/openid", "/sign-in/openid/callback?code=a&state=b"] {
        assert_ne!(user.open(path).await.status, 500);
    }
}
