//! The gate's own paths under each host: they are about the rooms of its shop alone.

use super::{BOOKS, MUSIC, Two, at, inside};

/// What each endpoint needs to be asked by.
const ENDPOINTS: [&str; 9] = [
    "GET /.ropeline/rooms/ROOM/status",
    "GET /.ropeline/rooms/ROOM/events",
    "GET /.ropeline/rooms/ROOM/check",
    "GET /.ropeline/rooms/ROOM/enter",
    "POST /.ropeline/rooms/ROOM/join",
    "POST /.ropeline/rooms/ROOM/check-in",
    "POST /.ropeline/rooms/ROOM/leave",
    "POST /.ropeline/rooms/ROOM/code",
    "POST /.ropeline/rooms/ROOM/afresh",
];

#[test]
fn a_host_shows_nothing_of_another_shops_rooms() {
    let two = Two::new("", "");
    let gate = two.start();
    let mut visitor = inside(&gate, MUSIC, "/one");
    assert_eq!(visitor.status()["state"], "inside");
    let fields = "Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n";
    for (host, room) in [(BOOKS, "shop"), (MUSIC, "books")] {
        for endpoint in ENDPOINTS {
            let answer = visitor.at_host(host).asks(&endpoint.replace("ROOM", room), fields, "");
            assert_eq!(
                (answer.status, answer.word()),
                (404, "not_found"),
                "{endpoint} of {room} at {host}"
            );
        }
    }
    let rooms = |name: &str| gate.asks_admin(&format!("/api/v1/rooms/{name}")).json();
    assert_eq!(
        (&rooms("shop")["joins"], &rooms("books")["joins"]),
        (&1.into(), &0.into())
    );
    assert_eq!(
        visitor.status()["state"],
        "inside",
        "nothing of the other host has ended it"
    );
    let mut app = at(&gate, BOOKS);
    let joined = app.asks("POST /.ropeline/rooms/books/join", fields, "");
    assert_eq!(
        (joined.status, rooms("books")["joins"].as_u64()),
        (200, Some(1)),
        "{joined:?}"
    );
}
