//! Every setting with its default and its description, read from the documented default configuration.

use super::settings_turkish::turkish;
use crate::config;
use crate::panel::words::{BookWords, Lang};
use std::fmt::Write;

/// A setting as the file has it.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    name: String,
    default: String,
    /// The comment above it; it also describes the settings below that have none of their own.
    about: String,
}

#[derive(Debug, PartialEq, Eq)]
struct Table {
    name: String,
    about: String,
    settings: Vec<Setting>,
}

impl Table {
    /// The name of a setting with that of its table.
    fn key(&self, name: &str) -> String {
        match self.name.as_str() {
            "" => name.to_owned(),
            table => format!("{table}.{name}"),
        }
    }
}

/// The description in the language of the page.
fn described<'a>(key: &str, english: &'a str, lang: Lang) -> &'a str {
    match lang {
        Lang::Tr => turkish(key).unwrap_or(english),
        Lang::En => english,
    }
}

/// The tables of the file, in its order; that without a name comes first.
fn tables(text: &str) -> Vec<Table> {
    let table = |name: &str, about: String| Table {
        name: name.to_owned(),
        about,
        settings: Vec::new(),
    };
    let mut tables = vec![table("", String::new())];
    let mut about = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix('#') {
            if !about.is_empty() {
                about.push(' ');
            }
            about.push_str(comment.trim());
        } else if line.is_empty() {
            // The head of the file is followed by an empty line and belongs to no setting.
            about.clear();
        } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            tables.push(table(name, std::mem::take(&mut about)));
        } else if let (Some((name, default)), Some(table)) = (line.split_once(" = "), tables.last_mut()) {
            table.settings.push(Setting {
                name: name.to_owned(),
                default: default.to_owned(),
                about: std::mem::take(&mut about),
            });
        }
    }
    tables
}

fn variable(table: &str, name: &str) -> String {
    let key = match table {
        "" => name.to_owned(),
        table => format!("{}__{name}", table.replace('.', "__")),
    };
    format!("GARSON_{}", key.to_uppercase())
}

/// Text of the file as Markdown: only its backticks are markup.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut is_code = false;
    for letter in text.chars() {
        is_code ^= letter == '`';
        // A bar ends a cell of a table even in code.
        if letter == '|' || !is_code && matches!(letter, '\\' | '*' | '_' | '<' | '[' | ']' | '#') {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

pub fn text(lang: Lang) -> String {
    let t = BookWords::of(lang);
    let mut text = String::new();
    for table in tables(&config::defaults()) {
        let title = match table.name.as_str() {
            "" => t.general.to_owned(),
            name => format!("`[{name}]`"),
        };
        let _ = write!(text, "\n## {title}\n\n");
        if !table.about.is_empty() {
            let _ = write!(text, "{}\n\n", plain(described(&table.name, &table.about, lang)));
        }
        let _ = write!(
            text,
            "| {} | {} | {} |\n|---|---|---|\n",
            t.setting, t.default, t.meaning
        );
        for setting in &table.settings {
            let _ = writeln!(
                text,
                "| `{}` | `{}` | {} {}: `{}` |",
                setting.name,
                setting.default.replace('|', "\\|"),
                plain(described(&table.key(&setting.name), &setting.about, lang)),
                t.variable,
                variable(&table.name, &setting.name)
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_the_defaults_is_listed() {
        let listed = tables(&config::defaults());
        let parsed: toml::Table = config::defaults().parse().unwrap();
        let mut count = 0;
        for table in &listed {
            let values = table.name.split('.').filter(|part| !part.is_empty());
            let values = values.fold(&parsed, |values, part| values[part].as_table().unwrap());
            for setting in &table.settings {
                let value: toml::Table = format!("x = {}", setting.default).parse().unwrap();
                assert_eq!(
                    value["x"], values[&setting.name],
                    "{}.{}",
                    table.name, setting.name
                );
                count += 1;
            }
        }
        assert_eq!(count, leaves(&parsed));
        // Most have a comment of their own; the first of a table always has one, there or at the table.
        for table in &listed {
            let first = table.settings.first().unwrap();
            assert!(
                !first.about.is_empty() || !table.about.is_empty(),
                "{}",
                table.name
            );
        }
    }

    #[test]
    fn every_description_is_translated() {
        let mut described = Vec::new();
        for table in tables(&config::defaults()) {
            if !table.about.is_empty() {
                described.push(table.name.clone());
            }
            let settings = table.settings.iter().filter(|it| !it.about.is_empty());
            described.extend(settings.map(|it| table.key(&it.name)));
        }
        let mut translated: Vec<&str> = super::super::settings_turkish::TEXTS
            .iter()
            .map(|(key, _)| *key)
            .collect();
        described.sort();
        translated.sort_unstable();
        assert_eq!(described, translated);
    }

    fn leaves(table: &toml::Table) -> usize {
        let count = |value: &toml::Value| value.as_table().map_or(1, leaves);
        table.values().map(count).sum()
    }

    #[test]
    fn comment_belongs_to_the_setting_below_it() {
        let found = tables("# Head.\n\n# One\n# and more.\na = 1\nb = 2\n# Of x.\n[x]\nc = \"|\"\n");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].settings[0].about, "One and more.");
        assert_eq!(found[0].settings[1].about, "");
        assert_eq!(
            (found[1].about.as_str(), found[1].settings[0].default.as_str()),
            ("Of x.", "\"|\"")
        );
        assert_eq!(
            variable("webhook", "retry_seconds"),
            "GARSON_WEBHOOK__RETRY_SECONDS"
        );
        assert_eq!(variable("", "listen"), "GARSON_LISTEN");
    }
}
