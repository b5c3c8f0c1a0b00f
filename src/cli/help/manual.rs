//! `ropeline manual`: a manual page for each command, made from the definitions of the commands.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::version;
use crate::cli::output::say;

/// Arguments of `ropeline manual`.
#[derive(Debug, Args)]
#[command(after_help = "\
The packages install these pages. The same binary always writes the same pages.

Examples:
  ropeline manual /usr/local/share/man/man1 && man ropeline-run
  ropeline manual /tmp/pages && man -l /tmp/pages/ropeline-rooms-set.1

Exit codes: 0 written, 1 a page cannot be written")]
pub struct ManualArgs {
    /// Write the pages into this folder
    folder: PathBuf,
}

/// Runs `ropeline manual` for the command line `program`.
#[must_use]
pub fn run(args: &ManualArgs, program: Command) -> ExitCode {
    match write_all(&args.folder, program) {
        Ok(count) => {
            say(&format!("{count} pages in {}\n", args.folder.display()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("ropeline manual: {}: {error}", args.folder.display());
            ExitCode::FAILURE
        }
    }
}

fn write_all(folder: &Path, program: Command) -> std::io::Result<usize> {
    std::fs::create_dir_all(folder)?;
    // The options that a command takes from those above it are known once the whole line is built.
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let mut commands = vec![program];
    let mut count = 0;
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().filter(|below| !below.is_hide_set()).cloned());
        let man = Man::new(command.clone())
            .source(concat!("Ropeline ", env!("CARGO_PKG_VERSION")))
            .date(if version::DATE == "unknown" { "" } else { version::DATE })
            .manual("Ropeline");
        std::fs::write(folder.join(man.get_filename()), page(&man, &command)?)?;
        count += 1;
    }
    Ok(count)
}

/// As [`Man::render`], but for the text below the help, which would be one run-on paragraph there.
fn page(man: &Man, command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    // Ragged to the right: a synopsis cannot be spread over the line, and no option is to be hyphenated.
    Roff::new()
        .control("ad", ["l"])
        .control("nh", [])
        .to_writer(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    below(&text).to_writer(&mut page)?;
    Ok(page)
}

/// The paragraphs below the help, as sections of a page: notes, examples, exit codes.
fn below(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut section = "";
    for paragraph in text.split("\n\n") {
        let heading = match paragraph.split_once(':') {
            Some(("Examples", _)) => "EXAMPLES",
            Some(("Exit codes", _)) => "EXIT STATUS",
            _ => "NOTES",
        };
        if section == heading {
            roff.control("PP", []);
        } else {
            roff.control("SH", [heading]);
        }
        section = heading;
        let is_code = heading == "EXAMPLES";
        if is_code {
            roff.control("nf", []);
        }
        for line in paragraph.lines().filter(|line| *line != "Examples:") {
            roff.text([roman(line.strip_prefix("Exit codes: ").unwrap_or(line))]);
        }
        if is_code {
            roff.control("fi", []);
        }
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_below_the_help_become_sections() {
        let page =
            below("Keys: q ends.\n\nIt only reads.\n\nExamples:\n  ropeline top\n  .\\ropeline\n\nExit codes: 0 done")
                .render();
        let wanted = ".SH NOTES\nKeys: q ends.\n.PP\nIt only reads.\n.SH EXAMPLES\n.nf\n  ropeline top\n  .\\\\ropeline\n.fi\n\
                      .SH \"EXIT STATUS\"\n0 done\n";
        assert!(page.ends_with(wanted), "{page}");
    }
}
