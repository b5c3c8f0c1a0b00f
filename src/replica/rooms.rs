//! What a start has to say about the rooms: those configured anew or otherwise, and those no longer configured.

use crate::room::{Change, Overrides, RoomName, Settings, View};

/// The changes that make the rooms of `view` those of `configured`.
pub(super) fn changes(view: &View, configured: &[(RoomName, Settings)]) -> Vec<(RoomName, Change)> {
    let wanted = configured.iter().filter(|(name, settings)| {
        view.rooms
            .get(name)
            .is_none_or(|room| room.settings != in_force(settings, &room.overrides))
    });
    let gone = view
        .rooms
        .keys()
        .filter(|name| !configured.iter().any(|(kept, _)| kept == *name));
    let configure = wanted.map(|(name, settings)| (name.clone(), Change::Configure(settings.clone())));
    configure
        .chain(gone.map(|name| (name.clone(), Change::Remove)))
        .collect()
}

fn in_force(settings: &Settings, overrides: &Overrides) -> Settings {
    Settings {
        mode: overrides.mode.unwrap_or(settings.mode),
        capacity: overrides.capacity.unwrap_or(settings.capacity),
        rate_per_minute: overrides.rate_per_minute.unwrap_or(settings.rate_per_minute),
        ..settings.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::room::{Edition, RoomView};

    fn view(rooms: &[(&str, Settings, Overrides)]) -> View {
        let mut view = View::default();
        for (name, settings, overrides) in rooms {
            let room = RoomView {
                settings: in_force(settings, overrides),
                overrides: overrides.clone(),
                revision: 1,
                edition: Edition(1),
                lines: [].into(),
            };
            view.rooms.insert(RoomName::new(name).unwrap(), Arc::new(room));
        }
        view
    }

    #[test]
    fn only_what_differs_is_said() {
        let plain = Settings::default();
        let wide = Settings {
            capacity: 500,
            ..Settings::default()
        };
        let lowered = Overrides {
            capacity: Some(3),
            ..Overrides::default()
        };
        let view = view(&[
            ("same", plain.clone(), Overrides::default()),
            ("same-under-override", plain.clone(), lowered),
            ("wider", plain.clone(), Overrides::default()),
            ("gone", plain.clone(), Overrides::default()),
        ]);
        let named = |name: &str, settings: &Settings| (RoomName::new(name).unwrap(), settings.clone());
        let configured = [
            named("same", &plain),
            named("same-under-override", &plain),
            named("wider", &wide),
            named("new", &plain),
        ];
        let said = changes(&view, &configured);
        let expected = [
            (RoomName::new("wider").unwrap(), Change::Configure(wide)),
            (RoomName::new("new").unwrap(), Change::Configure(plain)),
            (RoomName::new("gone").unwrap(), Change::Remove),
        ];
        assert_eq!(said, expected);
    }
}
