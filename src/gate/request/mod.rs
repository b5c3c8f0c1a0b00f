//! A request: its sender and origin, its target and its content.

pub mod account;
pub mod aim;
pub mod challenge;
pub mod cookies;
pub mod crawler;
pub mod form_check;
pub mod headers;
pub mod kind;
pub mod location;
pub mod method;
pub mod payload;
pub mod preflight;
pub mod redirect;
pub mod referer;
pub mod rehearsal_mark;
pub mod shown_code;
pub mod trace;
pub mod visit;
