//! The room as a whole: laws over random histories, stories of single rules, and its bytes.

mod eras;
mod stories;
mod support;
