//! Bytes: entries and snapshots decode to what was encoded, and other bytes are refused.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use ropeline_room::draw::{AdmissionOrder, Hash};
use ropeline_room::{
    ActiveSlots, Addition, Adopt, Batch, Bound, Bounds, BroughtCodes, CallOrder, Change, Circuit, Claim, Clock, CodeId,
    Commitment, Completion, Controller, Drawing, DrawnLane, Edition, Encoded, End, Entry, Epoch, Eviction, Forms,
    GateId, Hold, LaneId, Late, LineName, Linear, LoadControl, MAX_BATCH_BYTES, Made, Mode, NamedLane, Number, Outside,
    Overrides, PendingId, Position, Redeem, RehearsalId, RehearsalOrder, Report, RoomChange, RoomName, Root, STEPS,
    Sale, Schedule, Section, Settings, Spent, Spoke, State, Tag, Tagged, Times, VERSION, Vote, Wall, Who, Window,
};

use ropeline_room::testing::log::{LANE, Log, only, settings};

fn room_name() -> impl Strategy<Value = RoomName> {
    "[a-z0-9-]{1,32}".prop_map(|name| RoomName::new(&name).unwrap())
}

fn line_name() -> impl Strategy<Value = LineName> {
    "[^\\pC]{0,16}".prop_map(|name| LineName::new(&name).unwrap())
}

prop_compose! {
    fn named()(lane in any::<u8>(), epoch in 0..3_u64, n in prop_oneof![0..200_u32, any::<u32>()]) -> (LaneId, Number) {
        (LaneId(lane), Number { epoch: Epoch(epoch), n })
    }
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Auto), Just(Mode::Hold), Just(Mode::Closed), Just(Mode::Off)]
}

prop_compose! {
    fn window()(walls in any::<[u64; 2]>(), rest in any::<[Option<u64>; 2]>()) -> Window {
        let [closes, results] = rest.map(|wall| wall.map(Wall));
        Window { begins: Wall(walls[0]), opens: Wall(walls[1]), closes, results }
    }
}

prop_compose! {
    fn schedule()(rule in "\\PC{0,40}", windows in vec(window(), 0..4)) -> Schedule {
        Schedule { rule, windows }
    }
}

fn load_control() -> impl Strategy<Value = LoadControl> {
    let linear = any::<[u32; 4]>().prop_map(|[most, least, from, until]| {
        Controller::Linear(Linear {
            most,
            least,
            from,
            until,
        })
    });
    let adaptive = any::<(u32, u16)>().prop_map(|(p95_ms, errors_permille)| {
        Controller::Adaptive(Bounds {
            p95_ms,
            errors_permille,
        })
    });
    (prop_oneof![linear, adaptive], any::<u64>()).prop_map(|(by, ttl_ms)| LoadControl { by, ttl_ms })
}

prop_compose! {
    fn report()(
        counts in any::<[u32; 7]>(), circuit in 0..3_usize, times in any::<[u32; STEPS]>(),
    ) -> Report {
        let [span_ms, requests, ended, errors, in_flight, hanging, answered] = counts;
        let circuit = [Circuit::Closed, Circuit::Trial, Circuit::Open][circuit];
        Report { span_ms, requests, ended, errors, in_flight, hanging, answered, circuit, times: Times::of(times) }
    }
}

fn outside() -> impl Strategy<Value = Outside> {
    any::<(u32, Option<u32>, Option<u16>, u32)>().prop_map(|(requests_per_second, p95_ms, errors_permille, ttl_ms)| {
        Outside {
            requests_per_second,
            p95_ms,
            errors_permille,
            ttl_ms,
        }
    })
}

prop_compose! {
    fn any_settings()(
        mode in mode(), capacity in any::<u32>(), rate_per_minute in any::<Option<u32>>(),
        durations in any::<[u64; 7]>(), max_lines in any::<u32>(), lane_weights in vec(any::<u16>(), 0..12),
        schedule in option::of(schedule()), draw in option::of((order(), option::of("\\PC{1,20}"))),
        stock in any::<Option<u32>>(), bypass_most in any::<u32>(), active in any::<Option<(u64, Option<u32>)>>(),
        lanes in vec(("[a-z]{0,40}", any::<bool>()), 0..12), load_control in option::of(load_control()),
    ) -> Settings {
        let [call_every_ms, session_ms, session_max_ms, claim_deadline_ms, grace_ms, firm_within_ms, late_window_ms] =
            durations;
        Settings {
            mode, capacity, rate_per_minute, call_every_ms, session_ms, session_max_ms, claim_deadline_ms, grace_ms,
            firm_within_ms, late_window_ms, max_lines, lane_weights, schedule, stock, bypass_most, load_control,
            lanes: lanes.into_iter().map(|(name, out)| NamedLane { name, out }).collect(),
            draw: draw.map(|(order, beacon)| Drawing { order, beacon }),
            active: active.map(|(idle_after_ms, max_sessions)| ActiveSlots { idle_after_ms, max_sessions }),
        }
    }
}

prop_compose! {
    fn overrides()(
        mode in option::of(mode()), capacity in any::<Option<u32>>(), rate_per_minute in any::<Option<Option<u32>>>(),
        message in option::of("\\PC{0,40}"), schedule in option::of(schedule()), stock in any::<Option<u32>>(),
        messages in btree_map("[a-z]{2}", "\\PC{0,40}", 0..4),
    ) -> Overrides {
        Overrides { mode, capacity, rate_per_minute, message, messages, schedule, stock }
    }
}

fn order() -> impl Strategy<Value = AdmissionOrder> {
    prop::sample::select(AdmissionOrder::all_with_tests().collect::<Vec<_>>())
}

prop_compose! {
    fn sale()(
        order in order(), beacon in option::of("\\PC{1,20}"), salt in any::<[u8; 16]>(), hash in any::<[u8; 32]>(), at in any::<u64>(),
        lost in any::<bool>(), [late, closed] in any::<[Option<u64>; 2]>(), [begins, opens] in any::<[u64; 2]>(), secret in any::<Option<[u8; 32]>>(),
    ) -> Sale {
        let value = beacon.clone();
        Sale {
            lost, late: late.map(|at| Late { at: Wall(at), again: 3 }),
            commitment: Some(Commitment { order, beacon, forms: Forms { begins: Wall(begins), opens: Wall(opens) }, salt, hash: Hash(hash), at: Wall(at) }),
            closed: closed.map(Wall),
            made: secret.map(|secret| Made { secret: Hash(secret), value, at: Wall(at) }),
        }
    }
}

prop_compose! {
    fn drawn_lane()(line in line_name(), lane in any::<u8>(), runs in vec(any::<(u64, u32, u32)>(), 0..4)) -> DrawnLane {
        let runs = runs.into_iter().map(|(epoch, from, to)| (Epoch(epoch), from, to)).collect();
        DrawnLane { line, lane: LaneId(lane), runs }
    }
}

prop_compose! {
    fn who()(name in "\\PC{0,12}", reason in "\\PC{0,40}") -> Who {
        Who { name, reason }
    }
}

prop_compose! {
    fn room_change()(room in room_name(), revision in any::<u64>(), who in option::of(who()), change in prop_oneof![
        any_settings().prop_map(Change::Configure),
        overrides().prop_map(Change::Override),
        Just(Change::Reset),
        (line_name(), any::<Option<u8>>(), any::<u32>(), any::<bool>()).prop_map(|(line, lane, count, beyond)| {
            Change::Call(CallOrder { line, lane: lane.map(LaneId), count, beyond })
        }),
        (line_name(), named()).prop_map(|(line, (lane, number))| Change::Evict(Eviction { line, lane, number })),
        option::of(outside()).prop_map(Change::Load),
        Just(Change::Remove),
        ("\\PC{0,40}", any_settings(), any::<Option<u64>>()).prop_map(|(text, settings, at)| {
            Change::Add(Box::new(Addition { text, settings, at: at.map(Wall) }))
        }),
        any::<u32>().prop_map(|edition| Change::Edition(Edition(edition))),
        (any::<u32>(), order(), option::of("\\PC{0,20}"), any::<[u64; 2]>(), any::<[u8; 16]>(), any::<[u8; 32]>()).prop_map(|(edition, order, beacon, [begins, opens], salt, hash)| {
            let forms = Forms { begins: Wall(begins), opens: Wall(opens) };
            Change::Commit { edition: Edition(edition), order, beacon, forms, salt, commitment: Hash(hash) }
        }),
        (any::<u32>(), any::<[u8; 32]>(), option::of("\\PC{0,20}")).prop_map(|(edition, secret, value)| {
            Change::Draw { edition: Edition(edition), secret: Hash(secret), value }
        }),
        (any::<u32>(), sale(), vec(drawn_lane(), 0..3)).prop_map(|(edition, sale, lanes)| {
            Change::Sale { edition: Edition(edition), sale: Box::new(sale), lanes }
        }),
        schedule().prop_map(|Schedule { rule, windows }| Change::Windows { rule, windows }),
        (any::<[u8; 8]>(), any::<u32>(), any::<[bool; 2]>(), any::<u64>(), who()).prop_map(
            |(id, size, [forward, anyway], for_ms, by)| Change::Rehearse(Box::new(RehearsalOrder {
                id: RehearsalId(id), size, forward, anyway, for_ms, by,
            })),
        ),
        any::<[u8; 8]>().prop_map(|id| Change::Renew(RehearsalId(id))),
        Just(Change::EndHealing),
        any::<[u8; 8]>().prop_map(|id| Change::EndRehearsal(RehearsalId(id))),
    ]) -> RoomChange {
        RoomChange { room, revision, change, who }
    }
}

prop_compose! {
    fn section()(
        room in room_name(), line in line_name(), leaves in vec(named(), 0..5),
        ends in vec((named(), any::<u64>()), 0..5), completions in vec((named(), any::<(u32, u64, Option<u64>, Option<[u8; 8]>)>()), 0..5), claims in vec((named(), any::<bool>()), 0..5),
        reopens in vec(named(), 0..5), renewals in vec(named(), 0..5), marks in vec(named(), 0..200),
        brought in [vec(named(), 0..200), vec(named(), 0..5), vec(named(), 0..5)], [bypasses, networks] in any::<[u32; 2]>(),
        joins in vec((any::<u8>(), any::<u32>()), 0..5), pending in vec((any::<u8>(), any::<[u8; 12]>()), 0..5),
        tagged in vec((any::<u8>(), vec(any::<[u8; 8]>(), 0..3), option::of(any::<[u8; 12]>())), 0..5),
        bound in vec((named(), vec(any::<[u8; 8]>(), 0..3)), 0..20), rehearsal in option::of(any::<[u8; 8]>()),
        back in (vec(named(), 0..5), vec((named(), any::<u64>()), 0..3)),
    ) -> Section {
        let [taken, spent, voids] = brought;
        let (returns, holds) = back;
        Section {
            room, line, rehearsal: rehearsal.map(RehearsalId), leaves, reopens, renewals, marks, taken, spent, voids, bypasses, networks, returns,
            holds: holds.into_iter().map(|((lane, number), for_ms)| Hold { lane, number, for_ms }).collect(),
            ends: ends.into_iter().map(|((lane, number), after_ms)| End { lane, number, after_ms }).collect(),
            completions: completions.into_iter().map(|((lane, number), (edition, after_ms, at, tag))| {
                Completion { lane, number, edition: Edition(edition), after_ms, at: at.map(Wall), tag: tag.map(Tag) }
            }).collect(),
            claims: claims.into_iter().map(|((lane, number), carried)| Claim { lane, number, carried }).collect(),
            joins: joins.into_iter().map(|(lane, count)| (LaneId(lane), count)).collect(),
            pending_joins: pending.into_iter().map(|(lane, id)| (LaneId(lane), PendingId(id))).collect(),
            tagged: tagged.into_iter().map(|(lane, tags, id)| Tagged {
                lane: LaneId(lane), tags: tags.into_iter().map(Tag).collect(), id: id.map(PendingId),
            }).collect(),
            bound: bound.into_iter().map(|((lane, number), tags)| Bound {
                lane, number, tags: tags.into_iter().map(Tag).collect(),
            }).collect(),
        }
    }
}

prop_compose! {
    fn redeem()(
        room in prop_oneof![Just(ropeline_room::testing::log::room()), room_name()], line in prop_oneof![Just(LineName::ONLY), line_name()],
        lane in 0..3_u8, tags in vec(any::<[u8; 8]>(), 0..3), ids in any::<([u8; 6], [u8; 12])>(), dates in any::<(u64, Option<u64>)>(),
        flags in any::<[bool; 2]>(), leaves in option::of(named()),
    ) -> Redeem {
        Redeem {
            room, line, lane: LaneId(lane), tags: tags.into_iter().map(Tag).collect(), code: CodeId(ids.0), holder: PendingId(ids.1),
            issued: Wall(dates.0), expires: dates.1.map(Wall), single: flags[0], bypass: flags[1], leaves,
        }
    }
}

prop_compose! {
    fn brought()(
        room in prop_oneof![Just(ropeline_room::testing::log::room()), room_name()], past in vec((line_name(), named()), 0..3),
        spent in vec((any::<([u8; 6], [u8; 12])>(), any::<[u64; 2]>(), line_name(), named(), any::<bool>()), 0..4),
    ) -> BroughtCodes {
        let spent = spent.into_iter().map(|((code, holder), [expires, at], line, (lane, number), bypass)| {
            let (holder, expires, at) = (PendingId(holder), Wall(expires), Wall(at));
            (CodeId(code), Spent { holder, expires, at, line, lane, number, bypass })
        });
        BroughtCodes { room, spent: spent.collect(), past: past.into_iter().map(|(line, (lane, number))| (line, lane, number)).collect() }
    }
}

prop_compose! {
    fn spoke()(ids in any::<[u64; 2]>(), nonce in any::<[u8; 8]>(), roster in vec(any::<u64>(), 0..5)) -> Spoke {
        Spoke {
            position: Position { epoch: ids[0], sequence: ids[1] },
            nonce,
            roster: roster.into_iter().map(GateId).collect(),
        }
    }
}

prop_compose! {
    /// A batch with what gates say among themselves.
    fn batch()(
        flags in any::<[bool; 2]>(), knows in any::<u16>(), spoke in option::of(spoke()),
        root in any::<Option<[u8; 32]>>(), vote in any::<Option<(u64, [u8; 32], bool)>>(), saved in any::<Option<u64>>(),
        raise in any::<Option<u16>>(), adopt in any::<Option<(u64, u64, u32, [bool; 2])>>(), lag in any::<(u64, u32)>(),
        load in btree_map(room_name(), report(), 0..3), notes_until in any::<Option<u64>>(),
    ) -> Batch {
        Batch {
            hello: flags[0], goodbye: flags[1], knows, applied: lag.0, lag_us: lag.1, spoke, root, saved, raise,
            load: load.into_iter().collect(),
            notes_until: notes_until.map(Clock),
            vote: vote.map(|(sequence, hash, again)| Vote { sequence, hash, again }),
            adopt: adopt.map(|(epoch, sequence, floor, [whole, done])| Adopt { epoch: Epoch(epoch), sequence, floor, whole, done }),
            ..Batch::default()
        }
    }
}

prop_compose! {
    fn entry()(
        batch in batch(), ids in any::<[u64; 5]>(), nonces in any::<[[u8; 8]; 2]>(),
        rooms in vec(room_change(), 0..3), sections in vec(section(), 0..3),
        redeems in vec(redeem(), 0..3), spent_codes in vec(brought(), 0..2),
    ) -> Entry {
        Entry {
            position: Position { epoch: ids[0], sequence: ids[1] },
            gate: GateId(ids[2]),
            serial: ids[3],
            previous: nonces[0],
            nonce: nonces[1],
            time: Wall(ids[4]),
            version: VERSION,
            batch: Batch { rooms, sections, redeems, spent_codes, ..batch },
        }
    }
}

/// Possible damage to a byte.
#[derive(Clone, Debug)]
enum Slip {
    Altered(prop::sample::Index, u8),
    Bumped(prop::sample::Index, u8),
    Added(prop::sample::Index, u8),
    Lost(prop::sample::Index),
}

fn slip() -> impl Strategy<Value = Slip> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Slip::Altered(at, byte)),
        (at(), prop::sample::select(vec![1_u8, 255, 8, 128])).prop_map(|(at, by)| Slip::Bumped(at, by)),
        (at(), 0..3_u8).prop_map(|(at, byte)| Slip::Added(at, byte)),
        at().prop_map(Slip::Lost),
    ]
}

impl Slip {
    fn alter(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Altered(at, byte) => *at.get_mut(bytes) = *byte,
            Self::Bumped(at, by) => {
                let byte = at.get_mut(bytes);
                *byte = byte.wrapping_add(*by);
            }
            Self::Added(at, byte) => bytes.insert(at.index(bytes.len()), *byte),
            Self::Lost(at) => _ = bytes.remove(at.index(bytes.len())),
        }
    }
}

/// A room with some of everything in it.
fn lived_in() -> State {
    let mut log = Log::new(Settings {
        lane_weights: vec![1, 2],
        rate_per_minute: Some(600),
        bypass_most: 2,
        ..settings(4)
    });
    let people = log.join(40);
    log.pass(11_000);
    for person in &people[6..30] {
        log.mark(*person);
    }
    log.pass(2_000);
    for person in &people[6..9] {
        log.claim(*person, true);
    }
    log.leave(people[6]);
    log.end(people[7], 5_000);
    log.pending(9);
    log.account(&[1]);
    log.account(&[2]);
    log.redeem(crate::codes::code(1, 1)).unwrap();
    log.redeem(crate::codes::bypass(2, 2)).unwrap();
    log.state.begin(5_000, Root::Own);
    log.rejoin();
    log.say(Section {
        joins: vec![(LANE, 300), (LaneId(1), 3)],
        ..only()
    });
    log.mark(people[35]);
    log.mark(Number { epoch: Epoch(77), n: 5 });
    log.state
}

proptest! {
    #[test]
    fn an_entry_comes_back_as_it_was(entry in entry()) {
        let bytes = entry.encode();
        prop_assert_eq!(Entry::decode(&bytes), Ok(entry.clone()));
        prop_assert!(bytes.ends_with(&entry.batch.encode()));
    }

    /// A log that keeps the batch apart gives the same bytes, and so the same chain, as one that keeps the entry whole.
    #[test]
    fn an_entry_put_together_from_its_parts_is_the_one_that_was_written(entry in entry()) {
        let head = Entry { batch: Batch::default(), ..entry.clone() };
        let whole = Encoded::decode(entry.encode()).unwrap();
        prop_assert_eq!(&Encoded::with_batch(head, &entry.batch.encode()).unwrap(), &whole);
        prop_assert_eq!(&Encoded::from(entry), &whole);
    }

    /// There is only one encoding: bytes and entry determine each other.
    #[test]
    fn cut_and_altered_entries_are_errors_or_other_entries_and_never_a_panic(
        entry in entry(), slips in vec(slip(), 1..4), cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = entry.encode();
        prop_assert!(Entry::decode(&bytes[..cut.index(bytes.len())]).is_err());
        for slip in slips {
            slip.alter(&mut bytes);
        }
        if let Ok(other) = Entry::decode(&bytes) {
            prop_assert!(other.encode() == bytes, "{:02x?} is written as {:02x?}", bytes, other.encode());
            let mut state = lived_in();
            state.apply(&Entry { position: Position { sequence: u64::MAX, ..state.position() }, ..other }.into());
            prop_assert!(State::decode(&state.encode()).is_ok());
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_entry_and_no_state(bytes in vec(any::<u8>(), 0..400)) {
        let _ = Entry::decode(&bytes);
        prop_assert!(State::decode(&bytes).is_err());
    }

    #[test]
    fn entries_of_anything_are_applied_without_a_panic(entries in vec(entry(), 1..6)) {
        let mut state = lived_in();
        for (sequence, entry) in (1_000..).zip(entries) {
            let position = Position { sequence, ..state.position() };
            state.apply(&Entry { position, ..entry }.into());
            let view = state.view();
            prop_assert_eq!(view.position, state.position());
        }
        let again = State::decode(&state.encode()).unwrap();
        prop_assert_eq!(again.hash(), state.hash());
    }
}

#[test]
fn a_batch_has_at_most_one_report_for_a_room_and_in_their_order() {
    let batch = |rooms: [&str; 2]| Batch {
        load: rooms
            .map(|room| (RoomName::new(room).unwrap(), Report::default()))
            .to_vec(),
        ..Batch::default()
    };
    let read = |rooms| Batch::decode(&batch(rooms).encode()).is_ok();
    assert!(read(["a", "b"]) && !read(["b", "a"]) && !read(["a", "a"]));
}

/// As long as may be with its head, and longer: what is put together can be read again whole.
#[test]
fn a_batch_that_its_head_makes_too_long_for_an_entry_is_refused() {
    let head = |batch| Entry {
        position: Position { epoch: 1, sequence: 1 },
        gate: GateId(1),
        serial: 1,
        previous: [0; 8],
        nonce: [0; 8],
        time: Wall(1),
        version: VERSION,
        batch,
    };
    let fill = |bytes| Batch {
        rooms: vec![RoomChange {
            room: RoomName::new("a").unwrap(),
            revision: 1,
            change: Change::Add(Box::new(Addition {
                text: "x".repeat(bytes),
                settings: settings(1),
                at: None,
            })),
            who: None,
        }],
        ..Batch::default()
    };
    let most = 2 * MAX_BATCH_BYTES;
    let alone = (0..=most)
        .rev()
        .find(|bytes| Batch::decode(&fill(*bytes).encode()).is_ok())
        .unwrap();
    assert!(Encoded::with_batch(head(Batch::default()), &fill(alone).encode()).is_err());
    let together = alone - head(Batch::default()).encode().len();
    let entry = Encoded::with_batch(head(Batch::default()), &fill(together).encode()).unwrap();
    assert!(Entry::decode(entry.bytes()).is_ok());
}

#[test]
fn what_gates_write_all_the_time_is_short() {
    let epoch = (1_800_000_000 << 24) + 1;
    let entry = |sections| Entry {
        position: Position {
            epoch,
            sequence: 100_000,
        },
        gate: GateId(u64::MAX),
        serial: 30_000,
        previous: [7; 8],
        nonce: [8; 8],
        time: Wall(1_800_000_000_000),
        version: VERSION,
        batch: Batch {
            applied: 99_999,
            lag_us: 1_000,
            sections,
            ..Batch::default()
        },
    };
    let number = |n: u32| {
        (
            LANE,
            Number {
                epoch: Epoch(epoch),
                n: 5_000 + n * 40,
            },
        )
    };
    let joins = Section {
        joins: vec![(LANE, 20)],
        ..only()
    };
    let marks = Section {
        marks: (0..100).map(number).collect(),
        ..joins.clone()
    };
    for (sections, most) in [(vec![], 53), (vec![joins], 65), (vec![marks], 180)] {
        let bytes = entry(sections).encode().len();
        assert!(bytes <= most, "{bytes} of {most}");
    }
}

#[test]
fn a_state_comes_back_as_it_was_and_its_hash_is_of_all_its_bytes() {
    let state = lived_in();
    let bytes = state.encode();
    let again = State::decode(&bytes).unwrap();
    assert_eq!(again.encode(), bytes);
    assert_eq!(State::hash_of(&bytes), state.hash());
    assert_eq!(
        (again.position(), again.nonce(), again.tick_ms()),
        (state.position(), state.nonce(), state.tick_ms())
    );
}

#[test]
fn any_altered_or_cut_byte_of_a_snapshot_is_noticed() {
    let bytes = lived_in().encode();
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 1;
        assert!(State::decode(&altered).is_err(), "byte {at}");
        assert!(State::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn entries_of_another_version_or_beyond_any_size_are_refused() {
    let mut log = Log::new(settings(1));
    let entry = log.entry(0, Batch::default());
    let mut bytes = entry.encode();
    bytes[0] = 4;
    assert!(Entry::decode(&bytes).is_err());
    let message = Overrides {
        message: Some("x".repeat(200_000)),
        ..Overrides::default()
    };
    let change = RoomChange {
        room: RoomName::new("a").unwrap(),
        revision: 1,
        change: Change::Override(message),
        who: None,
    };
    let entry = Entry {
        batch: Batch {
            rooms: vec![change],
            ..Batch::default()
        },
        ..entry
    };
    assert!(Entry::decode(&entry.encode()).is_err());
}
