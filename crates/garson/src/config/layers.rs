//! Layers of settings. Each value has its origin, so that an error can name it exactly.
//!
//! The defaults are the schema: they define the known keys and the types of their values.

use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    File(PathBuf),
    Variable(String),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("the defaults"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => write!(f, "the variable {name}"),
            Self::Flag(name) => write!(f, "the flag --{}", name.replace(['.', '_'], "-")),
        }
    }
}

/// An invalid setting: its key, its origin, and what is allowed. The value is not shown, since it may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

fn redact(table: &mut Table, prefix: &str, is_secret: &impl Fn(&str) -> bool) {
    for (name, value) in table.iter_mut() {
        let key = match prefix {
            "" => name.clone(),
            _ => format!("{prefix}.{name}"),
        };
        match value {
            Value::Table(inner) => redact(inner, &key, is_secret),
            Value::String(text) if !text.is_empty() && is_secret(&key) => "(set)".clone_into(text),
            _ => {}
        }
    }
}

/// Container platforms put the addresses of services into the environment of every container: a service named garson makes
/// `GARSON_SERVICE_HOST`, `GARSON_SERVICE_PORT`, `GARSON_SERVICE_PORT_HTTP`, `GARSON_PORT`,
/// `GARSON_PORT_8080_TCP`, `GARSON_PORT_8080_TCP_ADDR`, `_PORT` and `_PROTO`.
fn is_injected(key: &str) -> bool {
    if matches!(key, "PORT" | "SERVICE_HOST" | "SERVICE_PORT") {
        return true;
    }
    if let Some(name) = key.strip_prefix("SERVICE_PORT_") {
        let is_name = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        return !name.is_empty() && name.bytes().all(is_name);
    }
    let mut parts = key.split('_');
    let [first, port, protocol, last] = [(); 4].map(|()| parts.next());
    first == Some("PORT")
        && port.is_some_and(|port| port.parse::<u16>().is_ok())
        && matches!(protocol, Some("TCP" | "UDP" | "SCTP"))
        && matches!(last, None | Some("ADDR" | "PORT" | "PROTO"))
        && parts.next().is_none()
}

/// A service named garson-database makes `GARSON_DATABASE_SERVICE_HOST` and the like, and `GARSON_DATABASE_PORT=tcp://…`.
fn is_of_another_service(key: &str, value: &str) -> bool {
    key.match_indices('_').any(|(at, _)| {
        let rest = key.get(at + 1..).unwrap_or_default();
        is_injected(rest) && (rest != "PORT" || value.contains("://"))
    })
}

/// The settings while their layers are applied.
pub struct Layer {
    schema: Table,
    values: Table,
    origins: BTreeMap<String, Origin>,
}

impl Layer {
    /// Starts with the defaults.
    pub fn bottom(defaults: &str) -> Result<Self, ConfigError> {
        let schema: Table = defaults
            .parse()
            .map_err(|error| ConfigError(format!("the defaults are broken: {error}")))?;
        Ok(Self {
            values: schema.clone(),
            schema,
            origins: BTreeMap::new(),
        })
    }

    /// Applies a file.
    pub fn add_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let origin = Origin::File(path.to_owned());
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError(format!("{origin} cannot be read: {error}")))?;
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| {
                text.get(..span.start).unwrap_or("").lines().count().max(1)
            });
            ConfigError(format!("{origin}, line {line}: {}", error.message()))
        })?;
        self.add_table(&origin, "", table)
    }

    fn add_table(&mut self, origin: &Origin, prefix: &str, table: Table) -> Result<(), ConfigError> {
        for (name, value) in table {
            let key = if prefix.is_empty() {
                name
            } else {
                format!("{prefix}.{name}")
            };
            match value {
                Value::Table(inner) => self.add_table(origin, &key, inner)?,
                value => self.set(origin.clone(), &key, value)?,
            }
        }
        Ok(())
    }

    /// Applies the variables that start with `GARSON_`; two underscores mean a dot.
    pub fn add_variables(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), ConfigError> {
        for (name, value) in variables {
            let Some(key) = name.strip_prefix("GARSON_") else {
                continue;
            };
            // Variables of the command line and of tests.
            if matches!(key, "CONFIG" | "IMPORT_KEY" | "RECEIVE_KEY" | "PRINT_KEY")
                || key.starts_with("TEST_")
                || is_injected(key)
                || is_of_another_service(key, &value)
            {
                continue;
            }
            let key = key.to_ascii_lowercase().replace("__", ".");
            self.add_text(Origin::Variable(name), &key, &value)?;
        }
        Ok(())
    }

    /// All values as TOML; for secrets only whether they are set.
    pub fn shown(&self, is_secret: impl Fn(&str) -> bool) -> Result<String, ConfigError> {
        let mut values = self.values.clone();
        redact(&mut values, "", &is_secret);
        toml::to_string_pretty(&values)
            .map_err(|error| ConfigError(format!("the settings cannot be shown: {error}")))
    }

    /// Applies one value that is given as text.
    pub fn add_text(&mut self, origin: Origin, key: &str, text: &str) -> Result<(), ConfigError> {
        let Some(default) = self.lookup(key) else {
            return Err(self.unknown(&origin, key));
        };
        let parsed = match default {
            Value::Integer(_) => text.trim().parse().ok().map(Value::Integer),
            Value::Boolean(_) => match text.trim() {
                "true" | "1" | "on" | "yes" => Some(Value::Boolean(true)),
                "false" | "0" | "off" | "no" => Some(Value::Boolean(false)),
                _ => None,
            },
            Value::Array(items) => list(items, text),
            _ => Some(Value::String(text.to_owned())),
        };
        let Some(value) = parsed else {
            return Err(mistyped(&origin, key, default));
        };
        self.set(origin, key, value)
    }

    fn set(&mut self, origin: Origin, key: &str, value: Value) -> Result<(), ConfigError> {
        let Some(default) = self.lookup(key) else {
            return Err(self.unknown(&origin, key));
        };
        if !same_type(default, &value) {
            return Err(mistyped(&origin, key, default));
        }
        let mut table = &mut self.values;
        let mut names: Vec<&str> = key.split('.').collect();
        let last = names.pop().unwrap_or_default();
        for name in names {
            match table.get_mut(name) {
                Some(Value::Table(inner)) => table = inner,
                _ => return Err(ConfigError(format!("{origin}: {key} is not a setting"))),
            }
        }
        table.insert(last.to_owned(), value);
        self.origins.insert(key.to_owned(), origin);
        Ok(())
    }

    fn lookup(&self, key: &str) -> Option<&Value> {
        let mut table = &self.schema;
        let mut names = key.split('.').peekable();
        while let Some(name) = names.next() {
            match (table.get(name)?, names.peek()) {
                (Value::Table(inner), Some(_)) => table = inner,
                (Value::Table(_), None) | (_, Some(_)) => return None,
                (value, None) => return Some(value),
            }
        }
        None
    }

    fn unknown(&self, origin: &Origin, key: &str) -> ConfigError {
        let allowed = keys(&self.schema, "").join(", ");
        ConfigError(format!(
            "{origin}: there is no setting {key}. Settings are: {allowed}"
        ))
    }

    /// The error for a value of the right type that is not allowed.
    #[must_use]
    pub fn wrong(&self, key: &str, allowed: &str) -> ConfigError {
        let origin = self.origins.get(key).unwrap_or(&Origin::Default);
        ConfigError(format!("{origin}: {key} must be {allowed}"))
    }

    /// The settings with all layers applied.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        Value::Table(self.values.clone())
            .try_into()
            .map_err(|error: toml::de::Error| {
                // The message may quote the value, which may be secret; its key is enough.
                let place = error.to_string().lines().last().unwrap_or_default().to_owned();
                ConfigError(format!("a setting cannot be used ({place})"))
            })
    }
}

fn list(items: &[Value], text: &str) -> Option<Value> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let values: Option<Vec<Value>> = parts
        .map(|part| match items.first() {
            Some(Value::Integer(_)) => part.parse().ok().map(Value::Integer),
            _ => Some(Value::String(part.to_owned())),
        })
        .collect();
    values.map(Value::Array)
}

fn same_type(default: &Value, value: &Value) -> bool {
    match (default, value) {
        (Value::Array(wanted), Value::Array(given)) => given.iter().all(|item| match wanted.first() {
            Some(first) => first.same_type(item) && !matches!(item, Value::Integer(i) if *i < 0),
            None => item.is_str(),
        }),
        (_, Value::Integer(int)) => default.is_integer() && *int >= 0,
        _ => default.same_type(value),
    }
}

fn mistyped(origin: &Origin, key: &str, default: &Value) -> ConfigError {
    let wanted = match default {
        Value::Integer(_) => "a whole number, not negative",
        Value::Boolean(_) => "true or false",
        Value::Array(items) if items.first().is_some_and(Value::is_integer) => "a list of whole numbers",
        Value::Array(_) => "a list of texts",
        _ => "a text",
    };
    ConfigError(format!("{origin}: {key} must be {wanted}"))
}

fn keys(table: &Table, prefix: &str) -> Vec<String> {
    table
        .iter()
        .flat_map(|(name, value)| match value {
            Value::Table(inner) => keys(inner, &format!("{prefix}{name}.")),
            _ => vec![format!("{prefix}{name}")],
        })
        .collect()
}
