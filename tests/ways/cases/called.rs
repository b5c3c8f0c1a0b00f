//! How a called visitor gets the pass: in a cookie to a browser, in the answer to an app.

use crate::guest::{number_of, read_pass, read_ticket};

use super::{House, eventually};

#[tokio::test]
async fn a_check_in_of_a_called_visitor_sets_the_pass_as_a_cookie_that_no_script_reads() {
    let (house, mut inside) = House::full_and_patient().await;
    let mut waiting = house.in_line().await;
    let answer = waiting.own("POST", "check-in").await;
    assert_eq!(
        (&answer.json()["state"], answer.field("set-cookie")),
        (&"waiting".into(), None)
    );
    let number = waiting.ticket().as_ref().and_then(number_of);
    inside.own("POST", "leave").await;
    house.until_state(&mut waiting, "called").await;
    assert!(waiting.pass().is_none(), "a question gives no pass to a browser");

    let answer = waiting.own("POST", "check-in").await;
    let told = answer.json();
    assert_eq!(told["state"], "called");
    assert!(told["pass"].is_null() && told["ticket"].is_null(), "{told}");
    assert!(
        answer.fields("set-cookie").all(|cookie| cookie.contains("HttpOnly")),
        "{}",
        answer.head
    );
    assert_eq!(waiting.pass().map(|pass| pass.number), number);
    assert!(waiting.script("POST", "/api/seat").await.is_the_shops());
}

#[tokio::test]
async fn an_app_is_told_its_ticket_and_pass_and_a_renewed_pass_while_it_is_inside() {
    let (house, mut inside) = House::full_and_patient().await;
    let mut app = house.guest();
    app.keeps = false;
    let ticket = app.own("POST", "join").await.json()["ticket"]
        .as_str()
        .unwrap()
        .to_owned();
    let number = number_of(&read_ticket(&ticket).unwrap());
    app.says("Ropeline-Ticket", &ticket);
    let status = app.own("GET", "status").await.json();
    assert_eq!(
        number_of(&read_ticket(status["ticket"].as_str().unwrap()).unwrap()),
        number
    );
    assert!(status["pass"].is_null());

    inside.own("POST", "leave").await;
    house.until_state(&mut app, "called").await;
    let answer = app.own("GET", "status").await;
    assert_eq!(answer.field("set-cookie"), None, "an app keeps its tokens itself");
    let status = answer.json();
    assert_eq!(
        number_of(&read_ticket(status["ticket"].as_str().unwrap()).unwrap()),
        number
    );
    let first = status["pass"].as_str().unwrap().to_owned();
    app.says("Ropeline-Pass", &first);
    let first = read_pass(&first).unwrap();
    assert!(app.script("GET", "/api").await.is_the_shops());

    let renewed = eventually("a renewed pass", || {
        let mut app = app.clone();
        async move {
            let status = app.own("GET", "status").await.json();
            assert_eq!(status["state"], "inside");
            let pass = read_pass(status["pass"].as_str()?).unwrap();
            (pass.expires_at > first.expires_at).then_some((pass, status))
        }
    })
    .await;
    assert_eq!((Some(renewed.0.number), renewed.0.id), (number, first.id));
    app.says("Ropeline-Pass", renewed.1["pass"].as_str().unwrap());
    assert!(app.script("GET", "/api").await.is_the_shops());
}
