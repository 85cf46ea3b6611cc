//! A tiny language for sites and what happens to them, so that a case is ten readable lines.
//!
//! First the site, a machine a line:
//!
//! ```text
//! rack1control01 kcp on ready             kinds: kcp spare compute management preparing
//! rack2control01 kcp off unknown          power: on off powering-on powering-off; node: ready notready unknown, or none
//! rack1compute01 compute on ready cordoned by-hand unmanaged unseen
//! undercloud silent | lazy                lazy: a patch of a node takes effect only when the story says so
//! cluster Updating | Timeout
//! vm fw1 on rack1compute01 [manual | halted] [deaf] [undead]
//! node n1 of naks01 on rack1compute01 [cordoned] [skipped] [deaf] [undead]     a node of a tenant cluster, on its own virtual machine
//! pod web-1 of naks01 on n1 [Deployment | StatefulSet | DaemonSet] [mirror] [finished] [finalizer] [grace=30] [budget=web]…
//! budget web 1 · policy naks01 hold
//! ```
//!
//! Then the story, a command a line after `>`:
//!
//! ```text
//! > alice restart rack1control01 [skip-shutdown] [evacuate | forced] [accept-outage] [key=k]
//! > alice cancel op1 · > alice unmanage rack1compute01 broken fan · > alice manage rack1compute01 mended
//! > alice update rack1compute01 [tag:row=7,owner=x] [details=text] [edition=3,4] [edition!=5|*] [key=k]
//! > tenants start fw1 · stop fw1 · delete fw1 · lose fw1 (nothing was heard of its machine for too long) · move fw1 rack1compute02
//! > tenants slip fw1 rack1compute02       it moves there just before its stop is asked for
//! > tenants cordon n1 · uncordon n1 · unknown n1 · ready n1 · budget web 1 · bind p2 naks01 n1
//! > tenants down naks01 · up naks01 · evictions fail · evictions work · kubevirt fails · kubevirt works · vanish n1 · unheard · heard
//! > see rack1control01 off · on · powering-off · ready · notready · unknown · gone · booted · cordoned · uncordoned
//! > fault rack1compute01 unreachable      its BMC no longer answers, until it is seen again
//! > refuse rack1compute01 busy [maybe]    its BMC and node answer requests with this fault, until `obey`
//! > hang rack1compute01 · > answer rack1compute01 ok|busy [maybe]
//! > undercloud silent · > undercloud answers
//! > wait 5m · > pause 5m                  looking all the while, or not at all
//! > crash · > down 8h                     a new keeper starts on the same documents, at once or later; `look` opens its eyes
//! > without c1 · > with c1                a new keeper whose site's description leaves c1 out, or names it again
//! ```
//!
//! A device that is asked answers `ok` at once, and a patched node shows it at once. Power is what the story says.

mod play;
mod site;
mod tenants;
mod transcript;

use expect_test::Expect;

pub use play::Play;

/// Plays a script and compares its transcript.
#[expect(clippy::needless_pass_by_value, reason = "a case reads best as a script and what it comes to")]
pub fn check(script: &str, expected: Expect) {
    let mut play = Play::of(script);
    play.run();
    expected.assert_eq(&play.transcript.text);
}
