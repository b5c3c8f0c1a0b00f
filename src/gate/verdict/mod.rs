//! The decision about a request before a line, and each way to carry it out.

pub mod answers;
pub mod arrival;
pub mod bypass;
pub mod cacheable;
pub mod decide;
pub mod facts;
pub mod in_room;
pub mod inside;
pub mod join;
pub mod line_page;
pub mod outage;
pub mod refusals;
pub mod rehearsal;
pub mod returns;
pub mod settle;
pub mod sign_in_form;
pub mod while_off;
