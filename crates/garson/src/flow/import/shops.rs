//! Businesses, restaurants and their integrations. What is here already stays as it is.

use super::ids::{self, COMMAND, Found};
use crate::app::App;
use crate::flow::admin::integrations::IntegrationChange;
use crate::flow::admin::{businesses, integrations, payment_matching, restaurants};
use crate::flow::{By, Fault};
use garson_core::business::BusinessFields;
use garson_core::id::{AccountId, BusinessId, IntegrationId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::restaurant::{Package, PaymentMatch, RestaurantFields};
use garson_store::tables::imported::IdOf;
use garson_store::tables::integrations as integration_rows;

pub async fn find_business(
    app: &App,
    account: AccountId,
    theirs: String,
) -> Result<Found<BusinessId>, Fault> {
    let find = move |tx: &mut garson_store::Tx<'_>| ids::find(tx, account, IdOf::Business, &theirs);
    Ok(app.store.read(find).await?.map(BusinessId))
}

pub async fn find_restaurant(
    app: &App,
    account: AccountId,
    theirs: String,
) -> Result<Found<RestaurantId>, Fault> {
    let find = move |tx: &mut garson_store::Tx<'_>| ids::find(tx, account, IdOf::Restaurant, &theirs);
    Ok(app.store.read(find).await?.map(RestaurantId))
}

pub async fn business(
    app: &App,
    account: AccountId,
    id: BusinessId,
    fields: BusinessFields,
) -> Result<(), Fault> {
    businesses::create(app, By::operator(account, COMMAND), id, fields).await?;
    Ok(())
}

/// Creates a restaurant. A payment matching address that this installation does not call is left out; returns whether it was.
pub async fn restaurant(
    app: &App,
    account: AccountId,
    id: RestaurantId,
    mut fields: RestaurantFields,
) -> Result<bool, Fault> {
    let is_refused = fields
        .payment_matching_url
        .as_ref()
        .is_some_and(|url| app.net.check_address(url).is_err());
    if is_refused {
        fields.payment_matching_url = None;
        fields.payment_matching_headers = None;
    }
    restaurants::create(app, By::operator(account, COMMAND), id, fields).await?;
    Ok(is_refused)
}

/// What a restaurant has besides its fields.
#[derive(Clone, Debug, Default)]
pub struct ShopSettings {
    /// `None`: the other service shows none.
    pub packages: Option<Vec<Package>>,
    pub matches: Vec<PaymentMatch>,
}

/// Writes the settings of a restaurant that was just created. Its integrations come afterwards, so a restaurant that has one was
/// completed before.
pub async fn complete_restaurant(
    app: &App,
    account: AccountId,
    id: RestaurantId,
    settings: ShopSettings,
) -> Result<(), Fault> {
    let by = By::operator(account, COMMAND);
    if let Some(packages) = settings.packages.filter(|packages| !packages.is_empty()) {
        restaurants::set_packages(app, by.clone(), id, packages).await?;
    }
    if !settings.matches.is_empty() {
        payment_matching::set(app, by, id, settings.matches).await?;
    }
    Ok(())
}

/// A connection to a platform, as the other service shows it.
#[derive(Clone, Debug, Default)]
pub struct ImportedIntegration {
    pub remote_id: Option<String>,
    pub default_cancel_reason: Option<String>,
}

/// The integration of a restaurant with a platform. One that is not here is created: switched off, because its credentials are not
/// known. Returns its id, and what of it was refused.
pub async fn connect(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    provider: Provider,
    shown: &ImportedIntegration,
) -> Result<(IntegrationId, bool, Vec<Fault>), Fault> {
    let vault = std::sync::Arc::clone(&app.vault);
    let find = move |tx: &mut garson_store::Tx<'_>| {
        let found = integration_rows::find(tx, &vault, restaurant, provider)?;
        Ok::<_, Fault>(found.map(|it| it.integration.id))
    };
    if let Some(id) = app.store.read(find).await? {
        return Ok((id, false, Vec::new()));
    }
    let mut refused = Vec::new();
    let mut change = IntegrationChange {
        remote_id: Some(shown.remote_id.clone()),
        default_cancel_reason: Some(shown.default_cancel_reason.clone()),
        ..IntegrationChange::default()
    };
    loop {
        let by = By::operator(account, COMMAND);
        match integrations::put(app, by, restaurant, provider.as_str(), change.clone()).await {
            Ok(integration) => return Ok((integration.id, true, refused)),
            Err(fault @ Fault::ReasonNotAccepted { .. }) if change.default_cancel_reason.is_some() => {
                change.default_cancel_reason = None;
                refused.push(fault);
            }
            Err(fault @ (Fault::RemoteIdTaken { .. } | Fault::Invalid { .. }))
                if change.remote_id.is_some() =>
            {
                change.remote_id = None;
                refused.push(fault);
            }
            Err(fault) => return Err(fault),
        }
    }
}
