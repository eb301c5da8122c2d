//! E-mails to users: invitations and links for a new password.

use crate::app::App;
use crate::net::Mail;
use garson_core::channel::Language;
use garson_core::secret::Secret;
use garson_core::user::User;

/// Can links be sent by e-mail? They need the address of the panel, which a request must not decide.
#[must_use]
pub fn can_send(app: &App) -> bool {
    app.mail_server.is_some() && !app.settings.public_url.is_empty()
}

/// The address of a page for links: of the operator's settings, or else as the caller reaches the panel.
#[must_use]
pub fn base_url(app: &App, otherwise: &str) -> String {
    let own = app.settings.public_url.as_str();
    let base = if own.is_empty() { otherwise } else { own };
    base.trim_end_matches('/').to_owned()
}

/// An e-mail with a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkMail<'a> {
    Invitation { account: &'a str },
    PasswordReset,
}

/// Sends a link; `false` when that did not work, which is logged without the address.
pub(super) async fn send_link(app: &App, user: &User, mail: LinkMail<'_>, link: &Secret<String>) -> bool {
    let Some(server) = &app.mail_server else {
        return false;
    };
    let (subject, text) = content(user.language, mail, link.expose());
    // The end of the link is a secret, so the id is made of something else.
    let id = format!("{}.{}", user.id, app.now().as_millis());
    let sent = server
        .send(&Mail {
            id: &id,
            recipients: std::slice::from_ref(&user.email),
            subject,
            text: &text,
        })
        .await;
    if let Err(error) = &sent {
        // What a mail server says may contain the address.
        tracing::warn!(user = %user.id, is_temporary = error.is_temporary, "an e-mail with a link could not be sent");
    }
    sent.is_ok()
}

fn content(language: Language, mail: LinkMail<'_>, link: &str) -> (&'static str, String) {
    match (language, mail) {
        (Language::Tr, LinkMail::Invitation { account }) => (
            "Garson daveti",
            format!(
                "{account} hesabına davet edildiniz. Parolanızı belirlemek için 7 gün içinde bu bağlantıyı açın; bağlantı bir \
                 kez çalışır:\n\n{link}\n\nBu daveti beklemiyorsanız bir şey yapmanız gerekmez.\n"
            ),
        ),
        (Language::En, LinkMail::Invitation { account }) => (
            "Invitation to Garson",
            format!(
                "You were invited to the account {account}. Open this link within 7 days to set your password; it works \
                 once:\n\n{link}\n\nIf you did not expect this, you need not do anything.\n"
            ),
        ),
        (Language::Tr, LinkMail::PasswordReset) => (
            "Garson parolanız",
            format!(
                "Yeni bir parola belirlemek için bir saat içinde bu bağlantıyı açın; bağlantı bir kez çalışır:\n\n{link}\n\n\
                 Bunu siz istemediyseniz bir şey yapmanız gerekmez; parolanız aynı kalır.\n"
            ),
        ),
        (Language::En, LinkMail::PasswordReset) => (
            "Your Garson password",
            format!(
                "Open this link within an hour to set a new password; it works once:\n\n{link}\n\nIf you did not ask for \
                 this, you need not do anything; your password stays as it is.\n"
            ),
        ),
    }
}
