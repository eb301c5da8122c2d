//! Links that are sent by e-mail: invitations, and new passwords.

use crate::support::{Backend, PASSWORD, SmtpMood, SmtpSink, TestService, wait_until};
use serde_json::json;
use std::time::Duration;

on_both! {
    password_is_reset_by_a_link
    ; sqlite_only:
    invitation_is_sent_by_e_mail
    answer_does_not_reveal_whether_a_user_exists
    requests_for_links_are_limited
    mail_server_that_hangs_holds_up_nobody
}

const EMAIL: &str = "first@example.com";

async fn with_mail(backend: Backend, sink: &SmtpSink) -> TestService {
    let port = sink.addr.port();
    let change = move |settings: &mut garson::config::Settings| {
        settings.smtp.host = "127.0.0.1".to_owned();
        settings.smtp.port = port;
        settings.smtp.tls = "none".to_owned();
        settings.smtp.from = "Garson <garson@example.com>".to_owned();
        settings.public_url = "https://panel.example.com".to_owned();
        settings.server.trusted_proxies = vec!["127.0.0.1".to_owned()];
    };
    TestService::open_with(backend, change, None).await
}

/// The path of the link in a mail, whose lines may be broken.
fn path_in(mail: &str, kind: &str) -> String {
    let plain = mail.replace("=\r\n", "").replace("=\n", "");
    let start = format!("https://panel.example.com/{kind}/");
    let at = plain.find(&start).unwrap_or_else(|| panic!("no link in {plain}"));
    let token = plain[at + start.len()..].chars();
    let token: String = token
        .take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c))
        .collect();
    format!("/{kind}/{token}")
}

async fn password_is_reset_by_a_link(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::Accepts, None).await;
    let service = with_mail(backend, &sink).await;
    let mut signed_in = service.user().await;
    let mut user = service.anonymous_user();
    let page = user.open("/sign-in").await;
    assert!(page.links().contains(&"/forgot-password".to_owned()));
    let form = user.open("/forgot-password").await.form("/forgot-password");
    let page = user.submit(&form, &[("email", " First@example.com")]).await;
    assert!(
        page.status == 200 && page.has("bağlantı gönderildi"),
        "{}",
        page.text()
    );
    wait_until("the link is there", async || sink.mails().len() == 1).await;
    let path = path_in(&sink.mails()[0], "reset-password");
    let page = user.open(&path).await;
    let form = page.form(&path);
    let weak = user.submit(&form, &[("password", "12345678")]).await;
    assert_eq!(weak.status, 422);
    let page = user.submit(&form, &[("password", "quiet zebra 41")]).await;
    assert!(page.has("Parolanız kaydedildi."), "{}", page.text());
    // The link works once, and everybody is signed out.
    assert_eq!(
        user.submit(&form, &[("password", "other zebra 42")]).await.status,
        404
    );
    assert_eq!(signed_in.open("/").await.path, "/sign-in");
    assert_eq!(user.sign_in(EMAIL, PASSWORD).await.status, 401);
    assert_eq!(user.sign_in(EMAIL, "quiet zebra 41").await.path, "/");
    // After an hour it would not have worked.
    service.advance(Duration::from_secs(300));
    let form = user.open("/forgot-password").await.form("/forgot-password");
    user.submit(&form, &[("email", EMAIL)]).await;
    wait_until("the second link is there", async || sink.mails().len() == 2).await;
    let path = path_in(&sink.mails()[1], "reset-password");
    service.advance(Duration::from_secs(3_601));
    assert_eq!(user.open(&path).await.status, 404);
}

async fn invitation_is_sent_by_e_mail(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::Accepts, None).await;
    let service = with_mail(backend, &sink).await;
    let new = json!({ "email": "ayse@example.com", "role": "shift", "language": "en" });
    let invited = service.a.post("/users", &new).await.data();
    assert_eq!(invited["invitationLink"], json!(null));
    let mail = sink.mails().remove(0);
    assert!(
        mail.contains("To: ayse@example.com") && mail.contains("Invitation to Garson"),
        "{mail}"
    );
    let path = path_in(&mail, "invitation");
    let mut ayse = service.anonymous_user();
    assert_eq!(ayse.open(&path).await.status, 200);
    // If it cannot be sent, the link is shown.
    sink.set_mood(SmtpMood::RefusesForNow);
    let new = json!({ "email": "mehmet@example.com", "role": "shift" });
    let invited = service.a.post("/users", &new).await.data();
    assert!(
        invited["invitationLink"]
            .as_str()
            .unwrap()
            .starts_with("https://panel.example.com/")
    );
}

async fn answer_does_not_reveal_whether_a_user_exists(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::Accepts, None).await;
    let service = with_mail(backend, &sink).await;
    service.give_password(EMAIL).await;
    let mut answers = Vec::new();
    for email in [EMAIL, "nobody@example.com", "not an address"] {
        let mut user = service.anonymous_user();
        let form = user.open("/forgot-password").await.form("/forgot-password");
        let page = user.submit(&form, &[("email", email)]).await;
        answers.push((page.status, page.text()));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    wait_until("the link is there", async || !sink.mails().is_empty()).await;
    assert_eq!(sink.mails().len(), 1);
}

async fn requests_for_links_are_limited(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::Accepts, None).await;
    let service = with_mail(backend, &sink).await;
    service.give_password(EMAIL).await;
    let mut user = service.anonymous_user();
    let form = user.open("/forgot-password").await.form("/forgot-password");
    let mut statuses = Vec::new();
    for _ in 0..20 {
        statuses.push(user.submit(&form, &[("email", EMAIL)]).await.status);
    }
    assert_eq!(
        statuses.iter().filter(|status| **status == 200).count(),
        5,
        "{statuses:?}"
    );
    assert!(statuses[5..].iter().all(|status| *status == 429));
    // From other addresses, one user still gets one mail in some time.
    for n in 0..10 {
        user.client = Some(format!("203.0.113.{n}"));
        assert_eq!(user.submit(&form, &[("email", EMAIL)]).await.status, 200);
    }
    wait_until("the link is there", async || !sink.mails().is_empty()).await;
    assert_eq!(sink.mails().len(), 1);
}

async fn mail_server_that_hangs_holds_up_nobody(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::Hangs, None).await;
    let service = with_mail(backend, &sink).await;
    service.give_password(EMAIL).await;
    let mut user = service.anonymous_user();
    let form = user.open("/forgot-password").await.form("/forgot-password");
    let answer = user.submit(&form, &[("email", EMAIL)]);
    let page = tokio::time::timeout(Duration::from_secs(5), answer)
        .await
        .unwrap();
    assert_eq!(page.status, 200);
}
