//! Businesses, restaurants and what belongs to them.

use super::answer::{id, record, records, segment, short};
use super::source::Source;
use super::summary::{Summary, Tally};
use crate::app::App;
use crate::cli::command::{CommandError, failed};
use crate::flow::admin::input::{
    Degrees, ForeignId, JsonObject, Line, MatchingHeaders, Name, PackageInput, Patch, PaymentMatchInput,
    Prose, RestaurantInput, packages, payment_matches,
};
use crate::flow::admin::restaurants;
use crate::flow::import::{self, Found, ImportedIntegration, ShopSettings};
use garson_core::business::BusinessFields;
use garson_core::id::{AccountId, BusinessId, IntegrationId, RestaurantId};
use garson_core::payment::PaymentType;
use garson_core::platform::Provider;
use garson_core::restaurant::RestaurantFields;
use garson_core::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Read back instead of a value that the key may not see.
const MASK: &str = "***";

/// What the orders need to know of the restaurants.
#[derive(Default)]
pub struct Shops {
    /// By their ids at the other service.
    pub restaurants: HashMap<String, RestaurantId>,
    pub integrations: HashMap<(RestaurantId, Provider), IntegrationId>,
}

/// The connector of a platform, if this service has it.
pub fn provider(key: &str) -> Option<Provider> {
    garson_platforms::find(key).map(|platform| platform.provider())
}

pub async fn import(
    app: &App,
    account: AccountId,
    source: &Source,
    summary: &mut Summary,
) -> Result<Shops, CommandError> {
    let mut businesses = HashMap::new();
    for (value, _) in read_all(source, "/businesses").await? {
        let (theirs, ours) = business(app, account, &value, summary).await?;
        businesses.insert(theirs, ours);
    }
    let mut shops = Shops::default();
    for (value, config) in read_all(source, "/restaurants").await? {
        let wrong = |problem: String| wrong("/restaurants", &value, &problem);
        let theirs = id(&value, "id").map_err(wrong)?;
        let business = match &value["businessId"] {
            Value::Null => None,
            _ => businesses.get(&id(&value, "businessId").map_err(wrong)?).copied(),
        };
        let fields = restaurant_fields(&value, config, business, summary).map_err(wrong)?;
        let shop = Shop {
            app,
            account,
            source,
            value: &value,
            theirs: &theirs,
        };
        if let Some(ours) = shop.import(fields, &mut shops, summary).await? {
            shops.restaurants.insert(theirs, ours);
        }
    }
    Ok(shops)
}

/// An error that names the path and the record.
fn wrong(path: &str, value: &Value, problem: &str) -> CommandError {
    let record = id(value, "id").map_or_else(|_| "a record".to_owned(), |id| format!("record {id}"));
    CommandError(format!("GET {path}: {record} cannot be read: {problem}"))
}

/// All records of a list, with their `config` as it is written.
async fn read_all(source: &Source, path: &str) -> Result<Vec<(Value, Option<String>)>, CommandError> {
    #[derive(Deserialize)]
    struct Raw {
        data: Vec<RawRecord>,
    }
    #[derive(Deserialize)]
    struct RawRecord {
        config: Option<Box<RawValue>>,
    }
    let (mut all, mut cursors, mut next) = (Vec::new(), HashSet::new(), None::<String>);
    loop {
        let place = match &next {
            Some(cursor) => format!("{path}?limit=200&cursor={}", segment(cursor)),
            None => path.to_owned(),
        };
        let mut answer = source.get(&place).await?;
        let values = records(&mut answer)
            .map_err(|problem| CommandError(format!("GET {path}: the answer cannot be read: {problem}")))?;
        let raw: Raw = serde_json::from_slice(&answer.body).unwrap_or(Raw { data: Vec::new() });
        let mut configs = raw.data.into_iter();
        for value in values {
            let config = configs.next().and_then(|raw| raw.config);
            all.push((value, config.map(|raw| raw.get().to_owned())));
        }
        match answer.next {
            None => return Ok(all),
            Some(cursor) if cursors.insert(cursor.clone()) => next = Some(cursor),
            Some(_) => {
                return Err(CommandError(format!(
                    "GET {path}: the pages repeat and have no end"
                )));
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BusinessRecord {
    name: Name,
    description: Option<Prose>,
    vat_number: Option<Line>,
    tax_office: Option<Line>,
    address: Option<Prose>,
    city: Option<Line>,
    country: Option<Line>,
    zip_code: Option<Line>,
    phone: Option<Line>,
    email: Option<Line>,
}

async fn business(
    app: &App,
    account: AccountId,
    value: &Value,
    summary: &mut Summary,
) -> Result<(String, BusinessId), CommandError> {
    let wrong = |problem: String| wrong("/businesses", value, &problem);
    let theirs = id(value, "id").map_err(wrong)?;
    let read: BusinessRecord = record(value).map_err(wrong)?;
    let fields = BusinessFields {
        name: read.name.into_string(),
        description: read.description.map(Prose::into_string),
        vat_number: read.vat_number.map(Line::into_string),
        tax_office: read.tax_office.map(Line::into_string),
        address: read.address.map(Prose::into_string),
        city: read.city.map(Line::into_string),
        country: read.country.map(Line::into_string),
        zip_code: read.zip_code.map(Line::into_string),
        phone: read.phone.map(Line::into_string),
        email: read.email.map(Line::into_string),
    };
    let found = import::find_business(app, account, theirs.clone())
        .await
        .map_err(failed)?;
    let is_dry = summary.dry_run;
    let tally = &mut summary.businesses;
    tally.read += 1;
    let ours = match found {
        Found::Here(ours) => {
            tally.known += 1;
            ours
        }
        Found::New(ours) => {
            if !is_dry {
                import::business(app, account, ours, fields)
                    .await
                    .map_err(failed)?;
            }
            tally.imported += 1;
            ours
        }
        Found::Deleted => return Err(being_removed("business", &theirs)),
    };
    Ok((theirs, ours))
}

fn being_removed(what: &str, theirs: &str) -> CommandError {
    CommandError(format!(
        "the {what} {theirs} was deleted here and is still being removed: run the same command again later"
    ))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RestaurantRecord {
    name: Name,
    description: Option<Prose>,
    address: Option<Prose>,
    lat: Option<Degrees<90>>,
    lon: Option<Degrees<180>>,
    payment_matching_url: Option<String>,
    payment_matching_headers: Option<BTreeMap<String, String>>,
}

fn restaurant_fields(
    value: &Value,
    config: Option<String>,
    business: Option<BusinessId>,
    summary: &mut Summary,
) -> Result<RestaurantFields, String> {
    let read: RestaurantRecord = record(value)?;
    let config = config.map(|text| JsonObject::parse(&text)).transpose();
    let config = config.map_err(|problem| format!("config: {problem}"))?;
    let mut headers = read.payment_matching_headers;
    if headers
        .as_ref()
        .is_some_and(|headers| headers.values().any(|value| value == MASK))
    {
        summary.note(
            "paymentMatchingHeaders are hidden from this key: enter them again, or use the primary key",
        );
        headers = None;
    }
    let headers = headers.map(MatchingHeaders::parse).transpose();
    let input = RestaurantInput {
        name: Some(read.name),
        business_id: Patch::from(business),
        description: Patch::from(read.description),
        address: Patch::from(read.address),
        lat: Patch::from(read.lat),
        lon: Patch::from(read.lon),
        config: Patch::from(config),
        payment_matching_url: Patch::from(read.payment_matching_url),
        payment_matching_headers: Patch::from(headers.map_err(|fault| fault.to_string())?),
    };
    let mut fields = RestaurantFields::default();
    input.apply(&mut fields);
    Ok(fields)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IntegrationRecord {
    provider: String,
    remote_id: Option<ForeignId>,
    default_cancel_reason: Option<ForeignId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PackageRecord {
    name: Name,
    providers: Option<Vec<String>>,
    starts_at: Option<Timestamp>,
    ends_at: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MatchRecord {
    provider: String,
    #[serde(rename = "type")]
    kind: Option<PaymentType>,
    provider_code: Option<ForeignId>,
    matched_id: ForeignId,
}

/// A restaurant that is imported.
struct Shop<'a> {
    app: &'a App,
    account: AccountId,
    source: &'a Source,
    value: &'a Value,
    theirs: &'a str,
}

impl Shop<'_> {
    async fn import(
        &self,
        fields: RestaurantFields,
        shops: &mut Shops,
        summary: &mut Summary,
    ) -> Result<Option<RestaurantId>, CommandError> {
        let integrations: Vec<IntegrationRecord> = self.part("integrations")?.unwrap_or_default();
        let (app, account) = (self.app, self.account);
        let found = import::find_restaurant(app, account, self.theirs.to_owned())
            .await
            .map_err(failed)?;
        summary.restaurants.read += 1;
        let (ours, is_new) = match found {
            Found::Here(ours) => (ours, false),
            Found::New(ours) => (ours, true),
            Found::Deleted => return Err(being_removed("restaurant", self.theirs)),
        };
        let tally = &mut summary.restaurants;
        *(if is_new {
            &mut tally.imported
        } else {
            &mut tally.known
        }) += 1;
        if summary.dry_run {
            count_integrations(
                app,
                account,
                (ours, is_new),
                &integrations,
                &mut summary.integrations,
            )
            .await?;
            return Ok(Some(ours));
        }
        let name = fields.name.clone();
        let mut is_complete = false;
        if is_new {
            let is_left_out = import::restaurant(app, account, ours, fields)
                .await
                .map_err(|fault| wrong("/restaurants", self.value, &fault.to_string()))?;
            if is_left_out {
                summary.note("a paymentMatchingUrl was left out, because this installation does not call such addresses");
            }
        } else {
            let here = restaurants::get(app, account, ours).await.map_err(failed)?;
            // An interrupted import may have left it without its settings.
            is_complete = !here.integrations.is_empty() || integrations.is_empty();
        }
        if !is_complete {
            let settings = ShopSettings {
                packages: self.packages()?,
                matches: self.matches(summary).await?,
            };
            import::complete_restaurant(app, account, ours, settings)
                .await
                .map_err(failed)?;
        }
        for shown in integrations {
            self.connect(ours, &name, shown, shops, summary).await?;
        }
        Ok(Some(ours))
    }

    /// A part of the record.
    fn part<T: serde::de::DeserializeOwned>(&self, field: &str) -> Result<Option<T>, CommandError> {
        let part = record(&self.value[field]);
        part.map_err(|problem| wrong("/restaurants", self.value, &format!("{field}: {problem}")))
    }

    async fn connect(
        &self,
        restaurant: RestaurantId,
        name: &str,
        shown: IntegrationRecord,
        shops: &mut Shops,
        summary: &mut Summary,
    ) -> Result<(), CommandError> {
        summary.integrations.read += 1;
        let Some(provider) = provider(&shown.provider) else {
            summary.integrations.skipped += 1;
            summary.note(format!(
                "this service has no platform {:?}",
                short(&shown.provider)
            ));
            return Ok(());
        };
        let wanted = ImportedIntegration {
            remote_id: shown.remote_id.map(ForeignId::into_string),
            default_cancel_reason: shown.default_cancel_reason.map(ForeignId::into_string),
        };
        let (id, is_new, refused) = import::connect(self.app, self.account, restaurant, provider, &wanted)
            .await
            .map_err(failed)?;
        shops.integrations.insert((restaurant, provider), id);
        let tally = &mut summary.integrations;
        *(if is_new {
            &mut tally.imported
        } else {
            &mut tally.known
        }) += 1;
        if is_new {
            summary.note(format!(
                "{name}: enter the credentials of {provider} and switch it on (they cannot be read from the other service)"
            ));
        }
        for fault in refused {
            summary.note(format!("{name}, {provider}: left out: {fault}"));
        }
        Ok(())
    }

    fn packages(&self) -> Result<Option<Vec<garson_core::restaurant::Package>>, CommandError> {
        let Some(shown) = self.part::<Vec<PackageRecord>>("packages")? else {
            return Ok(None);
        };
        let all = garson_platforms::all().len();
        let inputs = shown.into_iter().filter_map(|package| {
            let known = package.providers.map(|mut keys| {
                keys.retain(|key| provider(key).is_some());
                keys
            });
            // A package of platforms that are unknown here is of no use.
            (known.as_ref().is_none_or(|keys| !keys.is_empty())).then(|| PackageInput {
                name: package.name,
                providers: known.filter(|keys| keys.len() < all),
                starts_at: package.starts_at,
                ends_at: package.ends_at,
            })
        });
        let read = packages(inputs.collect(), self.app.now());
        let read = read.map_err(|fault| wrong("/restaurants", self.value, &fault.to_string()))?;
        Ok(Some(read))
    }

    /// The payment matches, if the service has them.
    async fn matches(
        &self,
        summary: &mut Summary,
    ) -> Result<Vec<garson_core::restaurant::PaymentMatch>, CommandError> {
        let path = format!("/restaurants/{}/payment-matching", segment(self.theirs));
        let answer = match self.source.get(&path).await {
            Ok(answer) => answer,
            Err(error) if matches!(error.status, Some(404 | 405 | 501)) => return Ok(Vec::new()),
            Err(error) if error.status == Some(403) => {
                summary.note("the key may not read payment matches: enter them again");
                return Ok(Vec::new());
            }
            Err(error) => return Err(error.into()),
        };
        let read =
            |problem: String| CommandError(format!("GET {path}: the answer cannot be read: {problem}"));
        let shown: Option<Vec<MatchRecord>> = record(&answer.data["matches"]).map_err(read)?;
        let inputs = shown.unwrap_or_default().into_iter();
        let inputs = inputs
            .filter(|it| provider(&it.provider).is_some())
            .map(|it| PaymentMatchInput {
                provider: it.provider,
                payment_type: it.kind,
                provider_code: it.provider_code,
                matched_id: it.matched_id,
            });
        payment_matches(inputs.collect()).map_err(|fault| read(fault.to_string()))
    }
}

/// Counts what [`Shop::connect`] would do.
async fn count_integrations(
    app: &App,
    account: AccountId,
    (restaurant, is_new): (RestaurantId, bool),
    shown: &[IntegrationRecord],
    tally: &mut Tally,
) -> Result<(), CommandError> {
    let here = if is_new {
        Vec::new()
    } else {
        let found = restaurants::get(app, account, restaurant).await.map_err(failed)?;
        found.integrations
    };
    for integration in shown {
        tally.read += 1;
        match provider(&integration.provider) {
            None => tally.skipped += 1,
            Some(provider) if here.iter().any(|it| it.provider == provider) => tally.known += 1,
            Some(_) => tally.imported += 1,
        }
    }
    Ok(())
}
