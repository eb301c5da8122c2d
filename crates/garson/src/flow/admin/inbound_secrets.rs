//! Hashes the inbound secrets of an earlier version again, with the master key.

use crate::app::App;
use crate::flow::Fault;
use garson_core::id::IntegrationId;
use garson_core::secret::Secret;
use garson_store::tables::integrations;
use garson_store::{Partition, Tx, Vault};
use std::sync::Arc;

/// Integrations that are rehashed in one transaction.
const BATCH: i64 = 200;

/// Earlier versions hashed inbound secrets without the master key. Meanwhile a secret is found by both hashes; one that cannot be
/// decrypted stays as it is. Returns the number of secrets that were rehashed.
pub async fn rehash(app: &App) -> Result<u64, Fault> {
    replace(app, integrations::rehash).await
}

/// While the master key is rotated: replaces the hashes that were made with the old one. Returns their number.
pub async fn rehash_rotated(app: &App) -> Result<u64, Fault> {
    replace(app, integrations::rehash_rotated).await
}

/// Replaces the hash of a secret; `false` when it is not one to be replaced.
type Replace = fn(&mut Tx<'_>, &Vault, IntegrationId, &Secret<Vec<u8>>) -> garson_store::Result<bool>;

async fn replace(app: &App, replace: Replace) -> Result<u64, Fault> {
    let (mut after, mut count) = (IntegrationId(uuid::Uuid::nil()), 0);
    loop {
        let (vault, from) = (Arc::clone(&app.vault), after);
        let found = app
            .store
            .read(move |tx| integrations::with_inbound_secret(tx, &vault, from, BATCH))
            .await?;
        let Some(last) = found.last() else {
            return Ok(count);
        };
        after = last.0.id;
        let vault = Arc::clone(&app.vault);
        let rehash = move |tx: &mut Tx<'_>| {
            let mut count = 0;
            for (it, credentials) in &found {
                let secret = garson_platforms::of(it.provider)
                    .and_then(|platform| platform.inbound_secret(credentials.as_ref()?));
                if let Some(secret) = secret
                    && replace(tx, &vault, it.id, &secret)?
                {
                    count += 1;
                }
            }
            Ok::<_, Fault>(count)
        };
        count += app.store.write(Partition::COMMON, rehash).await?;
    }
}
