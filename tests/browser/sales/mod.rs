//! Sales as visitors see them: by schedule, by stock, and drawn.

mod drawn;
mod opening;
mod stock;
mod verify_page;
