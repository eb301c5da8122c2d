//! Roles as people call them.

use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::words::{Lang, UserWords};
use garson_core::channel::Language;
use garson_core::role::Role;

pub fn role_name(t: &UserWords, role: Role) -> &'static str {
    match role {
        Role::Owner => t.owner,
        Role::Manager => t.manager,
        Role::Shift => t.shift,
        Role::Accountant => t.accountant,
        Role::Developer => t.developer,
        Role::ReadOnly => t.read_only,
    }
}

/// What a role may do, in a sentence.
pub fn role_text(t: &UserWords, role: Role) -> &'static str {
    match role {
        Role::Owner => t.owner_may,
        Role::Manager => t.manager_may,
        Role::Shift => t.shift_may,
        Role::Accountant => t.accountant_may,
        Role::Developer => t.developer_may,
        Role::ReadOnly => t.read_only_may,
    }
}

/// The choice of a language.
pub fn language_field(t: &UserWords, chosen: Language) -> Field {
    let choices = [(Language::Tr, t.turkish), (Language::En, t.english)];
    let choices = choices.map(|(it, name)| Choice::new(it.as_str(), name, it == chosen));
    Field::new("language", t.language, FieldKind::Select(choices.into()))
}

/// The same language of a user.
pub fn language_of(lang: Lang) -> Language {
    match lang {
        Lang::Tr => Language::Tr,
        Lang::En => Language::En,
    }
}
