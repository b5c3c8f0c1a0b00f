//! What every log must do, tried on each of them, and what only the embedded one does: its files.

mod contract;
mod damage;
mod embedded;
mod files;
mod full_disk;
