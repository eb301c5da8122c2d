//! Decides which targets may be called, so that no account can steer Garson into a private network.
//!
//! Nothing here does I/O. The caller parses the text into a [`Target`], asks [`check_name`],
//! resolves the host, asks [`check`] about *all* answers, and then connects only to addresses
//! from that same list: resolving again would let the answer change after the check. A redirect
//! is a new target and goes through the same steps.

mod blocks;
mod exception;
mod origin;
mod target;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::IpAddr;

pub use blocks::judge;
pub use exception::{Exception, InvalidException};
pub use origin::{Host, Origin, Scheme};
pub use target::{MAX_URL_BYTES, Target};

use blocks::Standing;

/// How to allow private targets, for showing beside a [`Refusal`] to whoever runs the service.
pub const HINT: &str = "To call private targets in development, set `allow_private_targets = true` \
    (or the variable GARSON_ALLOW_PRIVATE_TARGETS=true); to allow single targets only, list them: \
    `allow_targets = [\"10.0.4.7:8443\"]`.";

/// Names of cloud metadata services: whoever reaches one may read the machine's credentials.
const METADATA_NAMES: &[&str] = &[
    "metadata.google.internal",
    "metadata.goog",
    "metadata.tencentyun.com",
    "instance-data.ec2.internal",
];

const METADATA_SERVICE: &str = "the name of a cloud metadata service";

/// Domains which only ever mean something inside one machine or network.
const LOCAL_DOMAINS: &[(&str, &str)] = &[
    ("localhost", "a name for this computer"),
    ("localdomain", "a name for this computer"),
    ("local", "a name in the local network"),
    ("internal", "a name in an internal network"),
    ("home.arpa", "a name in a home network"),
];

/// What the operator allows beyond public targets; the default allows nothing more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Allows loopback, private, link-local and other special ranges (for development).
    pub allow_private: bool,
    /// Allows these targets in addition.
    pub allow_targets: Vec<Exception>,
    /// Refuses everything but those, public targets too (for a service that must not call out).
    pub only_listed: bool,
}

const NOT_LISTED: &str = "not among the targets that the operator allows";

/// Why a target may not be called, in plain words fit for the account that gave it.
///
/// It names the host at most: never the path or query, which may carry secrets, and never an
/// address that a name resolved to, which would let an account explore our private DNS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, such as "127.0.0.1 is a loopback address".
    pub reason: String,
    /// It is no URL that anybody could call, whatever the operator allows.
    pub is_malformed: bool,
}

impl Refusal {
    fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_malformed: false,
        }
    }

    fn malformed(self) -> Self {
        Self {
            is_malformed: true,
            ..self
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.reason)
    }
}

impl std::error::Error for Refusal {}

/// Checks what can be known before the host is resolved: its name, or its literal address.
///
/// [`check`] repeats this; asking first spares a lookup of a name that is refused anyway.
pub fn check_name(policy: &Policy, target: &Target) -> Result<(), Refusal> {
    let name = match target.host() {
        Host::Name(name) => name,
        Host::V4(ip) => return check_address(policy, target, IpAddr::V4(*ip)),
        Host::V6(ip) => return check_address(policy, target, IpAddr::V6(*ip)),
    };
    if is_metadata_name(name) {
        return Err(Refusal::new(format!("{name} is {METADATA_SERVICE}")));
    }
    if policy.only_listed && !is_named_exception(policy, target) {
        return Err(Refusal::new(format!("{name} is {NOT_LISTED}")));
    }
    match local_meaning(name) {
        Some(meaning) if !policy.allow_private && !is_named_exception(policy, target) => {
            Err(Refusal::new(format!("{name} is {meaning}")))
        }
        _ => Ok(()),
    }
}

/// Checks a target together with every address its host resolved to (for a literal: itself).
///
/// One forbidden address refuses the whole host, because a client may fall back from one address
/// to the next; so does an empty list.
pub fn check(policy: &Policy, target: &Target, resolved: &[IpAddr]) -> Result<(), Refusal> {
    check_name(policy, target)?;
    if resolved.is_empty() {
        return Err(Refusal::new(format!("{} has no address", target.host())));
    }
    resolved
        .iter()
        .try_for_each(|ip| check_address(policy, target, *ip))
}

fn check_address(policy: &Policy, target: &Target, ip: IpAddr) -> Result<(), Refusal> {
    let excepted = || {
        let mut exceptions = policy.allow_targets.iter();
        exceptions.any(|exception| exception.allows(target, ip))
    };
    match blocks::standing(ip) {
        Standing::Public | Standing::Special(_) if policy.only_listed && !excepted() => {
            Err(Refusal::new(format!("{} is {NOT_LISTED}", target.host())))
        }
        Standing::Public => Ok(()),
        Standing::Special(_) if policy.allow_private || excepted() => Ok(()),
        Standing::Special(kind) | Standing::Never(kind) => Err(Refusal::new(match target.host() {
            Host::Name(name) => format!("{name} leads to {kind}"),
            literal => format!("{literal} is {kind}"),
        })),
    }
}

/// Does what is sent there travel in clear over a network that is not one's own?
///
/// A name counts as public unless it can only mean something in a local network; where it leads today is not asked.
pub fn is_clear_text(target: &Target) -> bool {
    let is_public = match target.host() {
        Host::Name(name) => local_meaning(name).is_none(),
        Host::V4(ip) => judge(IpAddr::V4(*ip)).is_ok(),
        Host::V6(ip) => judge(IpAddr::V6(*ip)).is_ok(),
    };
    target.scheme() == Scheme::Http && is_public
}

fn is_named_exception(policy: &Policy, target: &Target) -> bool {
    let mut exceptions = policy.allow_targets.iter();
    exceptions.any(|exception| exception.names(target))
}

fn is_metadata_name(name: &str) -> bool {
    METADATA_NAMES.contains(&name)
}

fn local_meaning(name: &str) -> Option<&'static str> {
    let local = LOCAL_DOMAINS.iter().find(|(domain, _)| is_within(name, domain));
    match local {
        Some((_, meaning)) => Some(meaning),
        None if !name.contains('.') => Some("a name without a dot, so it is local to a network"),
        None => None,
    }
}

fn is_within(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
