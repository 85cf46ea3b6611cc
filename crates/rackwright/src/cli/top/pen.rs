//! Writing lines into a buffer of any size, even none: what does not fit is left out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

#[derive(Debug)]
pub struct Pen {
    buffer: Buffer,
    row: u16,
}

impl Pen {
    pub fn new(area: Rect) -> Pen {
        Pen { buffer: Buffer::empty(area), row: 0 }
    }

    pub fn into_buffer(self) -> Buffer {
        self.buffer
    }

    pub fn width(&self) -> usize {
        usize::from(self.buffer.area.width)
    }

    pub fn rows_left(&self) -> usize {
        usize::from(self.buffer.area.height.saturating_sub(self.row))
    }

    pub fn skip_to_last_line(&mut self) {
        self.row = self.buffer.area.height.saturating_sub(1);
    }

    /// One line; a longer text is cut off at the edge.
    pub fn line(&mut self, style: Style, text: &str) {
        self.put(0, self.width(), style, text);
        self.row = self.row.saturating_add(1);
    }

    /// A line whose second text stands at the right edge; it wins where both do not fit.
    pub fn both_ends(&mut self, style: Style, left: &str, right: &str) {
        let right_at = self.width().saturating_sub(right.chars().count());
        self.put(0, right_at.saturating_sub(1), style, left);
        self.put(right_at, self.width(), style, right);
        self.row = self.row.saturating_add(1);
    }

    /// A line of cells, each as wide as told.
    pub fn columns(&mut self, width: usize, cells: &[(Style, String)]) {
        for (n, (style, text)) in cells.iter().enumerate() {
            self.put(n * width, width, *style, text);
        }
        self.row = self.row.saturating_add(1);
    }

    fn put(&mut self, column: usize, width: usize, style: Style, text: &str) {
        let area = self.buffer.area;
        if self.row < area.height && column < usize::from(area.width) && width > 0 {
            let column = u16::try_from(column).unwrap_or(u16::MAX);
            self.buffer.set_stringn(area.x + column, area.y + self.row, text, width, style);
        }
    }
}
