//! The outcome as text and as a page.

pub mod html;
pub mod plot;
pub mod text;
mod ways;
