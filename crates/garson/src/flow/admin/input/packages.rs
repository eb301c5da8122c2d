//! Packages as clients write them.

use super::values::Name;
use crate::flow::Fault;
use crate::flow::admin::integrations;
use garson_core::field_problem::FieldProblem;
use garson_core::id::PackageId;
use garson_core::restaurant::Package;
use garson_core::time::Timestamp;

const MAX_PACKAGES: usize = 50;

pub struct PackageInput {
    pub name: Name,
    /// The keys of the platforms that it covers; `None`: all.
    pub providers: Option<Vec<String>>,
    /// `None`: now.
    pub starts_at: Option<Timestamp>,
    /// `None`: open-ended.
    pub ends_at: Option<Timestamp>,
}

/// Checks all packages of a restaurant.
pub fn packages(inputs: Vec<PackageInput>, now: Timestamp) -> Result<Vec<Package>, Fault> {
    if inputs.len() > MAX_PACKAGES {
        return Err(Fault::invalid(
            "packages",
            FieldProblem::TooMany { max: MAX_PACKAGES },
        ));
    }
    let numbered = inputs.into_iter().enumerate();
    numbered.map(|(n, input)| package(input, n, now)).collect()
}

fn package(input: PackageInput, number: usize, now: Timestamp) -> Result<Package, Fault> {
    let provider = |key: &String| integrations::platform(key).map(|platform| platform.provider());
    let providers = input
        .providers
        .map(|keys| keys.iter().map(provider).collect::<Result<_, _>>())
        .transpose()?;
    let starts_at = input.starts_at.unwrap_or(now);
    if input.ends_at.is_some_and(|end| end <= starts_at) {
        let field = format!("packages[{number}].endsAt");
        return Err(Fault::invalid(field, FieldProblem::EndsBeforeStart));
    }
    Ok(Package {
        id: PackageId::at(now),
        name: input.name.into_string(),
        providers,
        starts_at,
        ends_at: input.ends_at,
    })
}
