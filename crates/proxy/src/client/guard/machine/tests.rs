use super::*;

/// The bytes that pass, and the reason for the rest.
type Outcome = (Vec<u8>, Option<Refused>);

/// Bytes that come in these pieces.
fn fed<'a>(machine: &mut Machine, pieces: impl Iterator<Item = &'a [u8]>) -> Outcome {
    let (mut passed, mut waiting) = (Vec::new(), Vec::new());
    for piece in pieces {
        waiting.extend_from_slice(piece);
        let taken = machine.take(&waiting);
        passed.extend(waiting.drain(..taken.pass));
        if taken.refused.is_some() {
            return (passed, taken.refused);
        }
    }
    (passed, None)
}

/// The same outcome however the bytes come: at once, each alone, in two parts.
fn outcome(bytes: &[u8]) -> Outcome {
    let whole = fed(&mut machine(), std::iter::once(bytes));
    assert_eq!(fed(&mut machine(), bytes.chunks(1)), whole, "byte by byte");
    for at in 1..bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(fed(&mut machine(), [head, tail].into_iter()), whole, "in two at {at}");
    }
    whole
}

fn machine() -> Machine {
    Machine::new(2_048)
}

fn passes(text: &str) {
    assert_eq!(outcome(text.as_bytes()), (text.as_bytes().to_vec(), None), "{text:?}");
}

fn refused(text: &str, malformed: Malformed) {
    let refused = Some(Refused::Head(malformed));
    assert_eq!(outcome(text.as_bytes()), (Vec::new(), refused), "{text:?}");
}

const CHUNKED: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn messages_that_can_be_read_in_one_way_pass() {
    for text in [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET / HTTP/1.0\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\nX-Empty:\r\nX-Tab: a\tb\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n\r\n\0GET / HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    ] {
        passes(text);
    }
    for body in [
        "0\r\n\r\n",
        "3\r\n\r\n\0\r\n0\r\n\r\n",
        "00a\r\n0123456789\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n",
    ] {
        passes(&format!("{CHUNKED}{body}GET / HTTP/1.1\r\n\r\n"));
    }
}

#[test]
fn heads_that_can_be_read_in_two_ways_pass_in_no_part() {
    for start in [
        "GET /",
        "GET  / HTTP/1.1",
        " GET / HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET /\tHTTP/1.1",
        "G(T / HTTP/1.1",
        "GET / http/1.1",
    ] {
        refused(&format!("{start}\r\nHost: a\r\n\r\n"), Malformed::Start);
    }
    refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Malformed::Version);
    for line in [
        "Name : a",
        " Folded: a",
        "\tFolded",
        "None",
        ": a",
        "A(: b",
        "A: b\rC: d",
        "A: \0",
        "A: \u{7f}",
        "A: b\nC: d",
    ] {
        refused(&format!("GET / HTTP/1.1\r\n{line}\r\n\r\n"), Malformed::Line);
    }
    for text in [
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\r\nHost: a\n\r\n",
        "\nGET / HTTP/1.1\r\n\r\n",
        "\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    ] {
        let Some(Refused::Head(Malformed::Line | Malformed::Start)) = outcome(text.as_bytes()).1 else {
            panic!("{text:?}")
        };
    }
}

#[test]
fn lengths_are_one_number_or_one_chunked() {
    for lines in [
        "Content-Length: ",
        "Content-Length: +1",
        "Content-Length: -1",
        "Content-Length: 1,1",
        "Content-Length: 0x1",
        "Content-Length: 1 1",
        "Content-Length: 1234567890123456",
        "Content-Length: 1\r\ncontent-length: 1",
        "Transfer-Encoding: chunked\r\nContent-Length: 1",
        "Content-Length: 1\r\nTransfer-Encoding: chunked",
    ] {
        refused(&format!("POST / HTTP/1.1\r\n{lines}\r\n\r\n"), Malformed::Length);
    }
    for lines in [
        "Transfer-Encoding: ",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked;a",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    ] {
        refused(
            &format!("POST / HTTP/1.1\r\n{lines}\r\n\r\n"),
            Malformed::TransferEncoding,
        );
    }
    refused(
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        Malformed::TransferEncoding,
    );
}

#[test]
fn chunks_are_sizes_and_line_ends_alone() {
    for (good, bad) in [
        ("", "x\r\n"),
        ("", "\r\n"),
        ("", "1;a=b\r\n"),
        ("", "1 \r\n"),
        ("", " 1\r\n"),
        ("", "+1\r\n"),
        ("", "0x1\r\n"),
        ("", "1\n"),
        ("", "1\rx"),
        ("", "0000000000001\r\n"),
        ("1\r\na", "b\r\n"),
        ("1\r\na", "\n0\r\n"),
        ("0\r\n", "GET / HTTP/1.1\r\n\r\n"),
        ("0\r\n", "A: b\n\r\n"),
        ("0\r\n", "A : b\r\n\r\n"),
    ] {
        let text = format!("{CHUNKED}{good}{bad}");
        let passed = format!("{CHUNKED}{good}").into_bytes();
        assert_eq!(outcome(text.as_bytes()), (passed, Some(Refused::Body)), "{text:?}");
    }
}

#[test]
fn heads_and_trailers_are_bounded_in_bytes_and_lines() {
    let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "a".repeat(2_048));
    refused(&long, Malformed::TooLong);
    refused(&long[..2_050], Malformed::TooLong);
    refused(
        &format!("GET / HTTP/1.1\r\n{}\r\n", "A:b\r\n".repeat(101)),
        Malformed::TooMany,
    );
    passes(&format!("GET / HTTP/1.1\r\n{}\r\n", "A:b\r\n".repeat(100)));
    let trailers = format!("{CHUNKED}0\r\nA: {}", "a".repeat(2_048));
    assert_eq!(outcome(trailers.as_bytes()).1, Some(Refused::Body));
}

#[test]
fn nothing_passes_behind_a_request_for_another_protocol_until_it_is_granted() {
    let ask = "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";
    let early = "GET /smuggled HTTP/1.1\r\n\r\n";
    let mut machine = machine();
    let bytes = format!("{ask}{early}");
    let held = Taken {
        pass: ask.len(),
        refused: None,
    };
    assert_eq!(machine.take(bytes.as_bytes()), held);
    assert!(machine.waits_for_upgrade());
    machine.upgraded();
    let raw = Taken { pass: 3, refused: None };
    assert_eq!(machine.take(b"\n\0\xff"), raw);
    let ask = "POST / HTTP/1.1\r\nUpgrade: h2c\r\nContent-Length: 1\r\n\r\na";
    assert_eq!(outcome(format!("{ask}{early}").as_bytes()), (ask.into(), None));
}
