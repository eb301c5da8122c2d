//! E-mail addresses as they are stored.

use crate::flow::Fault;
use crate::net::MailServer;
use garson_core::field_problem::FieldProblem;

/// An e-mail address in the form in which it is stored.
pub fn checked_email(email: &str) -> Result<String, Fault> {
    let email = email.trim().to_lowercase();
    if looks_like_email(&email) {
        Ok(email)
    } else {
        Err(Fault::invalid("email", FieldProblem::NotEmail))
    }
}

fn looks_like_email(email: &str) -> bool {
    let host = email.rsplit_once('@').map_or("", |(_, host)| host);
    host.contains('.') && email.len() <= 254 && MailServer::is_address(email)
}
