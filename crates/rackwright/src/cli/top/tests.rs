//! Pictures of sites of several sizes on screens of several sizes, and what keys do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use expect_test::{Expect, expect};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

use super::site::Site;
use super::view::{Panel, Press};
use super::*;
use crate::cli::render::fixtures;

const HOME: &str = "/subscriptions/s1/resourceGroups/site1/providers/Microsoft.NetworkCloud";

fn machine(rack: usize, slot: usize) -> Value {
    let (name, plane) = if slot == 1 {
        (format!("rack{rack}control01"), "control-plane")
    } else {
        (format!("rack{rack}compute{:02}", slot - 1), "compute-plane")
    };
    let mut machine = if (rack, slot) == (4, 1) { fixtures::spare("site1", &name) } else { fixtures::machine("site1", &name, plane) };
    machine["properties"]["rackId"] = json!(format!("{HOME}/racks/rack{rack}"));
    machine["properties"]["rackSlot"] = json!(slot);
    machine
}

fn racks(count: usize) -> Vec<Value> {
    (1..=count).map(|rack| json!({ "id": format!("{HOME}/racks/rack{rack}"), "name": format!("rack{rack}") })).collect()
}

/// A site in which something of everything happens.
fn busy(racks_count: usize, per_rack: usize) -> Site {
    let mut machines: Vec<Value> = (1..=racks_count).flat_map(|rack| (1..=per_rack).map(move |slot| machine(rack, slot))).collect();
    let mut status = fixtures::busy_status();
    let waits = status["clusters"][0]["waits"].as_array_mut().unwrap();
    waits.push(json!({ "machine": "rack2compute02", "code": "Device", "brief": "the BMC (unreachable: connection refused)",
        "since": "2026-11-15T13:00:00Z", "late": false }));
    for machine in &mut machines {
        let properties = &mut machine["properties"];
        match properties["rackId"].as_str().map(|id| (id.ends_with("rack1"), id.ends_with("rack3"))) {
            Some((true, _)) if properties["rackSlot"] == 2 => properties["cordonStatus"] = json!("Cordoned"),
            Some((_, true)) if properties["rackSlot"] == 3 => properties["powerState"] = json!("Off"),
            Some((_, true)) if properties["rackSlot"] == 4 => properties["readyState"] = json!("False"),
            _ => {}
        }
    }
    Site::of(&status, &racks(racks_count), &machines)
}

fn quiet() -> Site {
    Site::of(&fixtures::quiet_status(), &[], &[])
}

fn known(site: Option<Site>) -> Known {
    Known { server: "http://127.0.0.1:7225".to_owned(), now: fixtures::NOW.parse().unwrap(), silent_since: None, site, has_keys: true }
}

/// What a terminal of that size shows.
fn drawn(known: &Known, view: &View, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|target| *target.buffer_mut() = frame(known, view, target.area()).buffer).unwrap();
    as_text(terminal.backend().buffer())
}

#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot reads best by value")]
fn check(known: &Known, view: &View, (width, height): (u16, u16), expected: Expect) {
    expected.assert_eq(&drawn(known, view, width, height));
}

#[test]
fn four_racks_fit_on_the_smallest_usual_screen() {
    check(
        &known(Some(busy(4, 10))),
        &View::default(),
        (80, 24),
        expect![[r#"
            rackwright top  http://127.0.0.1:7225                         answers  14:03:00Z
            cluster1: Running, Connected (silent); 40 machines, 37 ready, 1 off, 1 not ready
            > RACKS 4
            rack1              rack2              rack3              rack4
             1 +    control01   1 +    control01   1 +    control01   1 s    control01
             2 +c*L compute01   2 +    compute01   2 +    compute01   2 +    compute01
             3 +    compute02   3 +?   compute02   3 -    compute02   3 +    compute02
             4 +    compute03   4 +    compute03   4 !    compute03   4 +    compute03
             5 +    compute04   5 +    compute04   5 +    compute04   5 +    compute04
             6 +    compute05   6 +    compute05   6 +    compute05   6 +    compute05
             7 +    compute06   7 +    compute06   7 +    compute06   7 +    compute06
             8 +    compute07   8 +    compute07   8 +    compute07   8 +    compute07
             9 +    compute08   9 +    compute08   9 +    compute08   9 +    compute08
            10 +    compute09  10 +    compute09  10 +    compute09  10 +    compute09
              OPERATIONS 1
              8f3c1a2b  rack1compute01  restart  [###-------]  30%  LATE Power Off: waiting
              WAITS 3, 1 LATE
                   48s  rack1compute01  LATE the effect of the graceful shutdown
                1h 03m  rack2compute02  the BMC (unreachable: connection refused)
                2m 00s  (whole site)  the undercloud (unreachable: connection refused)



            + ready ! not - off s spare ? blind c cordoned * busy L late      ? help  q quit
        "#]],
    );
}

#[test]
fn a_large_screen_shows_all() {
    check(
        &known(Some(busy(4, 10))),
        &View::default(),
        (120, 40),
        expect![[r#"
            rackwright top  http://127.0.0.1:7225                                                                 answers  14:03:00Z
            cluster1: Running, Connected (silent); 40 machines, 37 ready, 1 off, 1 not ready, 1 spare, 1 cordoned, 3 blind
            > RACKS 4
            rack1              rack2              rack3              rack4
             1 +    control01   1 +    control01   1 +    control01   1 s    control01
             2 +c*L compute01   2 +    compute01   2 +    compute01   2 +    compute01
             3 +    compute02   3 +?   compute02   3 -    compute02   3 +    compute02
             4 +    compute03   4 +    compute03   4 !    compute03   4 +    compute03
             5 +    compute04   5 +    compute04   5 +    compute04   5 +    compute04
             6 +    compute05   6 +    compute05   6 +    compute05   6 +    compute05
             7 +    compute06   7 +    compute06   7 +    compute06   7 +    compute06
             8 +    compute07   8 +    compute07   8 +    compute07   8 +    compute07
             9 +    compute08   9 +    compute08   9 +    compute08   9 +    compute08
            10 +    compute09  10 +    compute09  10 +    compute09  10 +    compute09
              OPERATIONS 1
              8f3c1a2b  rack1compute01  restart  [###-------]  30%  LATE Power Off: waiting for the effect of the graceful shutdown
              WAITS 3, 1 LATE
                   48s  rack1compute01  LATE the effect of the graceful shutdown
                1h 03m  rack2compute02  the BMC (unreachable: connection refused)
                2m 00s  (whole site)  the undercloud (unreachable: connection refused)



















            + ready ! not - off s spare ? blind c cordoned * busy L late                                              ? help  q quit
        "#]],
    );
}

#[test]
fn two_hundred_machines_are_scrolled() {
    let view = View { focus: Panel::Racks, rack_row: 1_000, ..View::default() };
    check(
        &known(Some(busy(4, 50))),
        &view,
        (80, 24),
        expect![[r#"
            rackwright top  http://127.0.0.1:7225                         answers  14:03:00Z
            cluster1: Running, Connected (silent); 40 machines, 37 ready, 1 off, 1 not ready
            > RACKS 4, 38-50 of 50 slots
            rack1              rack2              rack3              rack4
            38 +    compute37  38 +    compute37  38 +    compute37  38 +    compute37
            39 +    compute38  39 +    compute38  39 +    compute38  39 +    compute38
            40 +    compute39  40 +    compute39  40 +    compute39  40 +    compute39
            41 +    compute40  41 +    compute40  41 +    compute40  41 +    compute40
            42 +    compute41  42 +    compute41  42 +    compute41  42 +    compute41
            43 +    compute42  43 +    compute42  43 +    compute42  43 +    compute42
            44 +    compute43  44 +    compute43  44 +    compute43  44 +    compute43
            45 +    compute44  45 +    compute44  45 +    compute44  45 +    compute44
            46 +    compute45  46 +    compute45  46 +    compute45  46 +    compute45
            47 +    compute46  47 +    compute46  47 +    compute46  47 +    compute46
            48 +    compute47  48 +    compute47  48 +    compute47  48 +    compute47
            49 +    compute48  49 +    compute48  49 +    compute48  49 +    compute48
            50 +    compute49  50 +    compute49  50 +    compute49  50 +    compute49
              OPERATIONS 1
              8f3c1a2b  rack1compute01  restart  [###-------]  30%  LATE Power Off: waiting
              WAITS 3, 1 LATE
                   48s  rack1compute01  LATE the effect of the graceful shutdown
                1h 03m  rack2compute02  the BMC (unreachable: connection refused)
                2m 00s  (whole site)  the undercloud (unreachable: connection refused)
            + ready ! not - off s spare ? blind c cordoned * busy L late      ? help  q quit
        "#]],
    );
    let settled = frame(&known(Some(busy(4, 50))), &view, Rect::new(0, 0, 80, 24)).view;
    assert_eq!(settled.rack_row, 37, "nobody scrolls beyond the end");
}

#[test]
fn more_racks_than_columns_are_scrolled_sideways() {
    let view = View { rack_column: 3, ..View::default() };
    check(
        &known(Some(busy(12, 3))),
        &view,
        (80, 16),
        expect![[r#"
            rackwright top  http://127.0.0.1:7225                         answers  14:03:00Z
            cluster1: Running, Connected (silent); 40 machines, 37 ready, 1 off, 1 not ready
            > RACKS 12, 4-7 of 12 racks
            rack4              rack5              rack6              rack7
             1 s    control01   1 +    control01   1 +    control01   1 +    control01
             2 +    compute01   2 +    compute01   2 +    compute01   2 +    compute01
             3 +    compute02   3 +    compute02   3 +    compute02   3 +    compute02
              OPERATIONS 1
              8f3c1a2b  rack1compute01  restart  [###-------]  30%  LATE Power Off: waiting
              WAITS 3, 1 LATE
                   48s  rack1compute01  LATE the effect of the graceful shutdown
                1h 03m  rack2compute02  the BMC (unreachable: connection refused)
                2m 00s  (whole site)  the undercloud (unreachable: connection refused)


            + ready ! not - off s spare ? blind c cordoned * busy L late      ? help  q quit
        "#]],
    );
}

#[test]
fn a_site_without_machines_says_that_nothing_happens() {
    check(
        &known(Some(quiet())),
        &View::default(),
        (80, 12),
        expect![[r#"
            rackwright top  http://127.0.0.1:7225                         answers  14:03:00Z
            cluster1: Running, Connected; 40 machines, 39 ready, 1 spare
            > RACKS 0

              OPERATIONS 0
              nothing runs
              WAITS 0
              nothing waits



            + ready ! not - off s spare ? blind c cordoned * busy L late      ? help  q quit
        "#]],
    );
}

#[test]
fn a_server_that_is_silent_leaves_its_last_words() {
    let mut known = known(Some(quiet()));
    known.silent_since = Some("2026-11-15T14:02:10Z".parse().unwrap());
    check(
        &known,
        &View::default(),
        (80, 12),
        expect![[r#"
            rackwright top  http://127.0.0.1:7225            NO ANSWER since 14:02:10Z (50s)
            cluster1: Running, Connected; 40 machines, 39 ready, 1 spare
            > RACKS 0

              OPERATIONS 0
              nothing runs
              WAITS 0
              nothing waits



            + ready ! not - off s spare ? blind c cordoned * busy L late      ? help  q quit
        "#]],
    );
    let lost = drawn(&super::tests::known(None), &View::default(), 80, 3);
    assert!(lost.contains("waiting for the first answer"), "{lost}");
}

#[test]
fn a_small_screen_shows_counts() {
    check(
        &known(Some(busy(4, 10))),
        &View::default(),
        (39, 5),
        expect![[r#"
            rackwright top  http answers  14:03:00Z
            1 running, 3 waiting, 1 late
            cluster1: Running, Connected (silent);


        "#]],
    );
}

#[test]
fn help_explains_keys_and_marks() {
    check(
        &known(Some(busy(4, 10))),
        &View { help: true, ..View::default() },
        (80, 24),
        expect![[r#"
            rackwright top  http://127.0.0.1:7225                         answers  14:03:00Z

            Keys
              Tab, Shift-Tab         choose racks, operations or waits
              Up, Down, Page, Home   scroll what is chosen
              Left, Right            other racks
              ?                      this page, and back
              q, Esc, Ctrl-C         quit; nothing that runs is stopped by it

            Marks of a machine, in this order
              + ready    ! on, but not ready    - off    s spare
              ? blind: its BMC or the undercloud does not tell; the rest is as last seen
              u unmanaged: nothing is sent to it
              c cordoned: no new workloads
              d degraded: its node tells of something wrong
              * busy: an operation is at work on it
              L late: what it waits for takes longer than is usual

            It asks the server about once a second, and changes nothing.





        "#]],
    );
}

#[test]
fn a_printed_picture_leaves_nothing_out() {
    let known = known(Some(busy(12, 30)));
    let (width, height) = natural_size(known.site.as_ref().unwrap(), known.now);
    let text = drawn(&known, &View::default(), width, height);
    for whole in ["rack12", "30 +    compute29", "waiting for the effect of the graceful shutdown", "(whole site)"] {
        assert!(text.contains(whole), "{whole}: {text}");
    }
    assert!(!text.contains("-30 of 30"), "no panel is scrolled: {text}");
}

#[test]
fn no_size_is_too_small_or_too_odd() {
    let view = View { rack_row: 7, rack_column: 3, operation_row: 9, wait_row: 9, ..View::default() };
    for site in [Some(busy(4, 10)), Some(busy(12, 50)), Some(quiet()), None] {
        let known = known(site);
        for width in (0..50).chain([79, 80, 300]) {
            for height in (0..30).chain([100]) {
                for view in [view, View { help: true, ..view }] {
                    let area = Rect::new(0, 0, width, height);
                    assert_eq!(frame(&known, &view, area).buffer.area, area);
                }
            }
        }
    }
}

#[test]
fn keys_move_what_is_chosen_and_quit() {
    let mut view = View::default();
    let mut press = |code| view.press(KeyEvent::new(code, KeyModifiers::NONE));
    for code in
        [KeyCode::Down, KeyCode::Down, KeyCode::Up, KeyCode::Right, KeyCode::Tab, KeyCode::PageDown, KeyCode::BackTab, KeyCode::Char('?')]
    {
        assert_eq!(press(code), Press::Look);
    }
    assert_eq!(press(KeyCode::Esc), Press::Look, "help is left first");
    assert_eq!(press(KeyCode::Esc), Press::Quit);
    assert_eq!(press(KeyCode::Char('q')), Press::Quit);
    assert_eq!(view, View { rack_row: 1, rack_column: 1, operation_row: 10, ..View::default() });
    assert_eq!(view.press(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Press::Quit);
}
