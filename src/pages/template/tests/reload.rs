//! Reloading where no script runs: when, whither, and what the page says of it.

use super::*;

#[test]
fn reloading_without_javascript_can_be_stopped_and_switched_off() {
    let page = |name: &str| text(&page_of(name)).to_owned();
    // At once, to the page that has the link.
    assert!(page("waiting.en").contains("<noscript><meta http-equiv=\"refresh\" content=\"0;url="));
    assert!(page("waiting-bare.en").contains("reload=off"));
    assert!(page("joining-crowded.en").contains("content=\"0;url="));
    assert!(!page("waiting-reload-stopped.en").contains("http-equiv"));
    assert!(page("waiting-reload-stopped.en").contains("reload=on"));
    let off = page("waiting-reload-off.en");
    for page in [&page("waiting-reload-stopped.en"), &off] {
        assert!(
            page.contains("<p><noscript>Automatic reloading is off. Use “Check now”")
                && page.contains("<span id=\"lead\" hidden>Keep this page open. It updates itself"),
            "{page}"
        );
    }
    for name in ["waiting", "waiting-missed", "waiting-bare", "closed"] {
        assert!(!page(&format!("{name}.en")).contains("reloading is off"), "{name}");
    }
    assert!(!off.contains("http-equiv") && !off.contains("reload=") && off.contains("Check now"));
}

#[test]
fn every_page_leads_on_at_once_where_no_script_runs_and_never_past_what_is_said_once() {
    for name in preview::states() {
        let page = page_of(&format!("{name}.en"));
        let page = text(&page);
        let Some((before, _)) = page.split_once(";url=&#x2f;").or(page.split_once(";url=/")) else {
            continue;
        };
        let secs: u64 = before.rsplit_once("content=\"").unwrap().1.parse().unwrap();
        let kind = sample::cases().into_iter().find(|case| case.name == name).unwrap();
        let turn = kind.facts.line.and_then(|line| line.turn);
        let told = kind.facts.not_sent || turn.is_some_and(|turn| turn.notice.is_some());
        assert_eq!(secs == 0, !told, "{name}: {secs}");
        assert!(
            page.contains("onerror"),
            "{name}: a script that fails goes the same way"
        );
    }
    let page = |name: &str| text(&page_of(name)).to_owned();
    let way = "url=/.ropeline/rooms/shop/check?reload=bare&to=%2Fevent%2F7";
    for name in ["early", "closed", "over", "sold_out"] {
        let page = page(&format!("{name}.en"));
        assert!(page.contains(&format!("content=\"0;{way}")), "{name}: {page}");
    }
    // Such a page says all itself meanwhile.
    let missed = page("waiting-missed.en");
    assert!(
        missed.contains("You are next</span>") && !missed.contains("id=\"words\""),
        "{missed}"
    );
}

#[test]
fn a_fresh_ticket_is_looked_for_and_an_older_one_trusted() {
    let page = |name: &str| text(&page_of(name)).to_owned();
    let fresh = page("waiting-line.en");
    let check = "content=\"0;url=/.ropeline/rooms/shop/check?reload=bare&to=%2Fevent%2F7%3Fdate%3D2026-11-20%26seats%3D2&line=%3C%C3%A9v";
    assert!(fresh.contains(check), "{fresh}");
    let looks = |name: &str| facts(&page(name)).get("check").is_some();
    assert!(looks("waiting-line.en") && !looks("waiting.en"));
}

#[test]
fn where_nothing_is_to_come_nobody_is_asked_to_check() {
    let english: Vec<_> = sample::cases()
        .into_iter()
        .filter(|case| case.kind.follows())
        .flat_map(|case| {
            [
                (case.name, case.kind, case.facts),
                ("bare", case.kind, bare::in_bare(&case.facts)),
            ]
        })
        .collect();
    for (name, kind, facts) in english {
        let page = built_in_once().render(kind, &facts, Language::ENGLISH);
        let page = text(&page);
        let results = facts.line.unwrap().stock.results.is_some();
        let ends = matches!(kind, PageKind::Over | PageKind::SoldOut) && !results;
        for part in ["Check now", "Last updated"] {
            let said = page.split("<script").next().unwrap().contains(part) || page.contains("id=\"updated\"");
            assert_eq!(said, !ends, "{name}: {part}: {page}");
        }
    }
}
