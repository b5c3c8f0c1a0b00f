//! Changes that cost visitors their places: a line keyed by something else, or cookies with other names.

use crate::config::Config;
use crate::router::{Per, PerSource};

/// The effects of the change on visitors and operators, as sentences for the operator.
pub fn of(old: &Config, new: &Config) -> Vec<String> {
    let mut costs = Vec::new();
    if new.tls.redirect && !old.tls.redirect {
        costs.push(
            "tls.redirect: who came without TLS is a newcomer over TLS, as cookies from without could be anybody's; \
             switch it on before anybody waits"
                .to_owned(),
        );
    }
    let in_file = old.rooms.iter().filter(|room| !room.added);
    let gone = in_file.filter(|before| new.rooms.iter().all(|room| room.name != before.name));
    costs.extend(gone.map(|room| {
        format!(
            "room {} is gone: who waits in it, or is inside, is a newcomer wherever its paths belong now. A room is known by its \
             name: one that is to keep its line keeps that, too",
            room.name
        )
    }));
    for room in &new.rooms {
        let before = old.rooms.iter().find(|before| before.name == room.name);
        if before.is_some_and(|before| !is_split_alike(before.per.as_ref(), room.per.as_ref())) {
            costs.push(format!(
                "room {}: with another `per` all who wait, or are inside, are newcomers in other lines, and each line has the whole \
                 capacity and stock; change it when nobody waits",
                room.name
            ));
        }
        let loses = before.is_some_and(|before| before.cookie_domain.is_some() && room.cookie_domain.is_none());
        if loses {
            costs.push(format!(
                "room {}: without its cookie_domain all who came by TLS are newcomers, as any host of the domain could have set \
                 their cookies; take it out when nobody waits",
                room.name
            ));
        }
    }
    costs
}

/// By the same parameter, or by a variable of the path under any name.
fn is_split_alike(before: Option<&Per>, after: Option<&Per>) -> bool {
    match (before.map(|per| &per.source), after.map(|per| &per.source)) {
        (Some(PerSource::Path(_)), Some(PerSource::Path(_))) => true,
        (before, after) => before == after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_variable_of_the_path_splits_alike_and_a_parameter_does_not() {
        let per = |source| Per {
            source,
            allow: Vec::new(),
        };
        let [event, show] = ["event", "show"].map(|name| per(PerSource::Path(name.into())));
        let [asked, other] = ["event", "show"].map(|name| per(PerSource::Query(name.into())));
        assert!(is_split_alike(Some(&event), Some(&show)) && is_split_alike(Some(&asked), Some(&asked)));
        for (before, after) in [
            (None, Some(&event)),
            (Some(&event), Some(&asked)),
            (Some(&asked), Some(&other)),
        ] {
            assert!(!is_split_alike(before, after) && !is_split_alike(after, before));
        }
    }
}
