//! What operators do: accounts that are disabled, limited, deleted and moved, the master key, TLS, the second address.

mod account_files;
mod control;
mod key_file;
mod key_rotation;
mod public_url;
mod quotas;
mod second_listener;
mod tls;
