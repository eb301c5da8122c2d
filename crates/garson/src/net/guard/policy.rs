//! The operator's policy, and the check of a target against it.

use super::blocks::{self, AddressClass};
use super::exception::Exception;
use super::names;
use super::origin::{Host, Scheme};
use super::target::Target;
use garson_core::explanation::{AddressKind, TargetRefusal};
use std::net::IpAddr;

/// What the operator allows beyond public targets; the default allows nothing more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Allows loopback, private, link-local and other special ranges (for development).
    pub allow_private: bool,
    /// Allows these targets in addition.
    pub allow_targets: Vec<Exception>,
    /// Refuses all other targets, public ones too (for a service that must not call out).
    pub only_listed: bool,
}

/// Checks what can be known before the host is resolved: its name, or its literal address.
///
/// [`check`] repeats this; asking first saves resolving a name that is refused anyway.
pub fn check_name(policy: &Policy, target: &Target) -> Result<(), TargetRefusal> {
    let name = match target.host() {
        Host::Name(name) => name,
        Host::V4(ip) => return check_address(policy, target, IpAddr::V4(*ip)),
        Host::V6(ip) => return check_address(policy, target, IpAddr::V6(*ip)),
    };
    if names::is_metadata(name) {
        return Err(refuse(target, AddressKind::MetadataName));
    }
    if policy.only_listed && !is_named_exception(policy, target) {
        return Err(refuse(target, AddressKind::NotListed));
    }
    match names::local_kind(name) {
        Some(kind) if !policy.allow_private && !is_named_exception(policy, target) => {
            Err(refuse(target, kind))
        }
        _ => Ok(()),
    }
}

/// Checks a target together with every address its host resolved to (for a literal: itself).
///
/// One forbidden address refuses the whole host, because a client may fall back from one address
/// to the next; so does an empty list.
pub fn check(policy: &Policy, target: &Target, resolved: &[IpAddr]) -> Result<(), TargetRefusal> {
    check_name(policy, target)?;
    if resolved.is_empty() {
        let host = target.host().to_string();
        return Err(TargetRefusal::NoAddress { host });
    }
    resolved
        .iter()
        .try_for_each(|ip| check_address(policy, target, *ip))
}

fn check_address(policy: &Policy, target: &Target, ip: IpAddr) -> Result<(), TargetRefusal> {
    let excepted = || {
        let mut exceptions = policy.allow_targets.iter();
        exceptions.any(|exception| exception.allows(target, ip))
    };
    match blocks::class_of(ip) {
        AddressClass::Public | AddressClass::Special(_) if policy.only_listed && !excepted() => {
            Err(refuse(target, AddressKind::NotListed))
        }
        AddressClass::Public => Ok(()),
        AddressClass::Special(_) if policy.allow_private || excepted() => Ok(()),
        AddressClass::Special(address) | AddressClass::Never(address) => Err(match target.host() {
            Host::Name(name) => TargetRefusal::ResolvesTo {
                host: name.clone(),
                address,
            },
            _ => refuse(target, address),
        }),
    }
}

fn refuse(target: &Target, address: AddressKind) -> TargetRefusal {
    TargetRefusal::Is {
        host: target.host().to_string(),
        address,
    }
}

/// Is a request sent in clear text over a network that is not the operator's own?
///
/// A name counts as public unless it can only be local to a network; it is not resolved.
pub fn is_clear_text(target: &Target) -> bool {
    let is_public = match target.host() {
        Host::Name(name) => names::local_kind(name).is_none(),
        Host::V4(ip) => blocks::classify(IpAddr::V4(*ip)).is_ok(),
        Host::V6(ip) => blocks::classify(IpAddr::V6(*ip)).is_ok(),
    };
    target.scheme() == Scheme::Http && is_public
}

fn is_named_exception(policy: &Policy, target: &Target) -> bool {
    let mut exceptions = policy.allow_targets.iter();
    exceptions.any(|exception| exception.names(target))
}
