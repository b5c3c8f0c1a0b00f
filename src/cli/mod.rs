//! The command line.

pub mod rooms;

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
