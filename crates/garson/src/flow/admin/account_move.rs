//! Moves an account between installations, as an encrypted file.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::record_action::record_action;
use crate::flow::{By, Fault};
use argon2::{Algorithm, Argon2, Params, Version};
use garson_core::account::Account;
use garson_core::account_state::AccountState;
use garson_core::audit::{RecordKind, Verb};
use garson_core::field_problem::FieldProblem;
use garson_core::id::AccountId;
use garson_core::integration::Credentials;
use garson_core::secret::Secret;
use garson_store::tables::{account_states, restaurants};
use garson_store::upkeep::account_export;
use garson_store::upkeep::account_file::{Description, Reader, Salt, Writer};
use garson_store::upkeep::account_import::{self, Target};
use garson_store::{Result as StoreResult, StoreError};
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The shortest passphrase: whoever has the file can try passphrases without limit.
const SHORTEST: usize = 12;
/// Memory (KiB), passes and lanes of the derivation of the key. They belong to version 1 of the format.
const DERIVATION: (u32, u32, u32) = (64 * 1024, 3, 1);

fn derive(passphrase: &Secret<String>, salt: &Salt) -> StoreResult<Secret<[u8; 32]>> {
    let (memory, passes, lanes) = DERIVATION;
    let failed = |_| StoreError::internal("the key cannot be derived from the passphrase");
    let params = Params::new(memory, passes, lanes, Some(32)).map_err(failed)?;
    let mut key = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.expose().as_bytes(), salt, &mut key)
        .map_err(failed)?;
    Ok(Secret::new(key))
}

fn cannot(path: &Path, what: &str, error: &std::io::Error) -> Fault {
    StoreError::refused(format!("{} cannot be {what}: {error}", path.display())).into()
}

/// Exports a disabled account into a new file; returns the number of rows. The file appears under its name when it is complete.
pub async fn export(
    app: &App,
    account: &Account,
    path: &Path,
    passphrase: &Secret<String>,
) -> Result<u64, Fault> {
    if passphrase.expose().chars().count() < SHORTEST {
        let min = SHORTEST;
        return Err(Fault::invalid(
            "passphrase",
            FieldProblem::PasswordTooShort { min },
        ));
    }
    let id = account.id;
    let found = app
        .store
        .read(move |tx| Ok::<_, Fault>(account_states::find(tx, id)?))
        .await?;
    if found.state != AccountState::Disabled {
        return Err(Fault::NotDisabled);
    }
    if path.exists() {
        return Err(StoreError::refused(format!("{} exists already", path.display())).into());
    }
    let draft = draft_of(path);
    let mut options = OpenOptions::new();
    // An interrupted export may have left a draft.
    options.write(true).create(true).truncate(true).mode(0o600);
    let file = options
        .open(&draft)
        .map_err(|error| cannot(&draft, "created", &error))?;
    // Before the data is read, so that the file has the entry.
    let by = By::operator(account.id, "account export");
    record_action(
        app,
        by,
        Recorded::new(RecordKind::Account, Verb::Exported).id(account.id),
    )
    .await?;
    let written = write(app, account, file, passphrase).await;
    let rows = match written {
        Ok(rows) => rows,
        Err(fault) => {
            // Nothing of use is in it.
            let _ = std::fs::remove_file(&draft);
            return Err(fault);
        }
    };
    // A hard link fails if the file exists: nothing is overwritten.
    std::fs::hard_link(&draft, path).map_err(|error| cannot(path, "created", &error))?;
    std::fs::remove_file(&draft).map_err(|error| cannot(&draft, "removed", &error))?;
    Ok(rows)
}

fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    PathBuf::from(name)
}

async fn write(app: &App, account: &Account, file: File, passphrase: &Secret<String>) -> Result<u64, Fault> {
    let id = account.id;
    let restaurants = app.store.read(move |tx| restaurants::all_ids(tx, id)).await?;
    let description = Description {
        account: account.id.to_string(),
        email: account.email.clone(),
        name: account.name.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        exported_at: app.now().as_millis(),
        restaurants,
    };
    let writer = Writer::begin(
        BufWriter::new(file),
        |salt| derive(passphrase, salt),
        &description,
    )?;
    let (file, rows) = account_export::export(&app.store, Arc::clone(&app.vault), account.id, writer).await?;
    let durable = file.into_inner().map_err(std::io::IntoInnerError::into_error);
    let durable = durable.and_then(|file| file.sync_all());
    durable
        .map_err(|error| Fault::from(StoreError::refused("the file cannot be written").caused_by(error)))?;
    Ok(rows)
}

/// Imports an account from a file; it is disabled then. Returns it, and the number of rows.
pub async fn import(
    app: &App,
    path: &Path,
    passphrase: &Secret<String>,
) -> Result<(Description, u64), Fault> {
    let file = File::open(path).map_err(|error| cannot(path, "opened", &error))?;
    let (reader, description) = Reader::begin(BufReader::new(file), |salt| derive(passphrase, salt))?;
    let account: AccountId = description
        .account
        .parse()
        .map_err(|_| StoreError::refused("the file is damaged: it names no account"))?;
    let target = Target {
        engine: app.store.clone(),
        vault: Arc::clone(&app.vault),
        account,
        inbound: Arc::new(inbound_secret),
        clock: Arc::clone(&app.clock),
    };
    let rows = account_import::import(&target, &description, reader).await?;
    let by = By::operator(account, "account import");
    record_action(
        app,
        by,
        Recorded::new(RecordKind::Account, Verb::Imported).id(account),
    )
    .await?;
    Ok((description, rows))
}

fn inbound_secret(provider: &str, credentials: &Credentials) -> Option<Secret<Vec<u8>>> {
    let platform = garson_platforms::of(provider.parse().ok()?)?;
    platform.inbound_secret(credentials)
}
