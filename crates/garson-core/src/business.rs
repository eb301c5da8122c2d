//! A business: the top-level record of an account.

use crate::id::BusinessId;
use crate::time::Timestamp;

/// What people write about a business.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BusinessFields {
    pub name: String,
    pub description: Option<String>,
    pub vat_number: Option<String>,
    pub tax_office: Option<String>,
    pub address: Option<String>,
    pub city: Option<String>,
    pub country: Option<String>,
    pub zip_code: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
}

/// A business as it is kept.
#[derive(Clone, Debug)]
pub struct Business {
    pub id: BusinessId,
    pub fields: BusinessFields,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}
