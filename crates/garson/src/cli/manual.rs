//! What a package installs beside the program: completions of shells, and manual pages.

use super::command::{Outcome, print_line};
use clap::Command;
use clap_complete::Shell;
use std::path::Path;

/// Prints the completions of a shell.
pub fn completions(mut program: Command, shell: Shell) -> Outcome {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, name, &mut script);
    print_line(String::from_utf8(script)?.trim_end());
    Ok(())
}

/// Writes a page for the program and for each of its commands.
pub fn manual(program: Command, folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(program, folder)?;
    Ok(())
}
