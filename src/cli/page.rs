//! `ropeline page`: every page and state that a visitor can see, in every language, before one does.

mod serve;

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::config::{Config, Overrides};
use crate::pages::wording::{Fault, Wording};
use crate::pages::{Brand, Languages, Pages, index, previews, states};

use super::output::say;
use serve::Gallery;

/// Arguments of `ropeline page`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline page --serve                                      the built-in page, at http://127.0.0.1:9926
  ropeline page --serve --config config.toml                 the page of the first room, with its name, logo and colour
  ropeline page --serve --config config.toml --room vip      that of another room
  ropeline page --serve 127.0.0.1:8000 --template my.html    a template of your own; its mistakes are reported
  ropeline page --wording words/                             every mistake of a folder of wordings
  ropeline page --serve --wording words/                     the page in those words
  ropeline page --preview /tmp/pages                         as files: open /tmp/pages/index.html in a browser")]
pub struct PageArgs {
    /// Serve every page for a browser until Ctrl-C; default address: 127.0.0.1:9926
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = "127.0.0.1:9926",
        required_unless_present_any = ["preview", "wording"],
        conflicts_with = "preview"
    )]
    serve: Option<SocketAddr>,
    /// Write every page into this folder
    #[arg(long, value_name = "FOLDER")]
    preview: Option<PathBuf>,
    /// The page of a room of this configuration instead of the built-in page
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The room; default: the first one
    #[arg(long, value_name = "NAME", requires = "config")]
    room: Option<String>,
    /// A template of your own instead of the built-in page, or of the room's
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// A folder of wordings instead of the built-in words, or of the room's; every mistake of its files is reported
    #[arg(long, value_name = "FOLDER")]
    wording: Option<PathBuf>,
}

/// Runs `ropeline page`.
#[must_use]
pub fn run(args: &PageArgs) -> ExitCode {
    match show(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ropeline page: {error}");
            ExitCode::FAILURE
        }
    }
}

fn show(args: &PageArgs) -> Result<(), Box<dyn Error>> {
    let wording = args.wording.as_deref().map(read).transpose()?;
    if args.preview.is_none() && args.serve.is_none() {
        return Ok(());
    }
    let pages = chosen(args, wording.as_ref())?;
    if let Some(folder) = &args.preview {
        let count = write(&pages, folder)?;
        say(&format!(
            "{count} pages; open {}\n",
            folder.join("index.html").display()
        ));
    }
    if let Some(address) = args.serve {
        let states = states();
        serve::run(address, Gallery { pages, states })?;
    }
    Ok(())
}

/// Checks a folder of wordings and says what it has.
fn read(folder: &Path) -> Result<Wording, String> {
    let wording = Wording::read(folder).map_err(|faults| all(&faults))?;
    let tags: Vec<&str> = wording.tags().collect();
    say(&format!("{}: no mistake in {}\n", folder.display(), tags.join(", ")));
    for tag in wording.without_plurals() {
        say(&format!(
            "{tag}: CLDR has no plural rules of that language, so every number takes the form other\n"
        ));
    }
    Ok(wording)
}

/// Every mistake of a folder, one a line.
fn all(faults: &[Fault]) -> String {
    let lines: Vec<String> = faults.iter().map(|fault| format!("\n{fault}")).collect();
    format!("mistakes: {}{}", faults.len(), lines.concat())
}

/// The pages to show.
fn chosen(args: &PageArgs, wording: Option<&Wording>) -> Result<Pages, Box<dyn Error>> {
    let own = args.template.as_ref().map(|path| {
        std::fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    });
    let own = own.transpose()?;
    let Some(file) = &args.config else {
        let languages = wording.map_or_else(Languages::built_in, Languages::with);
        return Ok(Pages::in_languages(own.as_deref(), &Brand::default(), languages)?);
    };
    let config = Config::load(Some(file), &Overrides::none())?;
    let mut rooms = config.rooms.iter();
    let room = match &args.room {
        Some(name) => rooms.find(|room| room.name.as_str() == name),
        None => rooms.next(),
    };
    let Some(room) = room else {
        let names: Vec<&str> = config.rooms.iter().map(|room| room.name.as_str()).collect();
        return Err(format!("the file has no such room; it has {}", names.join(", ")).into());
    };
    let template = own
        .as_deref()
        .or(room.page.template.as_ref().map(|own| own.text.as_str()));
    let languages = wording.map_or_else(|| room.page.spoken(), Languages::with);
    Ok(Pages::in_languages(template, &room.page.brand, languages)?)
}

fn write(pages: &Pages, folder: &Path) -> Result<usize, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let previews = previews(pages);
    for preview in &previews {
        preview.write_to(folder)?;
    }
    std::fs::write(folder.join("index.html"), index(&previews))?;
    Ok(previews.len())
}
