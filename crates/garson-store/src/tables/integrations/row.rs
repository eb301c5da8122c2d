//! An integration as its row has it.

use crate::Result;
use crate::tables::row::{Cells, columns};
use crate::vault::Vault;
use garson_core::integration::{BranchClaim, Credentials, Health, Integration};
use garson_core::time::Timestamp;

/// An integration and its sealed credentials.
pub type SealedIntegration = (Integration, Option<Vec<u8>>);

columns! {
    pub(crate) const COLUMNS = "i." of integrations {
        id, account_id, restaurant_id, provider, is_active, remote_id, default_cancel_reason, last_order_at,
        last_error_at, last_error, created_at, updated_at, credentials: Option<Vec<u8>>, trouble_at, owns_branch,
        branch_proven_at,
    }
    fn sealed() -> SealedIntegration {
        let integration = Integration {
            id,
            account_id,
            restaurant_id,
            provider,
            is_active,
            remote_id,
            branch: branch_claim(owns_branch, branch_proven_at),
            has_credentials: credentials.is_some(),
            default_cancel_reason,
            health: Health { last_order_at, last_error_at, last_error, trouble_at },
            created_at,
            updated_at,
        };
        Ok((integration, credentials))
    }
}

/// Reads an integration without its credentials.
pub(crate) fn integration(cells: &mut Cells<'_, '_>) -> Result<Integration> {
    Ok(sealed(cells)?.0)
}

/// An integration with the credentials for its platform.
#[derive(Clone, Debug)]
pub struct Connected {
    pub integration: Integration,
    pub credentials: Credentials,
}

pub(crate) fn connected(cells: &mut Cells<'_, '_>, vault: &Vault) -> Result<Connected> {
    let (integration, sealed) = sealed(cells)?;
    let credentials = vault.open_credentials(integration.id.as_bytes(), sealed.as_deref())?;
    Ok(Connected {
        integration,
        credentials,
    })
}

pub(crate) fn branch_claim(owns: bool, proven_at: Option<Timestamp>) -> BranchClaim {
    match (owns, proven_at) {
        (true, _) => BranchClaim::Proven,
        (false, Some(_)) => BranchClaim::Taken,
        (false, None) => BranchClaim::Unproven,
    }
}
