//! `ropeline verify-draw`: works a draw out again from its published figures, without a gate and without a network.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::dates::rfc3339;
use crate::draw::{Arrangement, Fault, Figures, Hash, MAX_FIGURES_BYTES};
use ropeline_ids::Wall;

use super::output::{Format, plain, say};

/// Arguments of `ropeline verify-draw`.
#[derive(Debug, Args)]
#[command(after_help = "\
FIGURES is the JSON that was published at the opening, `-` for standard input. NUMBER is what the waiting page calls your
number in the draw: the first to join has number 1. docs/reference/draw.md says how the place is computed, and static/draw.html
computes it in a browser.

Examples:
  ropeline verify-draw figures.json                         do the figures fit together?
  ropeline verify-draw figures.json 4711                    and where does number 4711 stand?
  ropeline verify-draw figures.json 4711 --place 90210      is it the place that I was shown?
  ropeline verify-draw figures.json --expect 5f1c…          is it the draw whose commitment I wrote down?
  ropeline verify-draw - --all <figures.json >draw.csv      everybody, a line each

Exit codes: 0 all fits, 1 something does not (a sentence each), 64 usage, 65 not the figures of a draw that was made,
66 nothing to read")]
pub struct VerifyDrawArgs {
    /// The published figures: a file, or `-`
    figures: PathBuf,
    /// Numbers in the draw whose places to compute
    #[arg(value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    numbers: Vec<u32>,
    /// The place that was shown for NUMBER; needs exactly one NUMBER
    #[arg(long, value_name = "PLACE")]
    place: Option<u32>,
    /// A hash from the figures that you kept (`commitment`, `closing` or `seal`); repeatable
    #[arg(long, value_name = "HASH")]
    expect: Vec<String>,
    /// Print every number and its place instead, as CSV
    #[arg(long, conflicts_with_all = ["numbers", "place"])]
    all: bool,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Text, conflicts_with = "all")]
    format: Format,
}

/// The place of a number in the draw.
#[derive(Serialize)]
struct Placed {
    number: u32,
    place: u32,
    /// No: it joined behind those who were drawn.
    drawn: bool,
}

/// Runs `ropeline verify-draw`.
#[must_use]
pub fn run(args: &VerifyDrawArgs) -> ExitCode {
    match verified(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err((message, code)) => {
            eprintln!("ropeline verify-draw: {message}");
            ExitCode::from(code)
        }
    }
}

/// True when all fits.
fn verified(args: &VerifyDrawArgs) -> Result<bool, (String, u8)> {
    let seen = expected(&args.expect).map_err(|mistake| (mistake, EXIT_USAGE))?;
    if args.place.is_some() && args.numbers.len() != 1 {
        let mistake = "--place is the place of one NUMBER".to_owned();
        return Err((mistake, EXIT_USAGE));
    }
    let bytes = read(&args.figures).map_err(|error| (error, EXIT_NO_INPUT))?;
    let figures = Figures::parse(&bytes).map_err(|error| (error.to_string(), EXIT_DATA))?;
    let order = figures.order();
    let mut faults = figures.faults();
    faults.extend(seen.into_iter().filter_map(|seen| figures.expects(seen)));
    let places: Vec<Placed> = args.numbers.iter().map(|number| placed(&*order, *number)).collect();
    for &Placed { number, place, .. } in &places {
        let other = args.place.filter(|shown| *shown != place);
        faults.extend(other.map(|shown| Fault::Place { number, place, shown }));
    }
    match args.format {
        // A reader that has gone away, as behind `| head`, is nobody's mistake.
        _ if args.all && faults.is_empty() => _ = print_all(&*order),
        _ if args.all => eprint!("{}", verdict(&figures, &faults)),
        Format::Text => {
            let places: String = places.iter().map(in_words).collect();
            say(&(about(&figures) + &places + &verdict(&figures, &faults)));
        }
        Format::Json => {
            let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
            let all =
                json!({ "fits": faults.is_empty(), "faults": told, "places": places, "figures": figures.published() });
            say(&format!("{all:#}\n"));
        }
    }
    Ok(faults.is_empty())
}

fn expected(given: &[String]) -> Result<Vec<Hash>, String> {
    let parsed = given.iter().map(|text| {
        Hash::parse(text).ok_or_else(|| format!("{:?} is no fingerprint: 64 hexadecimal digits", plain(text)))
    });
    parsed.collect()
}

/// At most one byte more than figures can have, so that a huge file is recognised without reading it.
fn read(file: &Path) -> Result<Vec<u8>, String> {
    let told = |error: io::Error| format!("{} cannot be read: {error}", file.display());
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_FIGURES_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    if file == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(told)?;
    } else {
        let file = File::open(file).map_err(told)?;
        file.take(most).read_to_end(&mut bytes).map_err(told)?;
    }
    Ok(bytes)
}

fn about(figures: &Figures) -> String {
    let of = figures.published();
    let beacon = match (&of.beacon, &of.beacon_value) {
        (Some(name), Some(value)) => format!("{} = {}", plain(name), plain(value)),
        _ => "none".to_owned(),
    };
    let line = if of.line.is_empty() { "the only one" } else { &of.line };
    let (opens, closed) = (of.opens_ms, figures.closed_ms());
    let late = closed.saturating_sub(opens);
    format!(
        "room        {}\nline        {}\nlane        {}\nedition     {}\nopening     {} as promised\nclosed      {}, {}.{:03} s \
         after it\ndrawn       {}\nbeacon      {beacon}\ncommitment  {}\n",
        of.room,
        plain(line),
        of.lane,
        of.edition,
        rfc3339(Wall(opens)),
        rfc3339(Wall(closed)),
        late / 1_000,
        late % 1_000,
        figures.count(),
        of.commitment,
    )
}

fn placed(order: &dyn Arrangement, number: u32) -> Placed {
    let place = order.place(number - 1);
    Placed {
        number,
        place: place.map_or(number, |place| place + 1),
        drawn: place.is_some(),
    }
}

fn in_words(of: &Placed) -> String {
    let Placed { number, place, drawn } = of;
    let came = if *drawn {
        ""
    } else {
        ", as it came: it joined behind those who were drawn"
    };
    format!("number {number}: place {place}{came}\n")
}

fn verdict(figures: &Figures, faults: &[Fault]) -> String {
    let mut text = String::new();
    for fault in faults {
        let _ = writeln!(text, "WRONG       {fault}");
    }
    if !faults.is_empty() {
        return text + "these are NOT the figures of an honest draw\n";
    }
    text += match figures.published().beacon {
        Some(_) => {
            "all fits: the secret is the one that was promised, and the beacon's value made the order; compare that value with \
             what its publisher says, and see that it was not known before the line was closed, nor the commitment published after the \
             opening\n"
        }
        None => {
            "all fits: nothing was changed after the commitment; without a beacon this does not prove that the draw was \
             impartial\n"
        }
    };
    text
}

fn print_all(order: &dyn Arrangement) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    writeln!(out, "number,place")?;
    for number in 0..order.count() {
        let place = order.place(number).expect("below the count");
        writeln!(out, "{},{}", u64::from(number) + 1, u64::from(place) + 1)?;
    }
    out.flush()
}

/// As `sysexits.h` has them: `EX_USAGE`, `EX_DATAERR`, `EX_NOINPUT`.
const EXIT_USAGE: u8 = 64;
const EXIT_DATA: u8 = 65;
const EXIT_NO_INPUT: u8 = 66;
