//! A connected store: where its messages are sent, and its credentials.

use std::{any::Any, sync::Arc};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    generate::menu::Menu,
    platform::Platform,
    views::{Quirks, StoreRequest, StoreView},
};

pub(crate) type StoreKey = (Platform, String);

#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub platform: Platform,
    pub remote_id: String,
    pub name: String,
    pub hook_url: Option<String>,
    pub credentials: Credentials,
    pub quirks: Quirks,
    pub menu: Menu,
}

/// The credentials of a store, in the type of its platform. `Debug` hides them.
#[derive(Clone)]
pub(crate) struct Credentials(Arc<dyn Any + Send + Sync>);

impl Credentials {
    /// Parses JSON into the type of a platform.
    pub(crate) fn parse<T: DeserializeOwned + Any + Send + Sync>(given: Value) -> Result<Self, String> {
        let parsed: T = serde_json::from_value(given).map_err(|error| format!("credentials: {error}"))?;
        Ok(Self(Arc::new(parsed)))
    }

    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Credentials(…)")
    }
}

impl Store {
    /// `remote_id` is the store's own id within that of the request.
    pub(crate) fn new(
        request: StoreRequest,
        remote_id: String,
        credentials: Credentials,
    ) -> Result<Self, String> {
        let StoreRequest {
            platform,
            name,
            hook_url,
            quirks,
            ..
        } = request;
        if remote_id.is_empty() || remote_id.len() > 200 {
            return Err("remoteId must have 1 to 200 characters".to_owned());
        }
        if hook_url.as_deref().is_some_and(|url| !url.starts_with("http://")) {
            return Err("hookUrl must begin with http://".to_owned());
        }
        if ![100, 200].contains(&quirks.pos_status) {
            return Err("posStatus is 100 or 200".to_owned());
        }
        let menu = Menu::of(platform, &remote_id);
        Ok(Self {
            platform,
            name: name.unwrap_or_else(|| menu.restaurant.to_owned()),
            hook_url: hook_url.map(|url| url.trim_end_matches('/').to_owned()),
            credentials,
            quirks,
            menu,
            remote_id,
        })
    }

    pub(crate) fn key(&self) -> StoreKey {
        (self.platform, self.remote_id.clone())
    }

    /// An id as a number where it is one, as most platforms write it.
    pub(crate) fn numeric(id: &str) -> Value {
        id.parse::<u64>().map_or_else(|_| Value::from(id), Value::from)
    }

    pub(crate) fn view(&self) -> StoreView {
        StoreView {
            platform: self.platform,
            remote_id: self.remote_id.clone(),
            name: self.name.clone(),
            hook_url: self.hook_url.clone(),
            quirks: self.quirks,
        }
    }
}
