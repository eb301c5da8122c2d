//! Payment matches as clients write them.

use super::values::ForeignId;
use crate::flow::Fault;
use crate::flow::admin::integrations;
use garson_core::field_problem::FieldProblem;
use garson_core::payment::PaymentType;
use garson_core::restaurant::PaymentMatch;

const MAX_MATCHES: usize = 500;

/// A payment of a platform, by our type or by the platform's own code, and what the POS calls it.
pub struct PaymentMatchInput {
    pub provider: String,
    pub payment_type: Option<PaymentType>,
    pub provider_code: Option<ForeignId>,
    pub matched_id: ForeignId,
}

/// Checks all matches of a restaurant.
pub fn payment_matches(inputs: Vec<PaymentMatchInput>) -> Result<Vec<PaymentMatch>, Fault> {
    if inputs.len() > MAX_MATCHES {
        return Err(Fault::invalid(
            "matches",
            FieldProblem::TooMany { max: MAX_MATCHES },
        ));
    }
    let mut matches: Vec<PaymentMatch> = Vec::new();
    for (n, input) in inputs.into_iter().enumerate() {
        let field = format!("matches[{n}]");
        let next = payment_match(input, &field)?;
        let is_same = |other: &PaymentMatch| {
            (other.provider, other.payment_type, &other.provider_code)
                == (next.provider, next.payment_type, &next.provider_code)
        };
        if let Some(first) = matches.iter().position(is_same) {
            return Err(Fault::invalid(field, FieldProblem::SamePaymentAs { row: first }));
        }
        matches.push(next);
    }
    Ok(matches)
}

fn payment_match(input: PaymentMatchInput, field: &str) -> Result<PaymentMatch, Fault> {
    if input.payment_type.is_none() && input.provider_code.is_none() {
        return Err(Fault::invalid(field, FieldProblem::NoPaymentTypeOrCode));
    }
    Ok(PaymentMatch {
        provider: integrations::platform(&input.provider)?.provider(),
        payment_type: input.payment_type,
        provider_code: input.provider_code.map(ForeignId::into_string),
        matched_id: input.matched_id.into_string(),
    })
}
