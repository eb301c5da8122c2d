//! Secrets reach a command by a file, standard input or a prompt, never by an argument: other users of the machine can read those.

use super::command::CommandError;
use garson_core::secret::Secret;
use rustix::termios::{LocalModes, OptionalActions, isatty, tcgetattr, tcsetattr};
use std::io::{BufRead, Write};
use std::path::Path;

/// The first line of a file; `-` is standard input, where people are asked for it.
pub fn read_secret(file: &Path) -> Result<Secret<String>, CommandError> {
    if file.as_os_str() == "-" {
        return if is_terminal() {
            ask("Secret")
        } else {
            first_line(std::io::read_to_string(std::io::stdin()), file)
        };
    }
    first_line(std::fs::read_to_string(file), file)
}

fn first_line(text: std::io::Result<String>, file: &Path) -> Result<Secret<String>, CommandError> {
    let text = text.map_err(|error| CommandError(format!("{} cannot be read: {error}", file.display())))?;
    let text = Secret::new(text);
    match text.expose().lines().next() {
        Some(line) if !line.is_empty() => Ok(Secret::new(line.to_owned())),
        _ => Err(CommandError(format!("{} is empty", file.display()))),
    }
}

/// The secret in a file, or what is typed at the prompt. `flag` names the file in the error where nobody can type.
pub fn read_or_ask(file: Option<&Path>, what: &str, flag: &str) -> Result<Secret<String>, CommandError> {
    match file {
        Some(file) => read_secret(file),
        None if is_terminal() => ask(what),
        None => Err(CommandError(format!(
            "{what}? {flag} FILE, or - for standard input"
        ))),
    }
}

/// The same for a secret that is chosen now: it is typed twice.
pub fn read_or_choose(file: Option<&Path>, what: &str, flag: &str) -> Result<Secret<String>, CommandError> {
    let chosen = read_or_ask(file, what, flag)?;
    if file.is_none() && ask(&format!("{what} again"))? != chosen {
        return Err(CommandError("the two are not the same".to_owned()));
    }
    Ok(chosen)
}

pub fn is_terminal() -> bool {
    isatty(std::io::stdin())
}

/// Asks for a secret on the terminal, which does not show what is typed.
pub fn ask(what: &str) -> Result<Secret<String>, CommandError> {
    let input = std::io::stdin();
    let before = tcgetattr(&input)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    eprint!("{what}: ");
    // A prompt that cannot be shown is no reason to fail.
    let _ = std::io::stderr().flush();
    tcsetattr(&input, OptionalActions::Flush, &silent)?;
    let mut line = String::new();
    let read = input.lock().read_line(&mut line);
    tcsetattr(&input, OptionalActions::Flush, &before)?;
    eprintln!();
    let line = Secret::new(line);
    read?;
    match line.expose().trim_end_matches(['\r', '\n']) {
        "" => Err(CommandError(format!("{what}: nothing was typed"))),
        typed => Ok(Secret::new(typed.to_owned())),
    }
}

/// Asks a question whose answer is no secret.
pub fn ask_plainly(question: &str) -> Result<String, CommandError> {
    eprint!("{question} ");
    // A prompt that cannot be shown is no reason to fail.
    let _ = std::io::stderr().flush();
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// Refuses a URL with a password in an argument; `instead` says how to give it.
pub fn refuse_password(url: &str, flag: &str, instead: &str) -> Result<(), CommandError> {
    let has_password = url::Url::parse(url).is_ok_and(|url| url.password().is_some())
        || url
            .split(['?', '&'])
            .skip(1)
            .any(|pair| pair.starts_with("password="));
    if has_password {
        return Err(CommandError(format!(
            "{flag} must not have a password: the process list shows it to other users of this machine. Use {instead}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_with_a_password_is_refused_and_not_repeated() {
        for url in [
            "postgres://u:hunter2@host/db",
            "postgresql://host/db?user=u&password=hunter2",
        ] {
            let CommandError(error) = refuse_password(url, "--to", "--to-file").unwrap_err();
            assert!(
                error.contains("--to-file") && !error.contains("hunter2"),
                "{error}"
            );
        }
        for url in ["postgres://u@host/db", "postgres:///db?host=/run", "./folder", ""] {
            assert!(refuse_password(url, "--to", "--to-file").is_ok(), "{url}");
        }
    }
}
