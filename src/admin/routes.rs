//! Every path of the admin listener and who answers it; `openapi` describes the same.

use axum::routing::{MethodRouter, get, post};

use super::{
    Shared, additions, codes, draws, gates, hands, health, history, load, openapi, page, probes, rehearsals, reloads,
    rooms, upgrade, upstreams, verify, visitors, winners,
};

/// Paths and what each takes.
pub(super) fn table() -> Vec<(&'static str, MethodRouter<Shared>)> {
    vec![
        ("/api/v1/openapi.json", get(openapi::show)),
        ("/api/v1/rooms", get(rooms::list).post(additions::add)),
        ("/api/v1/additions", get(additions::list)),
        (
            "/api/v1/rooms/{room}",
            get(rooms::show).patch(rooms::change).delete(additions::remove),
        ),
        ("/api/v1/rooms/{room}/call", post(hands::call)),
        ("/api/v1/rooms/{room}/reset", post(hands::reset)),
        ("/api/v1/rooms/{room}/message", post(hands::message)),
        ("/api/v1/rooms/{room}/healing/end", post(hands::end_healing)),
        ("/api/v1/rooms/{room}/rehearsal", post(rehearsals::begin)),
        ("/api/v1/rooms/{room}/rehearsal/renew", post(rehearsals::renew)),
        ("/api/v1/rooms/{room}/rehearsal/end", post(rehearsals::end)),
        ("/api/v1/rooms/{room}/probe", get(probes::show)),
        ("/api/v1/rooms/{room}/load", post(load::give).delete(load::give_back)),
        ("/api/v1/rooms/{room}/changes", get(hands::changes)),
        ("/api/v1/rooms/{room}/history", get(history::show)),
        ("/api/v1/rooms/{room}/lines", get(rooms::lines)),
        ("/api/v1/rooms/{room}/winners", get(winners::list)),
        ("/api/v1/rooms/{room}/codes", get(codes::list)),
        ("/api/v1/rooms/{room}/draw", get(draws::show).post(draws::make)),
        (
            "/api/v1/rooms/{room}/visitors/{reference}",
            get(visitors::show).delete(visitors::end),
        ),
        (verify::VERIFY, get(verify::show)),
        ("/api/v1/gates", get(gates::list)),
        ("/api/v1/heal", post(gates::heal)),
        ("/api/v1/skip", post(gates::skip)),
        ("/api/v1/raise", post(gates::raise)),
        (upgrade::UPGRADE, post(upgrade::upgrade)),
        ("/api/v1/upstreams", get(upstreams::list)),
        (reloads::RELOAD, get(reloads::show).post(reloads::reload)),
        ("/", get(page::index)),
        ("/style.css", get(page::style)),
        ("/script.js", get(page::script)),
        ("/livez", get(health::live)),
        ("/healthz", get(health::live)),
        ("/readyz", get(health::ready)),
        ("/metrics", get(health::metrics)),
    ]
}
