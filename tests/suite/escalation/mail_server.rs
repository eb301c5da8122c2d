//! The operator's mail server: encryption, refusals, and servers that hang.

use super::setup::{mail_channel, message_states, message_step, seconds, set_steps, with_mail};
use crate::support::{Authority, Backend, SmtpMood, SmtpSink, SmtpTls, TestService, wait_until};
use serde_json::{Value, json};

on_both! {
    ; sqlite_only:
    connection_is_encrypted_before_the_log_in
    server_without_encryption_is_refused
    server_with_an_untrusted_certificate_is_refused
    hanging_server_is_given_up_in_bounded_time
    mail_that_may_have_been_taken_is_not_repeated
    refused_recipient_does_not_keep_a_mail_from_the_others
    mail_that_was_certainly_not_sent_is_repeated
    mails_have_an_id_a_date_and_a_sender_with_a_domain
}

/// Sends a test message by a mail server that must be reached in this way; its certificates are those of the authority.
async fn send_test(backend: Backend, sink: &SmtpSink, authority: &Authority, tls: &'static str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let pem = folder.path().join("ca.pem");
    std::fs::write(&pem, authority.pem()).unwrap();
    let port = sink.addr.port();
    let change = move |settings: &mut garson::config::Settings| {
        settings.trusted_certificates = pem;
        settings.smtp.host = "localhost".to_owned();
        settings.smtp.port = port;
        settings.smtp.tls = tls.to_owned();
        settings.smtp.user = "garson".to_owned();
        settings.smtp.password = garson_core::secret::Secret::new("pass".to_owned());
        settings.smtp.from = "garson@example.com".to_owned();
    };
    let service = TestService::open_with(backend, change, None).await;
    let channel = mail_channel(&service.a, "Mail", "a@example.com").await;
    service.a.act(&format!("/channels/{channel}/test")).await.data()
}

async fn connection_is_encrypted_before_the_log_in(backend: Backend) {
    let authority = Authority::new("Test");
    let server = || authority.server("localhost", (2020, 2060));
    let sent = json!({ "isSent": true, "message": null });

    let implicit = SmtpSink::start(SmtpMood::Accepts, Some(SmtpTls::Implicit(server()))).await;
    assert_eq!(send_test(backend, &implicit, &authority, "tls").await, sent);
    assert_eq!(implicit.mails().len(), 1);
    assert_eq!(implicit.commands()[..2], ["secure EHLO", "secure AUTH"]);

    let upgraded = SmtpSink::start(SmtpMood::Accepts, Some(SmtpTls::Starttls(server()))).await;
    assert_eq!(send_test(backend, &upgraded, &authority, "starttls").await, sent);
    assert_eq!(upgraded.mails().len(), 1);
    let begun = ["EHLO", "STARTTLS", "secure EHLO", "secure AUTH"];
    assert_eq!(upgraded.commands()[..4], begun);
}

async fn server_without_encryption_is_refused(backend: Backend) {
    let authority = Authority::new("Test");
    for tls in ["starttls", "tls"] {
        let sink = SmtpSink::start(SmtpMood::Accepts, None).await;
        let result = send_test(backend, &sink, &authority, tls).await;
        assert_eq!(result["isSent"], json!(false), "{tls}");
        let why = result["message"].as_str().unwrap();
        assert!(
            why.contains("no secure connection to the mail server"),
            "{tls}: {why}"
        );
        let commands = sink.commands();
        let is_harmless = |it: &String| !["AUTH", "MAIL", "RCPT", "DATA"].contains(&it.as_str());
        assert!(commands.iter().all(is_harmless), "{tls}: {commands:?}");
        assert_eq!(sink.handed_over(), 0);
    }
}

async fn server_with_an_untrusted_certificate_is_refused(backend: Backend) {
    let (trusted, other) = (Authority::new("Test"), Authority::new("Other"));
    let wrong = [
        ("of another authority", other.server("localhost", (2020, 2060))),
        (
            "of another name",
            trusted.server("mail.example.com", (2020, 2060)),
        ),
        ("expired", trusted.server("localhost", (2020, 2021))),
    ];
    for (what, server) in wrong {
        for (tls, mode) in [
            ("tls", SmtpTls::Implicit(server.clone())),
            ("starttls", SmtpTls::Starttls(server.clone())),
        ] {
            let sink = SmtpSink::start(SmtpMood::Accepts, Some(mode)).await;
            let result = send_test(backend, &sink, &trusted, tls).await;
            assert_eq!(result["isSent"], json!(false), "{what}, {tls}");
            let why = result["message"].as_str().unwrap();
            assert!(why.contains("no secure connection"), "{what}, {tls}: {why}");
            assert!(sink.commands().iter().all(|it| !it.contains("AUTH")));
        }
    }
}

async fn hanging_server_is_given_up_in_bounded_time(backend: Backend) {
    let authority = Authority::new("Test");
    for tls in ["none", "starttls", "tls"] {
        // It accepts the connection and never says anything, neither a greeting nor a handshake.
        let sink = SmtpSink::start(SmtpMood::Hangs, None).await;
        let result = send_test(backend, &sink, &authority, tls).await;
        assert_eq!(result["isSent"], json!(false), "{tls}");
        let why = result["message"].as_str().unwrap();
        assert!(why.contains("did not answer in time"), "{tls}: {why}");
    }
}

async fn mail_that_may_have_been_taken_is_not_repeated(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::RefusesForNow, None).await;
    let service = with_mail(backend, &sink).await;
    let channel = mail_channel(&service.a, "Mail", "a@example.com").await;
    let path = format!("/channels/{channel}/test");
    let result = service.a.act(&path).await.data();
    assert_eq!(result["isSent"], json!(false));
    assert!(result["message"].as_str().unwrap().contains("450"), "{result}");
    sink.set_mood(SmtpMood::HangsAtTheEnd);
    let result = service.a.act(&path).await.data();
    assert!(
        result["message"].as_str().unwrap().contains("may have been sent"),
        "{result}"
    );
}

async fn refused_recipient_does_not_keep_a_mail_from_the_others(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::RefusesUnknown, None).await;
    let service = with_mail(backend, &sink).await;
    let test = async |recipients: &[&str]| {
        let body = json!({ "name": recipients.join(" "), "kind": "email", "recipients": recipients });
        let made = service.a.post("/channels", &body).await.data();
        let path = format!("/channels/{}/test", made["id"].as_str().unwrap());
        service.a.act(&path).await.data()
    };
    let sent = test(&["a@example.com", "unknown@example.com", "b@example.com"]).await;
    assert_eq!(sent["isSent"], json!(true));
    let mails = sink.mails();
    let received = |who: &str| {
        let to = format!("To: {who}@example.com\r\n");
        mails.iter().filter(|mail| mail.contains(&to)).count()
    };
    assert_eq!((mails.len(), received("a"), received("b")), (2, 1, 1));

    let refused = test(&["unknown@example.com", "unknown2@example.com"]).await;
    assert_eq!(refused["isSent"], json!(false));
    assert!(refused["message"].as_str().unwrap().contains("550"), "{refused}");
    assert_eq!(sink.mails().len(), 2);
}

async fn mail_that_was_certainly_not_sent_is_repeated(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::Accepts, None).await;
    let service = with_mail(backend, &sink).await;
    let channel = mail_channel(&service.a, "Mail", "a@example.com").await;
    for (mood, why) in [
        (SmtpMood::ClosesAt("MAIL"), "closed the connection before"),
        (SmtpMood::ClosesAt("RCPT"), "closed the connection before"),
        (SmtpMood::ClosesAt("DATA"), "closed the connection before"),
        (SmtpMood::HangsAt("RCPT"), "did not answer in time"),
    ] {
        sink.set_mood(mood);
        let result = service.a.act(&format!("/channels/{channel}/test")).await.data();
        let said = result["message"].as_str().unwrap();
        assert!(said.contains(why), "{mood:?}: {said}");
    }
    sink.set_mood(SmtpMood::ClosesAt("DATA"));
    let shop = service.shop(&service.a, "s").await;
    set_steps(&service.a, &shop, json!([message_step(&channel, 30)])).await;
    shop.order("1").await;
    service.advance(seconds(31));
    wait_until("it was tried", async || {
        service.count("messages WHERE state = 'open' AND attempts = 1") == 1
    })
    .await;
    sink.set_mood(SmtpMood::Accepts);
    service.advance(seconds(16));
    wait_until("it is sent", async || {
        message_states(&service.a).await == ["sent"]
    })
    .await;
    assert_eq!(sink.mails().len(), 1);
}

async fn mails_have_an_id_a_date_and_a_sender_with_a_domain(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::Accepts, None).await;
    let service = with_mail(backend, &sink).await;
    let channel = mail_channel(&service.a, "Mail", "a@example.com").await;
    for _ in 0..2 {
        service.a.act(&format!("/channels/{channel}/test")).await.data();
    }
    let id = |mail: &String| {
        let lines = mail.lines();
        let line = lines.filter_map(|line| line.strip_prefix("Message-ID: ")).next();
        line.unwrap().to_owned()
    };
    let mails = sink.mails();
    let ids: Vec<String> = mails.iter().map(id).collect();
    assert!(
        ids[0].starts_with('<') && ids[0].ends_with("@example.com>"),
        "{ids:?}"
    );
    assert_ne!(ids[0], ids[1]);
    assert!(
        mails[0].contains("\r\nDate: ") || mails[0].starts_with("Date: "),
        "{}",
        mails[0]
    );
    assert_eq!(sink.greetings(), ["example.com", "example.com"]);
}
