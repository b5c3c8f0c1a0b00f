//! The facts of the room and the keys before anything begins: by the file, and of a room that operators added, by the gate.

use http::StatusCode;

use super::options::RehearseArgs;
use crate::admin::api;
use crate::cli::code;
use crate::cli::remote::{Client, Failure, encoded, parsed};
use crate::config::{AddedRoom, Config, Room};
use crate::token::Keyring;

/// The configuration with its keys, and a room of it.
pub struct Known {
    pub config: Config,
    pub keyring: Keyring,
    /// Of the room.
    pub index: usize,
}

impl Known {
    /// The file's word, and where that has no such room, the admin listener's: gates may have more rooms than are in it.
    pub async fn of(args: &RehearseArgs, client: &Client) -> Result<Self, Failure> {
        if let Some(known) = Self::with(args, &[])? {
            return Ok(known);
        }
        let added = added(args, client).await?;
        Self::with(args, &[added])?.ok_or_else(|| Failure::Local(format!("there is no room {:?}", args.room)))
    }

    fn with(args: &RehearseArgs, added: &[AddedRoom]) -> Result<Option<Self>, Failure> {
        let (config, keyring) = code::keys_with(&args.config, added).map_err(|(text, _)| Failure::Local(text))?;
        let index = config.rooms.iter().position(|room| room.name.as_str() == args.room);
        Ok(index.map(|index| Self { config, keyring, index }))
    }

    pub fn room(&self) -> &Room {
        &self.config.rooms[self.index]
    }
}

async fn added(args: &RehearseArgs, client: &Client) -> Result<AddedRoom, Failure> {
    let (room, file) = (&args.room, args.config.display());
    let asked = client.get(&format!("/api/v1/rooms/{}", encoded(room))).await;
    let answer = asked.map_err(|failure| match failure {
        Failure::Refused { status, .. } if status == StatusCode::NOT_FOUND => Failure::Local(format!(
            "there is no room {room:?} in {file}, and the gate has none either"
        )),
        failure => failure,
    })?;
    let of: api::Room = parsed(&answer)?;
    let elsewhere = || {
        Failure::Local(format!(
            "the room {room:?} is in the file of another gate, and not in {file}: run this where that file is"
        ))
    };
    let text = of.addition.ok_or_else(elsewhere)?.text;
    AddedRoom::new(&text).map_err(|mistakes| {
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Failure::Foreign(format!(
            "what the gate says of the room {room:?} cannot be read: {}",
            told.join("; ")
        ))
    })
}
