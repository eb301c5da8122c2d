//! How long a replaced secret stays valid.

use crate::flow::Fault;
use garson_core::field_problem::FieldProblem;
use std::time::Duration;

/// Reads the field `overlapHours`.
pub fn overlap(hours: Option<i64>, longest: Duration) -> Result<Option<Duration>, Fault> {
    let Some(hours) = hours else { return Ok(None) };
    let max = longest.as_secs() / 3600;
    let hours = u64::try_from(hours).ok().filter(|hours| *hours <= max);
    let hours = hours.ok_or_else(|| {
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        Fault::invalid("overlapHours", FieldProblem::NotBetween { min: 0, max })
    })?;
    Ok(Some(Duration::from_secs(hours * 3600)))
}
