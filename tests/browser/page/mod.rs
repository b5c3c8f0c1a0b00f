//! The waiting page by itself: its rules, its places, its tab.

mod axe;
mod gallery;
mod hidden;
mod light;
mod roles;
mod served;
mod still;
mod times;
