//! Names that are never public: cloud metadata services, and domains of one machine or network.

use garson_core::explanation::AddressKind;

/// Names of cloud metadata services: a client that reaches one may read the machine's credentials.
pub(super) const METADATA_NAMES: &[&str] = &[
    "metadata.google.internal",
    "metadata.goog",
    "metadata.tencentyun.com",
    "instance-data.ec2.internal",
];

/// Domains that mean something only inside one machine or network.
const LOCAL_DOMAINS: &[(&str, AddressKind)] = &[
    ("localhost", AddressKind::ComputerName),
    ("localdomain", AddressKind::ComputerName),
    ("local", AddressKind::LocalNetworkName),
    ("internal", AddressKind::InternalNetworkName),
    ("home.arpa", AddressKind::HomeNetworkName),
];

pub fn is_metadata(name: &str) -> bool {
    METADATA_NAMES.contains(&name)
}

/// What a name is, if it is local to a machine or network.
pub fn local_kind(name: &str) -> Option<AddressKind> {
    let local = LOCAL_DOMAINS.iter().find(|(domain, _)| is_within(name, domain));
    match local {
        Some((_, kind)) => Some(*kind),
        None if !name.contains('.') => Some(AddressKind::NameWithoutDot),
        None => None,
    }
}

fn is_within(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
