//! The changes that make the log's rooms the configured ones.

use crate::room::{Change, RoomName, Settings, State};

/// The changes that make the rooms of `state` equal to those of `configured`; overrides stay unchanged. A room that an
/// operator added stays. It follows its own text again if this gate, which had it in its file, gives it up; otherwise the log
/// may have it from another gate's file.
pub(super) fn changes(
    state: &State,
    configured: &[(RoomName, Settings)],
    gives_up: impl Fn(&RoomName) -> bool,
) -> Vec<(RoomName, Change)> {
    let differs = |name: &RoomName, settings: &Settings| {
        let known = state.configured(name);
        known.is_none_or(|known| !known.agrees(settings))
    };
    // A log of an earlier machine version cannot hold all of them.
    let version = state.version();
    let able = |(name, settings): &(RoomName, Settings)| (name.clone(), settings.clone().under(version));
    let wanted = configured
        .iter()
        .map(able)
        .filter(|(name, settings)| differs(name, settings));
    let in_file = |name: &RoomName| configured.iter().any(|(kept, _)| kept == name);
    let is_added = |name: &RoomName| state.additions().get(name).is_some();
    let gone = state.room_names().filter(|name| !in_file(name) && !is_added(name));
    let own = state.additions().iter();
    let own = own.filter(|(name, _)| !in_file(name) && gives_up(name));
    let own = own.map(|(name, added)| (name.clone(), added.settings.clone().under(version)));
    let own = own.filter(|(name, settings)| differs(name, settings));
    let configure = wanted.chain(own);
    configure
        .map(|(name, settings)| (name, Change::Configure(settings)))
        .chain(gone.map(|name| (name.clone(), Change::Remove)))
        .collect()
}

/// The changes that make the rooms configured `before` those of `now`, in a log of this machine version.
pub(super) fn differences(
    before: &[(RoomName, Settings)],
    now: &[(RoomName, Settings)],
    version: u16,
) -> impl Iterator<Item = (RoomName, Change)> {
    let same = |(name, settings): &(RoomName, Settings)| {
        let was = before.iter().find(|(known, _)| known == name);
        was.is_some_and(|(_, was)| was.agrees(settings))
    };
    let wanted = now.iter().filter(move |room| !same(room));
    let gone = before
        .iter()
        .filter(|(name, _)| !now.iter().any(|(kept, _)| kept == name));
    let configure =
        wanted.map(move |(name, settings)| (name.clone(), Change::Configure(settings.clone().under(version))));
    configure.chain(gone.map(|(name, _)| (name.clone(), Change::Remove)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::testing::Hand;
    use crate::room::{ActiveSlots, Addition, Batch, GateId, Overrides, RoomChange, Schedule, Wall, Window};

    fn name(name: &str) -> RoomName {
        RoomName::new(name).unwrap()
    }

    fn state(rooms: Vec<RoomChange>) -> State {
        let mut hand = Hand::new(GateId(1));
        hand.say(
            0,
            Batch {
                rooms,
                ..Batch::default()
            },
        );
        hand.state
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
        let change = |room: &str, revision, change| RoomChange {
            room: name(room),
            revision,
            change,
            who: None,
        };
        let state = state(vec![
            change("same", 1, Change::Configure(plain.clone())),
            change("wider", 1, Change::Configure(plain.clone())),
            change("gone", 1, Change::Configure(plain.clone())),
            change("lowered", 1, Change::Configure(plain.clone())),
            change("lowered", 2, Change::Override(lowered.clone())),
            change("hidden", 1, Change::Configure(plain.clone())),
            change("hidden", 2, Change::Override(lowered)),
        ]);
        let configured = [
            (name("same"), plain.clone()),
            (name("lowered"), plain.clone()),
            (name("wider"), wide.clone()),
            (name("hidden"), wide.clone()),
            (name("new"), plain.clone()),
        ];
        let expected = [
            (name("wider"), Change::Configure(wide.clone())),
            (name("hidden"), Change::Configure(wide)),
            (name("new"), Change::Configure(plain)),
            (name("gone"), Change::Remove),
        ];
        assert_eq!(changes(&state, &configured, |_| false), expected);
        assert_eq!(changes(&State::empty(1), &[], |_| false), []);
    }

    #[test]
    fn active_slots_wait_until_the_log_can_hold_them() {
        let active = Settings {
            active: Some(ActiveSlots {
                idle_after_ms: 60_000,
                max_sessions: None,
            }),
            ..Settings::default()
        };
        let configured = [(name("shop"), active.clone())];
        let old = State::empty(1).with_version(1);
        let expected = [(name("shop"), Change::Configure(Settings::default()))];
        assert_eq!(changes(&old, &configured, |_| false), expected);
        assert_eq!(differences(&[], &configured, 1).collect::<Vec<_>>(), expected);
        let known = state(vec![RoomChange {
            room: name("shop"),
            revision: 1,
            change: Change::Configure(Settings::default()),
            who: None,
        }]);
        let none: [(RoomName, Change); 0] = [];
        assert_eq!(changes(&known.with_version(1), &configured, |_| false), none);
        let expected = [(name("shop"), Change::Configure(active))];
        assert_eq!(changes(&State::empty(1), &configured, |_| false), expected);
    }

    #[test]
    fn an_added_room_goes_by_its_text_only_for_the_gate_whose_file_gives_it_up() {
        let of = |capacity| Settings {
            capacity,
            ..Settings::default()
        };
        let addition = Addition {
            text: "[[room]]".to_owned(),
            settings: of(200),
            at: None,
        };
        let change = |revision, change| RoomChange {
            room: name("vip"),
            revision,
            change,
            who: None,
        };
        let state = state(vec![
            change(1, Change::Add(Box::new(addition))),
            change(2, Change::Configure(of(100))),
        ]);
        assert_eq!(changes(&state, &[], |_| false), []);
        let again = Change::Configure(of(200));
        assert_eq!(changes(&state, &[], |_| true), [(name("vip"), again)]);
        assert_eq!(changes(&state, &[(name("vip"), of(100))], |_| true), []);
    }

    #[test]
    fn of_one_rule_it_does_not_matter_which_windows_were_worked_out() {
        let sale = |rule: &str, opens: u64| Settings {
            schedule: Some(Schedule {
                rule: rule.to_owned(),
                windows: vec![Window {
                    begins: Wall(opens),
                    opens: Wall(opens),
                    closes: None,
                    results: None,
                }],
            }),
            ..Settings::default()
        };
        let known = sale("daily", 2_000_000_000);
        let state = state(vec![RoomChange {
            room: name("sale"),
            revision: 1,
            change: Change::Configure(known),
            who: None,
        }]);
        let said = |settings: Settings| changes(&state, &[(name("sale"), settings)], |_| false).len();
        assert_eq!(said(sale("daily", 3_000_000_000)), 0);
        assert_eq!(said(sale("weekly", 2_000_000_000)), 1);
        let wide = Settings {
            capacity: 500,
            ..sale("daily", 3_000_000_000)
        };
        assert_eq!(said(wide), 1);
    }
}
