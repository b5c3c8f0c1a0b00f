//! `ropeline page --preview`: every page and state that a visitor can see, in every language, before one does.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::pages::{Pages, index, previews};

use super::output::say;

/// Arguments of `ropeline page`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline page --preview /tmp/pages                         the built-in page
  ropeline page --preview /tmp/pages --template my.html      a template of your own; its mistakes are reported
Then open /tmp/pages/index.html in a browser.")]
pub struct PageArgs {
    /// Write every page into this folder
    #[arg(long, value_name = "FOLDER", required = true)]
    preview: PathBuf,
    /// A template of your own instead of the built-in page
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
}

/// Runs `ropeline page`.
#[must_use]
pub fn run(args: &PageArgs) -> ExitCode {
    match write(args) {
        Ok(count) => {
            say(&format!(
                "{count} pages; open {}\n",
                args.preview.join("index.html").display()
            ));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("ropeline page: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(args: &PageArgs) -> Result<usize, Box<dyn std::error::Error>> {
    let template = args.template.as_ref().map(|path| {
        std::fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    });
    let pages = Pages::new(template.transpose()?.as_deref())?;
    std::fs::create_dir_all(&args.preview)?;
    let previews = previews(&pages);
    for preview in &previews {
        preview.write_to(&args.preview)?;
    }
    std::fs::write(args.preview.join("index.html"), index(&previews))?;
    Ok(previews.len())
}
