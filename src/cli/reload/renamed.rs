//! Cookies that have other names after a change: those that browsers have are worth nothing then.

use crate::config::Config;

/// What the change costs whom, in words for the operator.
pub fn cookies(old: &Config, new: &Config) -> Vec<String> {
    let mut costs = Vec::new();
    if new.tls.redirect && !old.tls.redirect {
        costs.push(
            "tls.redirect: who came without TLS is a newcomer over TLS, as cookies from without could be anybody's; \
             switch it on before anybody waits"
                .to_owned(),
        );
    }
    for room in &new.rooms {
        let before = old.rooms.iter().find(|before| before.name == room.name);
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
