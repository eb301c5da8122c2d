//! Query parameters: pages, filters, times. Errors name the parameter.

use crate::flow::admin::input::restaurant_id;
use crate::flow::read::order_lists::Filter;
use crate::flow::read::period::{Moment, Period};
use crate::flow::read::{Direction, PageRequest};
use crate::http::cursor::Cursor;
use crate::http::error::{ApiError, Code};
use axum::extract::FromRequestParts;
use garson_core::id::RestaurantId;
use garson_core::order::{MAX_PREPARATION_MINUTES, Status};
use garson_core::platform::Provider;
use garson_core::presence::PresenceKind;
use http::request::Parts;
use std::time::Duration;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// The query parameters of a request.
pub struct Query(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let given = url::form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes());
        Ok(Self(given.into_owned().collect()))
    }
}

fn wrong(name: &str, message: &str) -> ApiError {
    ApiError::invalid(Code::InvalidParameter, name, message)
}

impl Query {
    /// A parameter that may be given once.
    pub fn get(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let mut given = self
            .0
            .iter()
            .filter(|(n, _)| n == name)
            .map(|(_, value)| value.as_str());
        let value = given.next();
        if given.next().is_some() {
            return Err(wrong(name, "is given more than once"));
        }
        match value {
            Some(value) if value.contains('\0') => Err(wrong(name, "holds a NUL character")),
            value => Ok(value),
        }
    }

    pub fn required(&self, name: &str) -> Result<&str, ApiError> {
        self.get(name)?.ok_or_else(|| wrong(name, "is required"))
    }

    /// How many entries a page has.
    pub fn limit(&self) -> Result<usize, ApiError> {
        match self.get("limit")? {
            None => Ok(50),
            Some(text) => text
                .parse::<usize>()
                .ok()
                .filter(|limit| (1..=200).contains(limit))
                .ok_or_else(|| wrong("limit", "must be a whole number from 1 to 200")),
        }
    }

    /// The page that `limit`, `cursor` and `dir` select.
    pub fn page(&self) -> Result<PageRequest, ApiError> {
        let limit = self.limit()?;
        let cursor = match self.get("cursor")? {
            None => None,
            Some(text) => {
                let broken =
                    || ApiError::invalid(Code::InvalidCursor, "cursor", "is not one that was given out");
                Some(Cursor::parse(text).ok_or_else(broken)?.0)
            }
        };
        let direction = match self.get("dir")? {
            None | Some("next") => Direction::Older,
            Some("prev") => Direction::Newer,
            Some(_) => return Err(wrong("dir", "must be next or prev")),
        };
        Ok(PageRequest {
            limit,
            cursor,
            direction,
        })
    }

    /// How long to wait for a page that is not empty. New items appear only towards newer ones.
    pub fn wait(&self, page: &PageRequest) -> Result<Option<Duration>, ApiError> {
        let Some(text) = self.get("wait")? else {
            return Ok(None);
        };
        let seconds = text.parse().ok().filter(|seconds| (1..=60).contains(seconds));
        let seconds = seconds.ok_or_else(|| wrong("wait", "must be a whole number from 1 to 60"))?;
        match page.direction {
            Direction::Newer => Ok(Some(Duration::from_secs(seconds))),
            Direction::Older => Err(wrong("wait", "needs dir=prev: nothing comes among older ones")),
        }
    }

    /// What the program says that it is.
    pub fn client(&self) -> Result<Client, ApiError> {
        match self.get("client")? {
            None => Ok(Client::Other),
            Some("printer") => Ok(Client::Printer),
            Some(_) => Err(wrong("client", "must be printer")),
        }
    }

    /// The time that the kitchen needs for an order.
    pub fn preparation_minutes(&self) -> Result<Option<u32>, ApiError> {
        let name = "preparationMinutes";
        let Some(text) = self.get(name)? else {
            return Ok(None);
        };
        let minutes = text.parse().ok();
        let minutes = minutes.filter(|minutes| (1..=MAX_PREPARATION_MINUTES).contains(minutes));
        let minutes = minutes.ok_or_else(|| wrong(name, "must be a whole number from 1 to 240"))?;
        Ok(Some(minutes))
    }

    /// The restaurant of a filter.
    pub fn restaurant(&self) -> Result<Option<RestaurantId>, ApiError> {
        Ok(self.get("restaurantId")?.map(restaurant_id).transpose()?)
    }

    pub fn statuses(&self) -> Result<Vec<Status>, ApiError> {
        let Some(list) = self.get("status")? else {
            return Ok(Vec::new());
        };
        let known = |text: &str| text.trim().parse().ok().and_then(Status::from_code);
        let mut statuses = Vec::new();
        for text in list.split(',') {
            let status = known(text)
                .ok_or_else(|| wrong("status", "must be a list of status codes such as 400,500"))?;
            if !statuses.contains(&status) {
                statuses.push(status);
            }
        }
        Ok(statuses)
    }

    /// The filter of a list of orders.
    pub fn filter(&self) -> Result<Filter, ApiError> {
        let is_open = match self.get("open")? {
            None => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) => return Err(wrong("open", "must be true or false")),
        };
        Ok(Filter {
            restaurant: self.restaurant()?,
            statuses: self.statuses()?,
            providers: self.providers()?,
            is_open,
            period: self.period()?,
            updated_since: self.moment("updatedSince")?,
        })
    }

    fn providers(&self) -> Result<Vec<Provider>, ApiError> {
        let Some(list) = self.get("provider")? else {
            return Ok(Vec::new());
        };
        let known = |key: &str| garson_platforms::find(key.trim()).map(|platform| platform.provider());
        let providers: Option<Vec<Provider>> = list.split(',').map(known).collect();
        providers.ok_or_else(|| {
            let keys = garson_platforms::all()
                .iter()
                .map(|platform| platform.provider().to_string());
            let keys: Vec<String> = keys.collect();
            wrong(
                "provider",
                &format!("must be a list of platforms: {}", keys.join(", ")),
            )
        })
    }

    /// Is the full detail of each order requested?
    pub fn includes_detail(&self) -> Result<bool, ApiError> {
        match self.get("include")? {
            None => Ok(false),
            Some("detail") => Ok(true),
            Some(_) => Err(wrong("include", "must be detail")),
        }
    }

    pub fn period(&self) -> Result<Period, ApiError> {
        Ok(Period {
            from: self.moment("from")?,
            to: self.moment("to")?,
        })
    }

    fn moment(&self, name: &str) -> Result<Option<Moment>, ApiError> {
        let Some(text) = self.get(name)? else {
            return Ok(None);
        };
        if garson_core::time::Zone::istanbul().start_of_day(text).is_some() {
            return Ok(Some(Moment::Day(text.to_owned())));
        }
        // A plus sign that was not encoded arrives as a space.
        let instant = text.replace(' ', "+").parse();
        instant.map(|at| Some(Moment::At(at))).map_err(|_| {
            wrong(
                name,
                "must be a timestamp such as 2026-03-01T12:00:00Z, or a day such as 2026-03-01",
            )
        })
    }
}

/// Which page of a list.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct PageParams {
    /// How many to answer.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The next position, from `paging` of an earlier answer.
    #[param(pattern = "^[0-7][0-9a-f]{15}$")]
    cursor: Option<String>,
    /// Towards older ones (`next`, the default) or newer ones (`prev`).
    #[param(inline)]
    dir: Option<Dir>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct WaitParam {
    /// With `dir=prev`: when there is nothing newer, wait up to so many seconds until there is.
    #[param(minimum = 1, maximum = 60)]
    wait: Option<u32>,
}

/// What a program says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    Printer,
    Other,
}

impl Client {
    /// As what it is present; `otherwise` for a program that says nothing.
    pub fn kind(self, otherwise: PresenceKind) -> PresenceKind {
        match self {
            Self::Printer => PresenceKind::Printer,
            Self::Other => otherwise,
        }
    }
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct ClientParam {
    /// `printer`: the program only prints. It is listed as a printer, and does not count as watching the orders.
    #[param(inline)]
    client: Option<ClientKind>,
}

#[derive(utoipa::ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
pub enum ClientKind {
    Printer,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct PreparationParam {
    /// The time that the kitchen needs for the order, in minutes.
    #[param(rename = "preparationMinutes", minimum = 1, maximum = 240)]
    preparation_minutes: Option<u32>,
}

#[derive(utoipa::ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
pub enum Dir {
    Next,
    Prev,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct RestaurantParam {
    /// Only those of this restaurant.
    #[param(rename = "restaurantId")]
    restaurant_id: Option<String>,
}

/// The days of this century: months have 31, 30 or 28 days, and each fourth year has a 29 February.
const DAY_PATTERN: &str = "20([0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|\
    02-(0[1-9]|1[0-9]|2[0-8]))|([02468][048]|[13579][26])-02-29)";
const TIME_PATTERN: &str = r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,3})?Z";

/// A day such as `2026-01-31`.
pub struct DayText;

impl PartialSchema for DayText {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(Type::String);
        text.pattern(Some(format!("^{DAY_PATTERN}$"))).into()
    }
}

impl ToSchema for DayText {}

/// A day or a timestamp.
struct MomentText;

impl PartialSchema for MomentText {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(Type::String);
        text.pattern(Some(format!("^{DAY_PATTERN}({TIME_PATTERN})?$")))
            .into()
    }
}

impl ToSchema for MomentText {}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct PeriodParams {
    /// Arrived at this time or later: a timestamp, or a day where the restaurant is.
    #[param(value_type = Option<MomentText>, inline, example = "2026-01-31")]
    from: Option<String>,
    /// Arrived before this time; a day is part of the period.
    #[param(value_type = Option<MomentText>, inline, example = "2026-01-31")]
    to: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct StatusParam {
    /// Only orders in these statuses, as a comma list.
    #[param(pattern = "^(325|350|400|500|600|900|1500|1600)(,(325|350|400|500|600|900|1500|1600))*$")]
    status: Option<String>,
}

/// A comma list of platform keys.
struct ProviderList;

impl PartialSchema for ProviderList {
    fn schema() -> RefOr<Schema> {
        let keys: Vec<_> = garson_platforms::all()
            .iter()
            .map(|platform| platform.provider().to_string())
            .collect();
        let keys = keys.join("|");
        let list = ObjectBuilder::new().schema_type(Type::String);
        list.pattern(Some(format!("^({keys})(,({keys}))*$"))).into()
    }
}

impl ToSchema for ProviderList {}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct FilterParams {
    /// Only orders of these platforms, as a comma list of their keys.
    #[param(value_type = Option<ProviderList>, inline, example = "getir,migros")]
    provider: Option<String>,
    /// `true`: only orders that have not come to an end (status below 900); `false`: only those that have.
    open: Option<bool>,
    /// Only orders that have changed at this time or later, those that have just come included, in the order of their last
    /// change: an instant, or a day where the restaurant is.
    #[param(
        rename = "updatedSince",
        value_type = Option<MomentText>,
        inline,
        example = "2026-01-31T12:00:00Z"
    )]
    updated_since: Option<String>,
    /// `detail`: everything that is known of each order, as the detail answers it.
    #[param(inline)]
    include: Option<Include>,
}

#[derive(utoipa::ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
pub enum Include {
    Detail,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query(
            url::form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    #[test]
    fn malformed_cursors_are_rejected() {
        let error = query("cursor=1").page().unwrap_err();
        assert_eq!(error.code, Code::InvalidCursor);
    }

    #[test]
    fn limits_out_of_range_are_rejected() {
        for wrong in [
            "0",
            "201",
            "-1",
            "",
            "x",
            "1.5",
            "99999999999999999999",
            "1&limit=2",
        ] {
            let error = query(&format!("limit={wrong}")).page().unwrap_err();
            assert_eq!(error.code, Code::InvalidParameter, "{wrong}");
        }
        assert_eq!(query("limit=200").page().unwrap().limit, 200);
        assert_eq!(query("").page().unwrap().limit, 50);
    }

    #[test]
    fn only_printers_say_what_they_are() {
        let kind = |text: &str| query(text).client().unwrap().kind(PresenceKind::Stream);
        assert_eq!(kind("client=printer"), PresenceKind::Printer);
        assert_eq!(kind("limit=1"), PresenceKind::Stream);
        for wrong in ["client=", "client=board", "client=printer&client=printer"] {
            let error = query(wrong).client().unwrap_err();
            assert_eq!(error.code, Code::InvalidParameter, "{wrong}");
        }
    }

    #[test]
    fn times_are_timestamps_or_days() {
        let from = |text: &str| query(&format!("from={text}")).period().map(|p| p.from);
        assert_eq!(
            from("2026-03-01").unwrap(),
            Some(Moment::Day("2026-03-01".to_owned()))
        );
        assert!(matches!(
            from("2026-03-01T12:00:00Z").unwrap(),
            Some(Moment::At(_))
        ));
        assert!(matches!(
            from("2026-03-01T12:00:00+03:00").unwrap(),
            Some(Moment::At(_))
        ));
        for wrong in ["", "2026-02-30", "today", "2026-03-01T12:00"] {
            assert!(from(wrong).is_err(), "{wrong}");
        }
    }
}
