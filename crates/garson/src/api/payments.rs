//! Totals by payment type.

use super::envelope::Data;
use super::paging::{PeriodParams, Query, RestaurantParam};
use crate::flow::admin::api_auth::Caller;
use crate::flow::read::reports;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::State;
use garson_core::money::Currency;
use garson_core::payment::PaymentType;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct GroupedPayments {
    groups: Vec<PaymentGroup>,
    /// The grand total of each currency.
    currencies: Vec<CurrencyTotal>,
}

#[derive(Serialize, ToSchema)]
pub struct PaymentGroup {
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: PaymentType,
    name: &'static str,
    #[schema(value_type = String)]
    currency: Currency,
    count: i64,
    /// In minor units.
    total: i64,
}

#[derive(Serialize, ToSchema)]
pub struct CurrencyTotal {
    #[schema(value_type = String)]
    currency: Currency,
    count: i64,
    /// In minor units.
    total: i64,
}

/// Group orders by payment type, with totals; cancelled orders do not count.
#[utoipa::path(get, path = "/orders/grouped-payments", tag = "Reports", params(RestaurantParam, PeriodParams),
    responses((status = 200, body = Data<GroupedPayments>)))]
pub async fn group_payments(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    query: Query,
) -> Result<Data<GroupedPayments>, ApiError> {
    let (restaurant, period) = (query.restaurant()?, query.period()?);
    let sums = reports::payments(&state.app, caller.account, restaurant, period).await?;
    let mut grand: BTreeMap<Currency, (i64, i64)> = BTreeMap::new();
    for ((_, currency), (count, total)) in &sums {
        let sum = grand.entry(*currency).or_default();
        sum.0 += count;
        sum.1 += total;
    }
    let group = |((kind, currency), (count, total)): ((PaymentType, Currency), (i64, i64))| PaymentGroup {
        kind,
        name: kind.name(),
        currency,
        count,
        total,
    };
    Ok(Data::new(GroupedPayments {
        groups: sums.into_iter().map(group).collect(),
        currencies: grand
            .into_iter()
            .map(|(currency, (count, total))| CurrencyTotal {
                currency,
                count,
                total,
            })
            .collect(),
    }))
}
