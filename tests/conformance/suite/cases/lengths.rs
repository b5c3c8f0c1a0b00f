//! Lengths that are not one number.

use crate::suite::case::{Case, HIDDEN, post, refused};

pub fn all() -> Vec<Case> {
    let one = |value: &str| post(&format!("Content-Length: {value}"), "ok");
    let two = |first: &str, second: &str| post(&format!("Content-Length: {first}\r\nContent-Length: {second}"), "ok");
    let rows = [
        ("two equal lengths", "9110, 8.6", two("2", "2")),
        ("two lengths, the first shorter", "9112, 6.3", two("0", "2")),
        ("two lengths, the first longer", "9112, 6.3", two("2", "0")),
        (
            "two lengths in other cases",
            "9112, 6.3",
            post("Content-Length: 2\r\ncontent-LENGTH: 0", "ok"),
        ),
        (
            "two lengths, apart",
            "9112, 6.3",
            post("Content-Length: 2\r\nX: y\r\nContent-Length: 0", "ok"),
        ),
        (
            "three lengths",
            "9112, 6.3",
            post("Content-Length: 2\r\nContent-Length: 2\r\nContent-Length: 3", "ok"),
        ),
        ("a list of equal lengths", "9110, 8.6", one("2, 2")),
        ("a list of differing lengths", "9112, 6.3", one("2, 0")),
        ("a list without spaces", "9112, 6.3", one("2,0")),
        ("a list with an empty item", "9112, 6.3", one("2,")),
        ("a list that begins empty", "9112, 6.3", one(", 2")),
        ("signed +", "9110, 8.6", one("+2")),
        ("signed -", "9110, 8.6", one("-2")),
        ("minus nothing", "9110, 8.6", one("-0")),
        ("empty", "9110, 8.6", one("")),
        ("spaces alone", "9110, 8.6", one("   ")),
        ("hexadecimal", "9110, 8.6", one("0x2")),
        ("hexadecimal digits", "9110, 8.6", one("a")),
        ("octal by its prefix", "9110, 8.6", one("0o2")),
        ("decimal fraction", "9110, 8.6", one("2.0")),
        ("exponent", "9110, 8.6", one("2e0")),
        ("a space inside", "9110, 8.6", one("2 2")),
        ("a tab inside", "9110, 8.6", one("2\t2")),
        ("an underscore inside", "9110, 8.6", one("2_0")),
        ("letters behind", "9110, 8.6", one("2abc")),
        ("a quoted number", "9110, 8.6", one("\"2\"")),
        ("a semicolon and more", "9110, 8.6", one("2;x=1")),
        ("digits of another script", "9110, 8.6", one("\u{662}")),
        ("a vertical tab before", "9110, 5.5", one("\u{b}2")),
        ("a form feed behind", "9110, 5.5", one("2\u{c}")),
        ("NUL behind", "9110, 5.5", one("2\0")),
        ("one more than 64 bits hold", "9112, 6.3", one("18446744073709551618")),
        ("one more than 63 bits hold", "9112, 6.3", one("9223372036854775808")),
        ("a hundred digits", "9112, 6.3", one(&"9".repeat(100))),
        (
            "32 bits and two",
            "9112, 6.3",
            post("Content-Length: 4294967298, 2", "ok"),
        ),
        (
            "a request in a body of two lengths",
            "9112, 11.2",
            post(
                &format!("Content-Length: 0\r\nContent-Length: {}", HIDDEN.len()),
                HIDDEN,
            ),
        ),
        (
            "length folded onto the next line",
            "9112, 5.2",
            post("Content-Length:\r\n 2", "ok"),
        ),
        (
            "space before the colon of a length",
            "9112, 5.1",
            post("Content-Length : 2", "ok"),
        ),
        (
            "a name with an underscore beside the length",
            "9112, 5.1",
            post("Content-Length: 2\r\nContent\u{a0}Length: 0", "ok"),
        ),
    ];
    refused(&rows)
}
