//! What a person sees while an operation runs: a bar on a terminal, one line for each change elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use super::answer::{field, is_true, target_of};
use super::render::current_step;
use super::screen::Screen;

/// How often the spinner turns: often enough to be alive, seldom enough for a slow line.
const TICK_EVERY: Duration = Duration::from_millis(120);

#[derive(Debug)]
pub enum Progress {
    Bar(ProgressBar),
    Lines { said: Option<String> },
}

impl Progress {
    pub fn begin(screen: &Screen) -> Progress {
        if !screen.can_redraw() {
            return Progress::Lines { said: None };
        }
        let style = ProgressStyle::with_template("{spinner} {bar:8} {percent:>3}% {wide_msg}").expect("the template is fixed and tested");
        let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr()).with_style(style);
        bar.enable_steady_tick(TICK_EVERY);
        Progress::Bar(bar)
    }

    pub fn update(&mut self, screen: &mut Screen, operation: &Value) {
        if let Progress::Bar(bar) = self {
            bar.set_position(operation["percentComplete"].as_u64().unwrap_or(0));
        }
        // Between two steps there is a moment without a step: nothing new to say.
        if let Some(line) = line_of(operation) {
            self.note(screen, &line);
        }
    }

    /// Says it once, however often it is so.
    pub fn note(&mut self, screen: &mut Screen, line: &str) {
        match self {
            Progress::Bar(bar) => bar.set_message(line.to_owned()),
            Progress::Lines { said } if said.as_deref() == Some(line) => {}
            Progress::Lines { said } => {
                screen.say(line);
                *said = Some(line.to_owned());
            }
        }
    }
}

/// The bar leaves no trace, however its follower leaves.
impl Drop for Progress {
    fn drop(&mut self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// `rack1compute01: Power Off: waiting for the effect of the graceful shutdown, late`.
fn line_of(operation: &Value) -> Option<String> {
    let step = current_step(operation)?;
    let machine = target_of(operation);
    let waiting = field(operation, "/wait/brief").map(|what| format!(": waiting for {what}")).unwrap_or_default();
    let late = if is_true(operation, "/wait/late") { ", late" } else { "" };
    let stopping = if operation["cancelRequestedBy"].is_string() { ", to be cancelled at the next safe point" } else { "" };
    Some(format!("{machine}: {step}{waiting}{late}{stopping}"))
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::captured;
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    fn operation(step: &str, what: Option<&str>, late: bool) -> Value {
        let wait = what.map(|what| json!({ "brief": what, "late": late }));
        json!({ "machine": "rack1compute01", "percentComplete": 30, "wait": wait, "steps": [
            { "name": "Cordon", "status": "Completed" }, { "name": step, "status": "InProgress" },
        ] })
    }

    #[test]
    fn without_a_terminal_each_change_is_one_line() {
        let (mut screen, out, err) = captured();
        let mut progress = Progress::begin(&screen);
        let shutdown = Some("the effect of the graceful shutdown");
        progress.update(&mut screen, &operation("Power Off", shutdown, false));
        progress.update(&mut screen, &operation("Power Off", shutdown, false));
        progress.update(&mut screen, &operation("Power Off", shutdown, true));
        progress.note(&mut screen, "the server does not answer; trying again");
        progress.update(&mut screen, &operation("Rejoin", Some("the node to rejoin"), false));
        expect![[r#"
            rack1compute01: Power Off: waiting for the effect of the graceful shutdown
            rack1compute01: Power Off: waiting for the effect of the graceful shutdown, late
            the server does not answer; trying again
            rack1compute01: Rejoin: waiting for the node to rejoin
        "#]]
        .assert_eq(&err.text());
        assert_eq!(out.text(), "");
    }

    #[test]
    fn the_bars_template_is_understood() {
        assert!(ProgressStyle::with_template("{spinner} {bar:8} {percent:>3}% {wide_msg}").is_ok());
    }
}
