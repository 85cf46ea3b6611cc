//! The keys and the marks, in words.

use ratatui::style::Style;

use super::pen::Pen;

const TEXT: &str = "
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

It asks the server about once a second, and changes nothing.";

pub fn draw(pen: &mut Pen) {
    for line in TEXT.lines() {
        pen.line(Style::new(), line);
    }
}
