//! Figures as the fairness report and simulations show them: histograms, durations in words, and plots.

mod duration;
mod histogram;
mod svg;

pub(crate) use duration::{float, in_words, rounded, secs, whole_in_words};
pub(crate) use histogram::Histogram;
pub use histogram::Spread;
pub(crate) use svg::{Frame, Plot, across, label};
