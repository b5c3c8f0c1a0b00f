//! The room that a request is about, and how it is shown.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::response::Response;
use http::request::Parts;

use crate::admin::api;
use crate::admin::http::problem::{Problem, json};
use crate::admin::shared::Shared;
use crate::admin::view;
use crate::room::{LineName, Mode, RoomName, RoomView, View};

/// The room that a path names.
pub struct Named {
    pub name: RoomName,
    pub view: Arc<RoomView>,
}

impl FromRequestParts<Shared> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let asked = parameter(parts, "room").await;
        find(&shared.replica.view(), &asked)
    }
}

/// A part of the path, decoded; empty where it is no text, which names nothing.
pub async fn parameter(parts: &mut Parts, wanted: &str) -> String {
    let Ok(parameters) = RawPathParams::from_request_parts(parts, &()).await else {
        return String::new();
    };
    let found = parameters.iter().find(|(name, _)| *name == wanted);
    found.map(|(_, value)| value.to_owned()).unwrap_or_default()
}

pub fn find(view: &View, asked: &str) -> Result<Named, Problem> {
    let found = RoomName::new(asked).and_then(|name| Some((name.clone(), Arc::clone(view.rooms.get(&name)?))));
    let (name, view) = found.ok_or_else(|| {
        let names: Vec<&str> = view.rooms.keys().take(20).map(RoomName::as_str).collect();
        Problem::not_found(format!(
            "there is no room of that name; there are: {}",
            names.join(", ")
        ))
    })?;
    Ok(Named { name, view })
}

/// The room after a change.
pub fn by_now(shared: &Shared, room: &Named) -> Response {
    let view = shared.replica.view();
    let after = view.rooms.get(&room.name).unwrap_or(&room.view);
    json(&shown(shared, &room.name, after))
}

pub fn shown(shared: &Shared, name: &RoomName, view: &RoomView) -> api::Room {
    let (whole, now) = (shared.replica.view(), shared.replica.now());
    let room = view::room::room(name, view, shared.configured_message(name).as_deref(), now);
    let live = shared.live.load();
    let opens = live.options.open_in_outage.contains(name) && view.settings.mode == Mode::Auto;
    api::Room {
        from: origin(shared, name).to_owned(),
        upstream: live.options.upstreams.get(name).cloned(),
        let_past: opens && shared.replica.cut_off().is_some(),
        opening: whole.is_opening(view),
        healing_secs: whole.heals_for(view, now).map(|left| left.div_ceil(1_000)),
        ..room
    }
}

/// Where a room is from, as far as this gate knows: its own file, an operator, or another gate's file.
pub fn origin(shared: &Shared, name: &RoomName) -> &'static str {
    let live = shared.live.load();
    match &live.options.from {
        Some(rooms) => rooms
            .get(name)
            .map_or(ELSEWHERE, |added| if *added { API } else { FILE }),
        None => FILE,
    }
}

pub fn no_line_name(parameter: &str) -> Problem {
    let wanted = format!("at most {} bytes without control characters", LineName::MAX_LEN);
    Problem::mistakes(vec![format!("{parameter} is no line's name: those have {wanted}")])
}

/// In this gate's file; added by an operator and in force here; in the log, and not in force here.
const FILE: &str = "file";
const API: &str = "api";
const ELSEWHERE: &str = "elsewhere";
