//! What can be written about a business.

use super::patch::Patch;
use super::values::{Line, Name, Prose};
use garson_core::business::BusinessFields;

/// In an update a missing field stays and null clears it.
pub struct BusinessInput {
    pub name: Name,
    pub description: Patch<Prose>,
    pub vat_number: Patch<Line>,
    pub tax_office: Patch<Line>,
    pub address: Patch<Prose>,
    pub city: Patch<Line>,
    pub country: Patch<Line>,
    pub zip_code: Patch<Line>,
    pub phone: Patch<Line>,
    pub email: Patch<Line>,
}

impl BusinessInput {
    pub fn apply(&self, fields: &mut BusinessFields) {
        self.name.as_str().clone_into(&mut fields.name);
        self.description.apply_text(&mut fields.description);
        self.vat_number.apply_text(&mut fields.vat_number);
        self.tax_office.apply_text(&mut fields.tax_office);
        self.address.apply_text(&mut fields.address);
        self.city.apply_text(&mut fields.city);
        self.country.apply_text(&mut fields.country);
        self.zip_code.apply_text(&mut fields.zip_code);
        self.phone.apply_text(&mut fields.phone);
        self.email.apply_text(&mut fields.email);
    }
}
