//! What the request path reads of a room: made anew only where something has changed.

use std::sync::Arc;

use super::Room;
use crate::settings::Settings;
use crate::state::context::Context;
use crate::view::RoomView;
use crate::view::line_view::LineView;

impl Room {
    pub fn view(&mut self, m: &Context) -> Arc<RoomView> {
        if let Some(picture) = &self.picture {
            return Arc::clone(picture);
        }
        for name in std::mem::take(&mut self.stale) {
            match self.lines.get(&name) {
                Some(line) => {
                    let view = LineView::new(line, self.edition, &self.settings, m);
                    self.painted.put(&name, Arc::new(view));
                }
                None => self.painted.remove(&name),
            }
        }
        let view = RoomView {
            settings: Settings::clone(&self.settings),
            configured: Arc::clone(&self.configured),
            mode: self.mode(),
            stage: self.stage(),
            results: self.results(),
            sale: Arc::clone(&self.sale),
            orders: Arc::clone(&self.orders),
            rehearsal: self.rehearsal.clone(),
            decides: self.decides(),
            spent: self.codes.spent.clone(),
            overrides: self.overrides.clone(),
            revision: self.revision,
            edition: self.edition,
            voided: self.voided,
            spared: self.spared,
            load: self.load.as_ref().map(|load| load.view()),
            allowance: self.load.as_ref().map(|load| load.allowance),
            heals_until: self.healing.until(),
            lines: self.painted.clone(),
        };
        Arc::clone(self.picture.insert(Arc::new(view)))
    }
}
