//! What happened, in plain words.

use std::fmt;

use crate::steps::{Act, Fate, Step, When};

/// A step in plain words; the name is the visitor's who acts.
pub struct Words {
    pub step: Step,
    pub name: char,
    pub gates: usize,
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        match self.step.act {
            Act::Join(_) => write!(f, "{name} joins the line")?,
            Act::Ask(_) => write!(f, "{name} asks again with the ticket")?,
            Act::ComeIn(_) => write!(f, "{name} is called and comes in")?,
            Act::Use(_) => write!(f, "{name} makes a request with the pass")?,
            Act::UseAndCrash(_) => write!(f, "{name} makes a request with the pass, and the gate crashes")?,
            Act::Leave(_) => write!(f, "{name} leaves")?,
            Act::Replay(_) => write!(f, "an old token of {name} is shown")?,
            Act::Time(When::Before) => write!(f, "time goes on to just before the next deadline")?,
            Act::Time(When::At) => write!(f, "time goes on to the next deadline")?,
            Act::Time(When::After) => write!(f, "time goes on to just after the next deadline")?,
            Act::Read => write!(f, "the second gate reads the log")?,
            Act::Crash => write!(f, "the gate crashes, and another starts")?,
            Act::LoseEverything => write!(f, "the log is lost with everything")?,
            Act::Cut => write!(f, "the store cannot be reached")?,
            Act::Mend => write!(f, "the store can be reached again")?,
        }
        if self.gates > 1 && self.step.act.visitor().is_some() {
            write!(f, " (gate {})", self.step.gate + 1)?;
        }
        match self.step.fate {
            Fate::Fine => Ok(()),
            Fate::Unanswered => write!(f, "; the answer is lost"),
            Fate::Lost => write!(f, "; the log comes back without this"),
        }
    }
}
