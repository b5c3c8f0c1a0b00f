//! The operator's page: every line live, and the switches.

use serde_json::json;

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

const TOKENS: &str = "admin_tokens = [{ name = \"anna\", token = \"annas-own-token-of-the-tests\", may = \"change\" }]";

/// A gate with a full room for one, and an operator's browser that has given its token.
async fn entered(look: Look) -> (Gate, Guest, Browser) {
    let gate = hall::open_serving(TOKENS, 1, "").await;
    let inside = hall::insider(&gate).await;
    let browser = enters(&gate, look).await;
    (gate, inside, browser)
}

async fn enters(gate: &Gate, look: Look) -> Browser {
    let browser = Browser::start(look).await;
    browser.open(&format!("http://{}/", gate.admin)).await;
    browser.shows("Admin token").await;
    browser.fill("#token", "annas-own-token-of-the-tests").await;
    browser.click("#enter button").await;
    browser.shows("Gate: live").await;
    browser.awaits(&format!("#room-{ROOM}")).await;
    browser
}

#[tokio::test]
async fn servers_and_rooms_say_which_upstream_they_are_of_where_it_has_a_name() {
    let (gate, _inside, browser) = entered(Look::default()).await;
    let first = "return [...document.querySelectorAll('#upstreams tr')].map(row => row.cells[0].textContent).join()";
    let nameless = browser.run(first).await;
    assert!(
        nameless
            .as_str()
            .is_some_and(|cells| cells.starts_with("Server,127.0.0.1:")),
        "{nameless}"
    );
    gate.reconfigure("[upstream]\n", "[upstream]\nname = \"opera\"\n");
    browser.shows("Upstream: opera").await;
    crate::harness::eventually("the name in the table", async || {
        (browser.run(first).await == "Upstream,opera").then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_operator_sees_the_line_and_lets_the_next_in() {
    let (gate, _inside, browser) = entered(Look::default()).await;
    let visitor = Browser::start(Look {
        language: "ko-KR,ko",
        ..Look::default()
    })
    .await;
    visitor.open(&gate.at("/seats")).await;
    visitor.awaits("#position").await;
    let waiting =
        format!("return document.querySelector('#room-{ROOM}').closest('section').querySelector('dd').textContent");
    crate::harness::eventually("one who waits", async || {
        (browser.run(&waiting).await == "1").then_some(())
    })
    .await;
    browser.click(".switches summary").await;
    browser
        .fill("textarea[name=texts]", "en: Back at two\nko: 두 시에 다시 엽니다")
        .await;
    browser.click("form:has(textarea) button").await;
    browser.shows("Those who wait in hall are told.").await;
    visitor.shows("두 시에 다시 엽니다").await;
    browser.fill("input[name=count]", "1").await;
    browser.click("input[name=beyond]").await;
    browser.fill("form:has([name=count]) [name=reason]", "a friend").await;
    browser.click("form:has([name=count]) button").await;
    browser.shows("1 of 1 called in hall.").await;
    visitor.shows("Choose your seats").await;
    let page = browser
        .shows("anna: called 1 of 1, above the capacity too (a friend)")
        .await;
    assert!(page.contains("Upstreams") && page.contains("message.ko"), "{page}");
    browser.screenshot("operator-desktop").await;
}

#[tokio::test]
async fn a_reset_asks_for_the_rooms_name_and_a_reason() {
    let (_gate, mut inside, browser) = entered(Look::default()).await;
    browser.click(".switches summary").await;
    browser.click(".switches > button.grave").await;
    browser.shows("everybody waiting loses their place").await;
    browser.click("#sure-yes").await;
    browser.shows("Type hall to confirm.").await;
    browser.fill("#sure-name", ROOM).await;
    browser.click("#sure-yes").await;
    browser.shows("Say why.").await;
    browser.screenshot("operator-sure").await;
    browser.fill("#sure-reason", "the rehearsal is over").await;
    browser.click("#sure-yes").await;
    browser.shows("hall has begun anew.").await;
    browser
        .shows("anna: reset: edition 0 → 1 (the rehearsal is over)")
        .await;
    let ended = inside.visit("/seats").await;
    assert_ne!(ended.body, "", "whoever was inside joins anew");
}

#[tokio::test]
async fn a_phone_in_the_dark_shows_all_of_it_within_its_width() {
    let (_gate, _inside, browser) = entered(Look {
        phone: true,
        dark: true,
        ..Look::default()
    })
    .await;
    browser.awaits("svg path.value[d]").await;
    browser.screenshot("operator-phone").await;
    browser.click(".switches summary").await;
    let wide = "return document.documentElement.scrollWidth";
    assert_eq!(browser.run(wide).await, json!(360));
    let nameless = "return [...document.querySelectorAll('input, select, textarea, svg')].filter(one => \
                    !one.closest('label') && !one.getAttribute('aria-label')).length";
    assert_eq!(browser.run(nameless).await, json!(0));
    let small = "return [...document.querySelectorAll('button, summary, select, input')].filter(one => \
                 one.checkVisibility() && one.type != 'checkbox' && one.getBoundingClientRect().height < 24).length";
    assert_eq!(browser.run(small).await, json!(0));
    browser.screenshot("operator-phone-switches").await;
}

#[tokio::test]
async fn a_wrong_token_is_said_and_forgotten() {
    let gate = hall::open_serving(TOKENS, 1, "").await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&format!("http://{}/", gate.admin)).await;
    browser.shows("Admin token").await;
    browser.fill("#token", "somebody-elses-token").await;
    browser.click("#enter button").await;
    browser.shows("That token is not taken.").await;
    assert_eq!(browser.run("return sessionStorage.length").await, json!(0));
}

#[tokio::test]
async fn an_added_room_shows_its_stock_and_is_removed_with_its_name_and_a_reason() {
    let (_gate, _inside, browser) = entered(Look {
        phone: true,
        ..Look::default()
    })
    .await;
    let stock = "return [...document.querySelectorAll('dt')].filter(one => \
                 one.checkVisibility() && ['Sold', 'Left', 'Under way'].includes(one.textContent)).length";
    assert_eq!(browser.run(stock).await, json!(0), "nothing is counted");
    let removable = "return [...document.querySelectorAll('.remove')].filter(one => !one.hidden).length";
    assert_eq!(
        browser.run(removable).await,
        json!(0),
        "the file's rooms are removed there"
    );
    let added = "return ask('rooms', 'POST', { name: 'drop', routes: ['/drop/*'], stock: 5, \
                 completes_on: [{ route: '/drop/done', status: 200 }] }).then(told => told.room.from)";
    assert_eq!(browser.run(added).await, json!("api"));
    browser.awaits("#room-drop").await;
    browser.shows("Added by an operator").await;
    crate::harness::eventually("its stock", async || {
        (browser.run(stock).await == json!(3)).then_some(())
    })
    .await;
    browser
        .click("section[aria-labelledby=room-drop] .switches summary")
        .await;
    browser.screenshot("operator-added").await;
    let wide = "return document.documentElement.scrollWidth";
    assert_eq!(browser.run(wide).await, json!(360));
    browser.click("section[aria-labelledby=room-drop] .remove").await;
    browser.shows("Remove drop").await;
    browser.fill("#sure-name", "drop").await;
    browser.click("#sure-yes").await;
    browser.shows("Say why.").await;
    removes(&browser, "sold elsewhere").await;
}

/// Who is away holds a right, and where all are taken a free slot calls nobody.
#[tokio::test]
async fn a_room_with_active_slots_shows_who_is_parked_and_that_all_rights_are_taken() {
    let shown = "return [...document.querySelectorAll('dt')].filter(one => one.checkVisibility() && \
                 ['Parked', 'Rights taken'].includes(one.textContent)).map(one => one.nextElementSibling.textContent).join()";
    let (_gate, _inside, browser) = entered(Look::default()).await;
    assert_eq!(browser.run(shown).await, json!(""), "no slots are active");
    drop(browser);
    let active = "slots = \"active\"\nidle_after = \"4s\"\nmax_sessions = 1";
    let gate = hall::open_serving(TOKENS, 1, active).await;
    let _away = hall::insider(&gate).await;
    let browser = enters(&gate, Look::default()).await;
    crate::harness::eventually("who is away", async || {
        (browser.run(shown).await == json!("1,1 of 1")).then_some(())
    })
    .await;
    browser.shows("All rights are taken: nobody is called").await;
    browser.screenshot("operator-parked").await;
}

#[tokio::test]
async fn an_added_room_that_the_gate_cannot_take_is_removed_there_too() {
    let files = tempfile::tempdir().unwrap();
    let page = files.path().join("page.html");
    std::fs::write(&page, "<!doctype html><html></html>").unwrap();
    let server = format!("{TOKENS}\nroom_files = \"{}\"", files.path().display());
    let gate = hall::open_serving(&server, 1, "").await;
    let browser = enters(&gate, Look::default()).await;
    let added = "return ask('rooms', 'POST', { name: 'drop', routes: ['/drop/*'], page: { template: 'page.html' } })\
                 .then(told => told.room.from)";
    assert_eq!(browser.run(added).await, json!("api"));
    drop(browser);
    let gate = gate.kill();
    std::fs::remove_file(&page).unwrap();
    let gate = gate.start();
    let browser = enters(&gate, Look::default()).await;
    browser.shows("the room drop is not taken here").await;
    browser.awaits("#room-drop").await;
    let removable = "return [...document.querySelectorAll('.remove')].filter(one => !one.hidden)\
                     .map(one => one.closest('section').querySelector('h2').textContent).join()";
    crate::harness::eventually("its button", async || {
        (browser.run(removable).await == json!("drop")).then_some(())
    })
    .await;
    browser
        .click("section[aria-labelledby=room-drop] .switches summary")
        .await;
    browser.click("section[aria-labelledby=room-drop] .remove").await;
    browser.shows("Remove drop").await;
    browser.fill("#sure-name", "drop").await;
    removes(&browser, "its page is gone").await;
}

#[tokio::test]
async fn the_doctors_findings_stand_above_the_rooms_the_worst_first() {
    // More than any system lets a process open.
    let server = format!("{TOKENS}\nmax_connections = 9000000");
    let gate = hall::open_serving(&server, 1, "").await;
    for (look, name) in [
        (Look::default(), "doctor-desktop"),
        (
            Look {
                phone: true,
                ..Look::default()
            },
            "doctor-phone",
        ),
    ] {
        let browser = enters(&gate, look).await;
        let page = browser.shows("and max_connections = 9000000 can need 18000000").await;
        assert!(page.contains("server.max_connections"), "{page}");
        let order = "return [...document.querySelectorAll('#findings > li')].map(one => one.className).join()";
        let order = browser.run(order).await;
        assert!(order.as_str().unwrap().starts_with("fault"), "{order}");
        let folded = "return document.querySelectorAll('#doctor-fine li.fine').length > 3 && !document.getElementById('doctor-fine').open";
        assert_eq!(browser.run(folded).await, json!(true));
        let heading = "return document.getElementById('doctor-title').getBoundingClientRect().height";
        assert!(
            browser.run(heading).await.as_f64().unwrap() < 40.0,
            "its heading is on one line"
        );
        browser.screenshot(name).await;
        browser.click("#doctor-fine summary").await;
        browser.click("#examine").await;
        browser.shows("The shop at 127.0.0.1").await;
        let wide = "return document.documentElement.scrollWidth <= window.innerWidth";
        assert_eq!(browser.run(wide).await, json!(true));
    }
}

/// Says why the room drop goes, in the question that is open, and sees it go.
async fn removes(browser: &Browser, reason: &str) {
    browser.fill("#sure-reason", reason).await;
    browser.click("#sure-yes").await;
    browser.shows("drop is gone.").await;
    let cards = "return document.querySelectorAll('section.card').length";
    crate::harness::eventually("the end of its card", async || {
        (browser.run(cards).await == json!(1)).then_some(())
    })
    .await;
}
