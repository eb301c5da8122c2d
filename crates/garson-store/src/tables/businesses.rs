//! Businesses.

use crate::tables::restaurants;
use crate::tables::row::{columns, each, insert, value};
use crate::{Result, Tx, params};
use garson_core::business::{Business, BusinessFields};
use garson_core::id::{AccountId, BusinessId};
use garson_core::time::Timestamp;

columns! {
    const COLUMNS = "" of businesses {
        id, name, description, vat_number, tax_office, address, city, country, zip_code, phone, email, created_at,
        updated_at,
    }
    fn business() -> Business {
        let fields = BusinessFields {
            name,
            description,
            vat_number,
            tax_office,
            address,
            city,
            country,
            zip_code,
            phone,
            email,
        };
        Ok(Business { id, fields, created_at, updated_at })
    }
}

/// Creates or updates a business. Does nothing if the id belongs to another account.
pub fn save(tx: &mut Tx<'_>, account: AccountId, business: &Business) -> Result<()> {
    let fields = &business.fields;
    insert!(
        tx,
        businesses {
            id: &business.id,
            account_id: &account,
            name: &fields.name,
            description: fields.description.as_ref(),
            vat_number: fields.vat_number.as_ref(),
            tax_office: fields.tax_office.as_ref(),
            address: fields.address.as_ref(),
            city: fields.city.as_ref(),
            country: fields.country.as_ref(),
            zip_code: fields.zip_code.as_ref(),
            phone: fields.phone.as_ref(),
            email: fields.email.as_ref(),
            created_at: business.created_at,
            updated_at: business.updated_at,
        },
        "ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description,
             vat_number = excluded.vat_number, tax_office = excluded.tax_office, address = excluded.address,
             city = excluded.city, country = excluded.country, zip_code = excluded.zip_code, phone = excluded.phone,
             email = excluded.email, updated_at = excluded.updated_at
         WHERE businesses.account_id = excluded.account_id"
    )?;
    Ok(())
}

pub fn list(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<Business>> {
    let sql = format!("SELECT {COLUMNS} FROM businesses WHERE account_id = ?1 ORDER BY id");
    tx.query(&sql, params![&account], each(business))
}

pub fn find(tx: &mut Tx<'_>, account: AccountId, id: BusinessId) -> Result<Option<Business>> {
    let sql = format!("SELECT {COLUMNS} FROM businesses WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![&account, &id], each(business))
}

/// Locks the business for this transaction; `false` when the account has no such business.
pub fn lock(tx: &mut Tx<'_>, account: AccountId, id: BusinessId) -> Result<bool> {
    let sql = "SELECT created_at FROM businesses WHERE account_id = ?1 AND id = ?2 {lock}";
    let found = tx.query_opt(sql, params![&account, &id], value::<i64>)?;
    Ok(found.is_some())
}

/// Deletes a business and marks its restaurants as deleted; the sweep removes their rows.
pub fn delete(tx: &mut Tx<'_>, account: AccountId, id: BusinessId, at: Timestamp) -> Result<bool> {
    let deleted = tx.execute(
        "DELETE FROM businesses WHERE account_id = ?1 AND id = ?2",
        params![&account, &id],
    )?;
    if deleted == 0 {
        return Ok(false);
    }
    for restaurant in restaurants::ids_of_business(tx, account, id)? {
        restaurants::delete(tx, account, restaurant, at)?;
    }
    Ok(true)
}
