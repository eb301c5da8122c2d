//! Compares this build with the bench of another commit: both run the same rows, in turns, on the same machine.
//!
//! Both print the same table, so the other build needs no support for this. What is compared is the column "measured".

use crate::error::Fallible;
use crate::table::Series;
use std::path::Path;
use std::process::{Command, Stdio};

/// A row's name and its measured figure.
type Measured = Vec<(String, f64)>;

/// Runs both this many times with these arguments, each of them first in every other round, and prints the ratios.
pub fn compare(other: &str, rounds: usize, arguments: &[String]) -> Fallible<()> {
    let own = std::env::current_exe()?;
    let other = Path::new(other);
    let (mut own_runs, mut other_runs) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            own_runs.push(measure(&own, arguments)?);
            other_runs.push(measure(other, arguments)?);
        } else {
            other_runs.push(measure(other, arguments)?);
            own_runs.push(measure(&own, arguments)?);
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    let names: Vec<&String> = own_runs.iter().flatten().map(|(name, _)| name).collect();
    let mut printed = Vec::new();
    println!("\n| row | this build | the other | ratio |\n|---|---|---|---|");
    for name in names {
        if printed.contains(&name) {
            continue;
        }
        printed.push(name);
        let figures = |runs: &[Measured]| -> Vec<f64> {
            let named = runs.iter().flatten().filter(|(row, _)| row == name);
            named.map(|(_, figure)| *figure).collect()
        };
        let (own, other) = (figures(&own_runs), figures(&other_runs));
        println!(
            "| {name} | {} | {} | {} |",
            Series::new(own.clone(), "").text(),
            Series::new(other.clone(), "").text(),
            Series::ratio(&own, &other).text(),
        );
    }
    println!("\nMedians of {rounds} rounds, with the least and the greatest in parentheses.");
    Ok(())
}

/// Runs a bench once and reads its table. A missed goal makes it fail, which is not what is asked here.
fn measure(program: &Path, arguments: &[String]) -> Fallible<Measured> {
    let output = Command::new(program)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()?;
    let measured = read_table(&String::from_utf8(output.stdout)?);
    if measured.is_empty() {
        return Err(format!("{} printed no table", program.display()).into());
    }
    Ok(measured)
}

fn read_table(text: &str) -> Measured {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.filter_map(|line| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let name = cells.next()?.to_owned();
        let figure = cells.next()?.split(' ').next()?.parse().ok()?;
        Some((name, figure))
    })
    .collect()
}

#[test]
fn a_printed_table_is_read() {
    let text = "\n| row | measured | baseline |\n| --- | --- | --- |\n| orders, 64 clients | 4311 (4000–4500) /s | 1 |\n\nMedians\n";
    assert_eq!(read_table(text), [("orders, 64 clients".to_owned(), 4311.0)]);
}
