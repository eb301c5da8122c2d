//! Whose data is meant.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::by::{Recorded, fingerprint};
use garson_core::audit::{RecordKind, Verb};
use garson_core::field_problem::FieldProblem;
use garson_core::privacy::{CustomerQuery, WrongQuery};
use serde_json::json;

/// Reads a phone number, an e-mail address and a name; at least one must be given.
pub fn read_query(
    phone: Option<&str>,
    email: Option<&str>,
    name: Option<&str>,
) -> Result<CustomerQuery, Fault> {
    CustomerQuery::new(phone, email, name).map_err(|wrong| match wrong {
        WrongQuery::Empty => Fault::invalid("phone", FieldProblem::Required),
        WrongQuery::NotPhone => Fault::invalid("phone", FieldProblem::TooFewDigits { min: 7 }),
        WrongQuery::NotEmail => Fault::invalid("email", FieldProblem::NotEmail),
        WrongQuery::NotName => Fault::invalid("name", FieldProblem::NoLetterOrDigit),
    })
}

/// An action on a customer's data, without the data: the log must not keep what is erased. A fingerprint shows whether two actions
/// were about the same customer.
pub(super) fn recorded(app: &App, verb: Verb, query: &CustomerQuery) -> Recorded {
    let id = fingerprint(&app.vault, &query.canonical());
    Recorded::new(RecordKind::Customer, verb)
        .id(id)
        .after(json!({ "by": query.fields() }))
}
