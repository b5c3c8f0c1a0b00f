use super::*;

fn shown(text: &str) -> String {
    text.parse::<RedisUrl>()
        .map_or_else(|error| format!("! {error}"), |url| url.to_string())
}

#[test]
fn each_form_is_read_and_shown_with_its_ports() {
    for (text, right) in [
        ("redis://shop-redis", "redis://shop-redis:6379"),
        ("redis://10.0.0.1:7000/3", "redis://10.0.0.1:7000/3"),
        ("redis://[::1]:7000", "redis://[::1]:7000"),
        ("redis://[fd00::7]/", "redis://[fd00::7]:6379"),
        ("valkey://h", "redis://h:6379"),
        ("valkeys://h", "rediss://h:6379"),
        ("rediss+cluster://a:1,b,c:3", "rediss+cluster://a:1,b:6379,c:3"),
        ("valkey+cluster://a/0", "redis+cluster://a:6379"),
        (
            "redis+sentinel://a,b:5/the%20one",
            "redis+sentinel://a:26379,b:5/the one",
        ),
        ("rediss+sentinel://a/shop/2", "rediss+sentinel://a:26379/shop/2"),
    ] {
        assert_eq!(shown(text), right, "{text}");
    }
}

#[test]
fn user_and_password_are_decoded_and_never_shown() {
    let url: RedisUrl = "redis://ann:p%40s%2Fs:%25@h".parse().unwrap();
    assert_eq!(url.login.user.as_deref(), Some("ann"));
    assert_eq!(url.login.password.as_deref(), Some("p@s/s:%"));
    assert_eq!(
        format!("{url} {url:?}"),
        "redis://ann:***@h:6379 RedisUrl(redis://ann:***@h:6379)"
    );
    let url: RedisUrl = "redis+sentinel://:secret@a/m?sentinel_user=eve&sentinel_password=hidden"
        .parse()
        .unwrap();
    let Place::Sentinel { login, .. } = &url.place else {
        panic!("no sentinel")
    };
    assert_eq!(
        (login.user.as_deref(), login.password.as_deref()),
        (Some("eve"), Some("hidden"))
    );
    assert_eq!(format!("{url}"), "redis+sentinel://:***@a:26379/m");
    assert!(url.has_password());
    let url: RedisUrl = "redis://ann@h".parse().unwrap();
    assert!(!url.has_password());
    assert_eq!(url.with_password("secret").login.password.as_deref(), Some("secret"));
}

#[test]
fn what_is_wrong_is_told_with_what_is_right() {
    for (text, part) in [
        ("localhost:6379", "no scheme"),
        ("http://h", "none of a shared store"),
        ("redis-sentinel://h/m", "redis+sentinel://"),
        ("redis+proxy://h", "neither +cluster nor +sentinel"),
        ("redis://", "no host"),
        ("redis://h:port", "port behind h"),
        ("redis://h:0", "1 to 65535"),
        ("redis://a,b", "redis+cluster://"),
        ("redis://::1", "brackets"),
        ("redis://[::1", "closing bracket"),
        ("redis://h/one", "database is no number"),
        ("redis+cluster://h/1", "no database but 0"),
        ("redis+sentinel://h", "does not name the master"),
        ("redis://h?protocol=resp3", "parameter that is not known"),
        ("redis://h?sentinel_password=x", "parameter that is not known"),
    ] {
        let error = shown(text);
        assert!(error.starts_with("! ") && error.contains(part), "{text}: {error}");
    }
    let many = vec!["h"; MOST_NODES + 1].join(",");
    assert!(shown(&format!("redis+cluster://{many}")).contains("at most 64"));
}

#[test]
fn no_message_shows_a_part_of_a_password() {
    for text in [
        "redis://u:hush/hush@h",
        "redis://u:hush?hush@h",
        "redis://u:hush#hush@h",
        "redis://u:hush#hush",
        "redis://u:hush%zz@h",
        "redis://u:hush@h/hush?x=hush",
        "redis://u:hush@h:hush",
        "redis+sentinel://h/m?password=hush",
    ] {
        let error = shown(text);
        assert!(error.starts_with("! ") && !error.contains("hush"), "{text}: {error}");
    }
}
