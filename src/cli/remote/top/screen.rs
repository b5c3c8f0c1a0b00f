//! The terminal: its alternate screen while `ropeline top` runs, single key presses, and the restored state at the end.

use std::io::{self, Write as _};
use std::thread;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{
    self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, queue, style};
use tokio::sync::mpsc::{Receiver, channel};

/// A key with a meaning here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    Up,
    Down,
    /// The window has another size.
    Redraw,
    End,
}

/// The terminal is as it was before when this is dropped.
pub(super) struct Screen;

impl Screen {
    /// Takes the terminal over, and sends the keys that are pressed.
    pub fn open() -> io::Result<(Self, Receiver<Key>)> {
        enable_raw_mode()?;
        let screen = Self;
        queue!(io::stdout(), EnterAlternateScreen, cursor::Hide)?;
        let (pressed, keys) = channel(KEYS);
        // Ends with the process: a read of the terminal cannot be taken back.
        thread::Builder::new().name("keys".into()).spawn(move || {
            while let Ok(event) = event::read() {
                let Some(key) = meaning(&event) else { continue };
                if pressed.blocking_send(key).is_err() {
                    return;
                }
            }
        })?;
        Ok((screen, keys))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = queue!(io::stdout(), cursor::Show, LeaveAlternateScreen);
        let _ = io::stdout().flush();
        let _ = disable_raw_mode();
    }
}

fn meaning(event: &Event) -> Option<Key> {
    match event {
        Event::Resize(..) => Some(Key::Redraw),
        Event::Key(KeyEvent {
            code, modifiers, kind, ..
        }) if *kind != KeyEventKind::Release => match code {
            KeyCode::Up | KeyCode::Char('k') => Some(Key::Up),
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => Some(Key::Down),
            KeyCode::Char('q') | KeyCode::Esc => Some(Key::End),
            KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => Some(Key::End),
            _ => None,
        },
        _ => None,
    }
}

/// Draws as many lines as the window has, each cut to its width. One write, so that nothing flickers.
pub(super) fn draw(lines: &[String]) -> io::Result<()> {
    // Some terminals do not say how large they are.
    let size = terminal::size()
        .ok()
        .filter(|(columns, rows)| *columns > 0 && *rows > 0);
    let (columns, rows) = size.unwrap_or((80, 24));
    let mut out = io::stdout().lock();
    queue!(out, cursor::MoveTo(0, 0))?;
    for (row, line) in (0..rows).zip(lines.iter().map(String::as_str).chain(std::iter::repeat(""))) {
        let cut: String = line.chars().take(usize::from(columns)).collect();
        queue!(
            out,
            cursor::MoveTo(0, row),
            style::Print(cut),
            Clear(ClearType::UntilNewLine)
        )?;
    }
    out.flush()
}

/// Keys that wait to be heeded.
const KEYS: usize = 16;
