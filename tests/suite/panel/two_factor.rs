//! The second factor: an authenticator app and recovery codes.

use crate::support::{PASSWORD, Page, PanelUser, TestService};
use garson::flow::admin::totp;
use std::time::Duration;

cases! {
    second_factor_is_set_up_and_asked_for
    thousand_wrong_codes_are_throttled
    owner_requires_two_factors
    ; sqlite_only:
    recovery_code_works_once
    second_step_does_not_last
    owner_removes_a_lost_second_factor
    second_factor_is_turned_off
}

const EMAIL: &str = "first@example.com";
const STEP: Duration = Duration::from_secs(30);

/// An authenticator app.
struct Phone(Vec<u8>);

impl Phone {
    /// Reads the secret from the page.
    fn reading(page: &Page) -> Self {
        let at = page.html.find("secret=").unwrap() + "secret=".len();
        let letters = page.html[at..].chars().take_while(char::is_ascii_alphanumeric);
        let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
        for letter in letters {
            let value = match letter {
                'A'..='Z' => letter as u32 - 'A' as u32,
                _ => letter as u32 - '2' as u32 + 26,
            };
            bits = bits << 5 | value;
            count += 5;
            if count >= 8 {
                count -= 8;
                bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
            }
        }
        Self(bytes)
    }

    fn code(&self, service: &TestService) -> String {
        totp::code_now(&self.0, service.app.now())
    }
}

/// Turns the second factor on.
pub async fn turn_on(service: &TestService, user: &mut PanelUser) {
    set_up(service, user).await;
}

/// Turns the second factor on; returns the app and the recovery codes.
async fn set_up(service: &TestService, user: &mut PanelUser) -> (Phone, Vec<String>) {
    // Each visit shows another secret: one that somebody else has seen is worth nothing.
    let seen = Phone::reading(&user.open("/account/two-factor").await);
    let page = user.open("/account/two-factor").await;
    assert_ne!(seen.0, Phone::reading(&page).0);
    assert!(
        page.html
            .contains("<svg role=\"img\" aria-label=\"Doğrulama uygulaması için QR kodu\"")
    );
    let phone = Phone::reading(&page);
    let form = page.form("/account/two-factor");
    let wrong = user.submit(&form, &[("code", "000000")]).await;
    assert!(
        wrong.status == 422 && wrong.has("şu anda görünen kod değil"),
        "{}",
        wrong.text()
    );
    assert_eq!(phone.0, Phone::reading(&wrong).0);
    let page = user.submit(&form, &[("code", &phone.code(service))]).await;
    assert!(
        page.status == 200 && page.has("Kurtarma kodları"),
        "{}",
        page.text()
    );
    let text = page.text();
    let is_code = |word: &&str| word.len() == 19 && word.matches('-').count() == 3;
    let codes: Vec<String> = text
        .split_whitespace()
        .filter(is_code)
        .map(str::to_owned)
        .collect();
    assert_eq!(codes.len(), 10, "{text}");
    (phone, codes)
}

/// Gives the password; the page asks for a code.
async fn password(service: &TestService) -> (PanelUser, Page) {
    let mut user = service.anonymous_user();
    let page = user.sign_in(EMAIL, PASSWORD).await;
    assert!(page.path.starts_with("/sign-in/code"), "{}", page.path);
    assert!(!user.cookies.contains_key("garson_session"));
    (user, page)
}

async fn second_factor_is_set_up_and_asked_for(service: TestService) {
    let mut owner = service.user().await;
    let (phone, _) = set_up(&service, &mut owner).await;
    assert!(owner.open("/account").await.has("İki adımlı giriş açık."));
    // The code that has confirmed it does not work again.
    let (mut user, page) = password(&service).await;
    let form = page.form("/sign-in/code");
    let used = user.submit(&form, &[("code", &phone.code(&service))]).await;
    assert!(
        used.status == 401 && used.has("daha önce kullanılmış"),
        "{}",
        used.text()
    );
    service.advance(STEP);
    let code = phone.code(&service);
    let spaced = format!("{} {}", &code[..3], &code[3..]);
    let page = user.submit(&form, &[("code", &spaced)]).await;
    assert_eq!((page.status, page.path.as_str()), (200, "/"));
    // Nor does that one, in another browser.
    let (mut user, page) = password(&service).await;
    let again = user.submit(&page.form("/sign-in/code"), &[("code", &code)]).await;
    assert_eq!(again.status, 401);
    // Without the password, a code is worth nothing.
    let mut stranger = service.anonymous_user();
    let page = stranger.open("/sign-in/code").await;
    service.advance(STEP);
    let code = phone.code(&service);
    let page = stranger
        .submit(&page.form("/sign-in/code"), &[("code", &code)])
        .await;
    assert!(page.path.starts_with("/sign-in?"), "{}", page.path);
    assert!(!stranger.cookies.contains_key("garson_session"));
    // The secret is nowhere in the database as it is.
    assert_eq!(service.count("users WHERE totp IS NOT NULL"), 1);
}

async fn thousand_wrong_codes_are_throttled(service: TestService) {
    let mut owner = service.user().await;
    let (phone, _) = set_up(&service, &mut owner).await;
    let (mut attacker, page) = password(&service).await;
    let form = page.form("/sign-in/code");
    let (mut refused, mut locked) = (0, 0);
    for n in 0..1_000 {
        // From many addresses.
        attacker.client = Some(format!("203.0.113.{}", n % 250));
        let body = form.body(&[("code", &format!("{n:06}"))]);
        match attacker.send("POST", "/sign-in/code", &[], &body).await.status {
            401 => refused += 1,
            429 => locked += 1,
            other => panic!("{other}"),
        }
    }
    assert!(refused <= 6 && locked >= 994, "{refused} were judged");
    // Right codes of strangers are not judged either, until the time has passed.
    service.advance(STEP);
    let code = phone.code(&service);
    assert_eq!(attacker.submit(&form, &[("code", &code)]).await.status, 429);
    // The user's own browser is not locked out.
    let page = owner.sign_in(EMAIL, PASSWORD).await;
    let page = owner
        .submit(&page.form("/sign-in/code"), &[("code", &code)])
        .await;
    assert_eq!(page.path, "/", "{}", page.text());
}

async fn recovery_code_works_once(service: TestService) {
    let mut owner = service.user().await;
    let (_, codes) = set_up(&service, &mut owner).await;
    let (mut user, page) = password(&service).await;
    let form = page.form("/sign-in/code");
    let typed = codes[3].to_lowercase();
    assert_eq!(user.submit(&form, &[("code", &typed)]).await.path, "/");
    let (mut user, page) = password(&service).await;
    let again = user
        .submit(&page.form("/sign-in/code"), &[("code", &typed)])
        .await;
    assert_eq!(again.status, 401);
    assert!(
        owner
            .open("/account/two-factor")
            .await
            .has("Kalan kurtarma kodu: 9")
    );
    // New ones replace those that are left.
    let form = owner
        .open("/account/two-factor")
        .await
        .form("/account/two-factor/codes");
    assert_eq!(owner.submit(&form, &[]).await.status, 200);
    let old = user
        .submit(&page.form("/sign-in/code"), &[("code", &codes[4])])
        .await;
    assert_eq!(old.status, 401);
}

async fn second_step_does_not_last(service: TestService) {
    let mut owner = service.user().await;
    let (phone, _) = set_up(&service, &mut owner).await;
    let (mut late, page) = password(&service).await;
    service.advance(Duration::from_secs(11 * 60));
    let code = phone.code(&service);
    let page = late.submit(&page.form("/sign-in/code"), &[("code", &code)]).await;
    assert!(page.path.starts_with("/sign-in?notice=ended"), "{}", page.path);
    // Nor does it outlive the password.
    let (mut user, page) = password(&service).await;
    service.give_password(EMAIL).await;
    service.advance(STEP);
    let code = phone.code(&service);
    let page = user.submit(&page.form("/sign-in/code"), &[("code", &code)]).await;
    assert!(page.path.starts_with("/sign-in?notice=ended"), "{}", page.path);
}

async fn owner_requires_two_factors(service: TestService) {
    let (_, mut ayse) = service.colleague("ayse@example.com", "shift", None).await;
    let mut owner = service.user().await;
    let page = owner.open("/users").await;
    let page = owner.submit(&page.form("/users/require-two-factor"), &[]).await;
    // The owner, too.
    assert_eq!(page.path, "/account/two-factor");
    for path in ["/", "/orders", "/restaurants", "/board/stream"] {
        let page = ayse.open(path).await;
        assert_eq!(page.path, "/account/two-factor", "{path}");
        assert!(page.has("zorunlu kıldı"), "{}", page.text());
    }
    set_up(&service, &mut ayse).await;
    assert_eq!(ayse.open("/orders").await.path, "/orders");
    // It cannot be turned off.
    let page = ayse.open("/account/two-factor").await;
    assert!(
        page.forms()
            .iter()
            .all(|form| form.action != "/account/two-factor/disable")
    );
    let csrf = page.form("/account/two-factor/codes").value("csrf").to_owned();
    let body = format!("csrf={csrf}");
    ayse.send("POST", "/account/two-factor/disable", &[], &body).await;
    assert!(ayse.open("/account").await.has("İki adımlı giriş açık."));
}

async fn owner_removes_a_lost_second_factor(service: TestService) {
    let (id, mut ayse) = service.colleague("ayse@example.com", "shift", None).await;
    set_up(&service, &mut ayse).await;
    let mut owner = service.user().await;
    let path = format!("/users/{id}");
    let page = owner.open(&path).await;
    let page = owner
        .submit(&page.form(&format!("{path}/remove-two-factor")), &[])
        .await;
    assert!(page.has("İki adımlı giriş kaldırıldı."), "{}", page.text());
    assert_eq!(ayse.sign_in("ayse@example.com", PASSWORD).await.path, "/");
}

async fn second_factor_is_turned_off(service: TestService) {
    let mut owner = service.user().await;
    let (phone, _) = set_up(&service, &mut owner).await;
    service.advance(Duration::from_secs(11 * 60));
    // A code is as good as the password.
    let form = owner
        .open("/account/two-factor")
        .await
        .form("/account/two-factor/disable");
    let asked = owner.submit(&form, &[]).await;
    assert_eq!(asked.status, 403);
    let code = phone.code(&service);
    let page = owner
        .submit(
            &asked.form("/account/two-factor/disable"),
            &[("confirm-code", &code)],
        )
        .await;
    assert!(page.has("İki adımlı giriş kapatıldı."), "{}", page.text());
    assert_eq!(service.anonymous_user().sign_in(EMAIL, PASSWORD).await.path, "/");
}
