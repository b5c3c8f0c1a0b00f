//! The waiting page by itself: its rules, its places, its tab.

mod axe;
mod hidden;
mod roles;
mod still;
