//! A room's last changes as API types.

use serde_json::Value;

use crate::admin::api;
use crate::admin::patch::keys::mode_name;
use crate::dates::rfc3339;
use crate::room::{Deed, Order, Setting};

/// One change.
#[must_use]
pub fn shown(order: &Order) -> api::Change {
    let who = order.who.as_ref();
    let told = api::Change {
        at: rfc3339(order.at),
        revision: order.revision,
        who: who.map(|who| who.name.clone()),
        reason: who.map(|who| who.reason.clone()).filter(|reason| !reason.is_empty()),
        ..api::Change::default()
    };
    match &order.deed {
        Deed::Set(settings) => api::Change {
            what: "set".to_owned(),
            keys: settings.iter().map(setting).collect(),
            ..told
        },
        Deed::Call { asked, called, beyond } => api::Change {
            what: "call".to_owned(),
            asked: Some(*asked),
            called: Some(*called),
            beyond_capacity: Some(*beyond),
            ..told
        },
        Deed::Reset { before, after } => api::Change {
            what: "reset".to_owned(),
            keys: vec![changed("edition", before.0, after.0)],
            ..told
        },
        Deed::Evicted => api::Change {
            what: "evict".to_owned(),
            ..told
        },
        Deed::Added => api::Change {
            what: "add".to_owned(),
            ..told
        },
        Deed::Rehearsal { size, began } => api::Change {
            what: if *began { "rehearsal" } else { "rehearsal ended" }.to_owned(),
            asked: Some(*size),
            ..told
        },
        Deed::Drawn => api::Change {
            what: "draw".to_owned(),
            ..told
        },
        Deed::HealingEnded => api::Change {
            what: "healing ended".to_owned(),
            ..told
        },
    }
}

fn setting(setting: &Setting) -> api::Changed {
    match setting {
        Setting::Mode(before, after) => changed("mode", mode_name(*before), mode_name(*after)),
        Setting::Capacity(before, after) => changed("total_active_users", *before, *after),
        Setting::Rate(before, after) => changed("new_users_per_minute", *before, *after),
        Setting::Message(tag, before, after) if tag.is_empty() => changed("message", before.clone(), after.clone()),
        Setting::Message(tag, before, after) => changed(&format!("message.{tag}"), before.clone(), after.clone()),
        Setting::Schedule(before, after) => changed("schedule", before.clone(), after.clone()),
    }
}

fn changed(key: &str, before: impl Into<Value>, after: impl Into<Value>) -> api::Changed {
    api::Changed {
        key: key.to_owned(),
        before: before.into(),
        after: after.into(),
    }
}
