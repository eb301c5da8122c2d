//! The form of the automatic throttle.

use crate::flow::Fault;
use crate::flow::stores::ThrottleInput;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::words::StorePageWords;
use garson_core::field_problem::FieldProblem;
use garson_core::store_control::{
    MAX_COUNT, Threshold, Throttle, ThrottleLevel, ThrottleMeasure, ThrottleState,
};

/// What the throttle is doing.
pub fn level(t: &StorePageWords, state: ThrottleState) -> &'static str {
    match state.level {
        _ if state.is_suspended => t.suspended,
        ThrottleLevel::None => t.level_none,
        ThrottleLevel::Busy => t.level_busy,
        ThrottleLevel::Closed => t.level_closed,
    }
}

/// The stored value of a form field.
fn stored(throttle: Option<&Throttle>, name: &str) -> String {
    let Some(throttle) = throttle else {
        return String::new();
    };
    let above = |it: Option<Threshold>| it.map(|it| it.above);
    let down_to = |it: Option<Threshold>| it.map(|it| it.down_to);
    let number = match name {
        "enabled" => return "on".to_owned(),
        "countBy" => return throttle.measure.as_str().to_owned(),
        "busyAbove" => above(throttle.busy),
        "busyDownTo" => down_to(throttle.busy),
        "closeAbove" => above(throttle.close),
        "closeDownTo" => down_to(throttle.close),
        "minimumMinutes" => Some(throttle.minimum_minutes),
        "busyMinutes" => throttle.busy_minutes,
        _ => None,
    };
    number.map(|number| number.to_string()).unwrap_or_default()
}

/// The fields with what was typed, or else with what is stored.
pub fn fields(t: &StorePageWords, throttle: Option<&Throttle>, typed: Option<&FormData>) -> Vec<Field> {
    let value = |name: &str| match typed {
        Some(typed) => typed.get(name).to_owned(),
        None => stored(throttle, name),
    };
    let number = |name: &'static str, label: &str, hint: &str| {
        Field::new(name, label, FieldKind::Input("number"))
            .value(value(name))
            .hint(hint)
    };
    let chosen = value("countBy");
    let measure = |it: ThrottleMeasure, name: &str| Choice::new(it.as_str(), name, it.as_str() == chosen);
    vec![
        Field::new(
            "enabled",
            t.enabled,
            FieldKind::Checkbox(!value("enabled").is_empty()),
        ),
        Field::new(
            "countBy",
            t.count_by,
            FieldKind::Select(vec![
                measure(ThrottleMeasure::OpenOrders, t.open_orders),
                measure(ThrottleMeasure::RecentOrders, t.recent_orders),
            ]),
        ),
        number("busyAbove", t.busy_above, t.above_hint),
        number("busyDownTo", t.busy_down_to, t.down_hint),
        number("closeAbove", t.close_above, t.above_hint),
        number("closeDownTo", t.close_down_to, t.down_hint),
        number("minimumMinutes", t.minimum_minutes, ""),
        number("busyMinutes", t.busy_minutes, t.busy_minutes_hint),
    ]
}

/// The throttle of the form; none when it is switched off.
pub fn parse(fields: &FormData) -> Result<Option<Throttle>, Fault> {
    if !fields.is_checked("enabled") {
        return Ok(None);
    }
    let number = |name: &'static str| -> Result<Option<u32>, Fault> {
        let Some(text) = fields.non_empty(name) else {
            return Ok(None);
        };
        let (min, max) = (0, i64::from(MAX_COUNT));
        let number = text.parse().map(Some);
        number.map_err(|_| Fault::invalid(name, FieldProblem::NotWholeNumber { min, max }))
    };
    let input = ThrottleInput {
        count_by: fields.non_empty("countBy"),
        busy_above: number("busyAbove")?,
        busy_down_to: number("busyDownTo")?,
        close_above: number("closeAbove")?,
        close_down_to: number("closeDownTo")?,
        minimum_minutes: number("minimumMinutes")?,
        busy_minutes: number("busyMinutes")?,
    };
    input.parse().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::words::Lang;

    #[test]
    fn form_shows_what_it_has_stored() {
        let sent =
            "enabled=on&countBy=recent_orders&busyAbove=15&closeAbove=25&closeDownTo=18&busyMinutes=30";
        let throttle = parse(&FormData::parse(sent.as_bytes())).unwrap().unwrap();
        assert_eq!(throttle.measure, ThrottleMeasure::RecentOrders);
        let t = StorePageWords::of(Lang::Tr);
        let shown: Vec<String> = fields(&t, Some(&throttle), None)
            .into_iter()
            .map(|field| field.value)
            .collect();
        assert_eq!(shown[2..], ["15", "12", "25", "18", "5", "30"]);
        assert_eq!(parse(&FormData::parse(b"busyAbove=15")).unwrap(), None);
    }

    #[test]
    fn wrong_numbers_name_their_field() {
        for (sent, field) in [
            ("enabled=on&busyAbove=x", "busyAbove"),
            ("enabled=on", "closeAbove"),
            ("enabled=on&busyAbove=20&closeAbove=10", "closeAbove"),
            ("enabled=on&busyAbove=20&busyDownTo=20", "busyDownTo"),
        ] {
            match parse(&FormData::parse(sent.as_bytes())) {
                Err(Fault::Invalid { field: found, .. }) => assert_eq!(found, field),
                other => panic!("{sent}: {other:?}"),
            }
        }
    }
}
