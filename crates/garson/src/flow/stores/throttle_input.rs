//! A throttle as an account enters it, by the API or a form.

use crate::flow::Fault;
use garson_core::field_problem::FieldProblem;
use garson_core::store_control::{MAX_COUNT, MAX_MINIMUM_MINUTES, Threshold, Throttle, ThrottleMeasure};

/// How long a step lasts at least, where the account does not say so.
const DEFAULT_MINIMUM: u32 = 5;
const MAX_BUSY_MINUTES: u32 = 240;

/// The fields of a throttle, unchecked.
#[derive(Clone, Debug, Default)]
pub struct ThrottleInput {
    pub count_by: Option<String>,
    pub busy_above: Option<u32>,
    pub busy_down_to: Option<u32>,
    pub close_above: Option<u32>,
    pub close_down_to: Option<u32>,
    pub minimum_minutes: Option<u32>,
    pub busy_minutes: Option<u32>,
}

impl ThrottleInput {
    pub fn parse(&self) -> Result<Throttle, Fault> {
        let measure = match &self.count_by {
            None => ThrottleMeasure::OpenOrders,
            Some(name) => ThrottleMeasure::named(name).ok_or_else(|| {
                let choices = ThrottleMeasure::ALL.map(ThrottleMeasure::as_str).join(", ");
                Fault::invalid("countBy", FieldProblem::NotOneOf { choices })
            })?,
        };
        let busy = threshold(("busyAbove", self.busy_above), ("busyDownTo", self.busy_down_to))?;
        let close = threshold(
            ("closeAbove", self.close_above),
            ("closeDownTo", self.close_down_to),
        )?;
        match (busy, close) {
            (None, None) => return Err(Fault::invalid("closeAbove", FieldProblem::Required)),
            (Some(busy), Some(close)) if close.above <= busy.above => {
                let (min, max) = (i64::from(busy.above) + 1, i64::from(MAX_COUNT));
                return Err(Fault::invalid(
                    "closeAbove",
                    FieldProblem::NotWholeNumber { min, max },
                ));
            }
            _ => {}
        }
        within("minimumMinutes", self.minimum_minutes, 0, MAX_MINIMUM_MINUTES)?;
        within("busyMinutes", self.busy_minutes, 1, MAX_BUSY_MINUTES)?;
        Ok(Throttle {
            measure,
            busy,
            close,
            minimum_minutes: self.minimum_minutes.unwrap_or(DEFAULT_MINIMUM),
            busy_minutes: self.busy_minutes,
        })
    }
}

fn within(field: &str, value: Option<u32>, min: u32, max: u32) -> Result<(), Fault> {
    match value {
        Some(value) if !(min..=max).contains(&value) => {
            let (min, max) = (i64::from(min), i64::from(max));
            Err(Fault::invalid(field, FieldProblem::NotWholeNumber { min, max }))
        }
        _ => Ok(()),
    }
}

fn threshold(
    (above_name, above): (&str, Option<u32>),
    (down_name, down_to): (&str, Option<u32>),
) -> Result<Option<Threshold>, Fault> {
    within(above_name, above, 1, MAX_COUNT)?;
    let Some(above) = above else {
        return match down_to {
            Some(_) => Err(Fault::invalid(above_name, FieldProblem::Required)),
            None => Ok(None),
        };
    };
    within(down_name, down_to, 0, above - 1)?;
    Ok(Some(match down_to {
        Some(down_to) => Threshold { above, down_to },
        None => Threshold::with_default_end(above),
    }))
}
