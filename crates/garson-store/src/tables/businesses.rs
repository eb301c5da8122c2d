//! Businesses.

use crate::engine::Row;
use crate::tables::restaurants;
use crate::{Result, Tx, params};
use garson_core::business::{Business, BusinessFields};
use garson_core::id::{AccountId, BusinessId};
use garson_core::time::Timestamp;

const COLUMNS: &str = "id, name, description, vat_number, tax_office, address, city, country, zip_code, phone, email, \
                       created_at, updated_at";

fn business(row: &Row<'_>) -> Result<Business> {
    Ok(Business {
        id: row.get(0)?,
        fields: BusinessFields {
            name: row.get(1)?,
            description: row.get(2)?,
            vat_number: row.get(3)?,
            tax_office: row.get(4)?,
            address: row.get(5)?,
            city: row.get(6)?,
            country: row.get(7)?,
            zip_code: row.get(8)?,
            phone: row.get(9)?,
            email: row.get(10)?,
        },
        created_at: row.get(11)?,
        updated_at: row.get(12)?,
    })
}

/// Writes a business, new or changed. An id that belongs to another account is left alone.
pub fn save(tx: &mut Tx<'_>, account: AccountId, business: &Business) -> Result<()> {
    let fields = &business.fields;
    tx.execute(
        "INSERT INTO businesses (id, account_id, name, description, vat_number, tax_office, address, city, country,
                                 zip_code, phone, email, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (id) DO UPDATE SET name = ?3, description = ?4, vat_number = ?5, tax_office = ?6, address = ?7,
             city = ?8, country = ?9, zip_code = ?10, phone = ?11, email = ?12, updated_at = ?14
         WHERE businesses.account_id = ?2",
        params![
            &business.id,
            &account,
            &fields.name,
            fields.description.as_ref(),
            fields.vat_number.as_ref(),
            fields.tax_office.as_ref(),
            fields.address.as_ref(),
            fields.city.as_ref(),
            fields.country.as_ref(),
            fields.zip_code.as_ref(),
            fields.phone.as_ref(),
            fields.email.as_ref(),
            business.created_at,
            business.updated_at,
        ],
    )?;
    Ok(())
}

pub fn list(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<Business>> {
    let sql = format!("SELECT {COLUMNS} FROM businesses WHERE account_id = ?1 ORDER BY id");
    tx.query(&sql, params![&account], business)
}

pub fn find(tx: &mut Tx<'_>, account: AccountId, id: BusinessId) -> Result<Option<Business>> {
    let sql = format!("SELECT {COLUMNS} FROM businesses WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![&account, &id], business)
}

/// Holds the business for this transaction; `false` when the account has no such business.
pub fn lock(tx: &mut Tx<'_>, account: AccountId, id: BusinessId) -> Result<bool> {
    let sql = "SELECT created_at FROM businesses WHERE account_id = ?1 AND id = ?2 {lock}";
    Ok(tx
        .query_opt(sql, params![&account, &id], |row| row.get::<i64>(0))?
        .is_some())
}

/// Deletes a business and marks its restaurants as deleted; the sweep removes what hangs on those.
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
