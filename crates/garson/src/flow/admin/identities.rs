//! Who a user is for the operator's OpenID Connect provider.

use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use crate::net::Identity;
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::UserId;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::user_tokens::{self, Purpose};
use garson_store::tables::users;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::net::IpAddr;

/// Who the provider has recognised. It is carried through the second step, because only a session connects it to the user.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Recognised {
    pub identity: Identity,
    /// The user was connected to it already. If it is disconnected before the session starts, there is no session.
    pub is_known: bool,
}

/// Is the user connected to another identity of this provider? Identities of a provider that was configured before do not count.
pub(super) fn has_other_identity(tx: &mut Tx<'_>, user: UserId, identity: &Identity) -> Result<bool, Fault> {
    let known = users::openid(tx, user)?;
    Ok(known.is_some_and(|(issuer, subject)| issuer == identity.issuer && subject != identity.subject))
}

/// Connects the identity to the user whose session starts, or checks that it still is.
pub(super) fn connect(
    tx: &mut Tx<'_>,
    user: UserId,
    recognised: &Recognised,
    client: Option<IpAddr>,
    now: Timestamp,
) -> Result<(), Fault> {
    let identity = &recognised.identity;
    match users::by_openid(tx, &identity.issuer, &identity.subject)? {
        Some(known) if known.id == user => return Ok(()),
        Some(_) => return Err(Fault::LinkInvalid),
        None if recognised.is_known => return Err(Fault::LinkInvalid),
        None => {}
    }
    let found = users::by_id(tx, user)?.filter(|found| identity.email.as_ref() == Some(&found.email));
    let Some(found) = found else {
        return Err(Fault::LinkInvalid);
    };
    if has_other_identity(tx, user, identity)? {
        return Err(Fault::LinkInvalid);
    }
    users::set_openid(tx, user, &identity.issuer, &identity.subject)?;
    user_tokens::remove(tx, user, Purpose::Invitation)?;
    let verb = if found.has_accepted() {
        Verb::Changed
    } else {
        Verb::Accepted
    };
    let after = json!({ "openid": { "issuer": identity.issuer, "subject": identity.subject } });
    let action = Recorded::new(RecordKind::User, verb).id(user);
    By::user(&found, client).record(tx, action.after(after), now);
    Ok(())
}
