//! Where on the picture a person looks, and what keys do about it.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Rows that a page key moves.
const PAGE: usize = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panel {
    #[default]
    Racks,
    Operations,
    Waits,
}

/// Offsets of the three panels, which of them the arrows move, and whether the help is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub focus: Panel,
    pub rack_row: usize,
    pub rack_column: usize,
    pub operation_row: usize,
    pub wait_row: usize,
    pub help: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    Look,
    Quit,
}

impl View {
    pub fn press(&mut self, key: KeyEvent) -> Press {
        if key.kind == KeyEventKind::Release {
            return Press::Look;
        }
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Press::Quit,
            // Help is left first, as everywhere.
            KeyCode::Esc | KeyCode::Char('q' | '?') if self.help => self.help = false,
            KeyCode::Esc | KeyCode::Char('q') => return Press::Quit,
            KeyCode::Char('?' | 'h') => self.help = true,
            KeyCode::Tab => self.focus = next(self.focus),
            KeyCode::BackTab => self.focus = next(next(self.focus)),
            KeyCode::Up => self.up(1),
            KeyCode::Down => self.down(1),
            KeyCode::PageUp => self.up(PAGE),
            KeyCode::PageDown | KeyCode::Char(' ') => self.down(PAGE),
            KeyCode::Home => *self.row() = 0,
            // The next picture stops at the real end.
            KeyCode::End => *self.row() = usize::MAX / 2,
            KeyCode::Left => self.rack_column = self.rack_column.saturating_sub(1),
            KeyCode::Right => self.rack_column = self.rack_column.saturating_add(1),
            _ => {}
        }
        Press::Look
    }

    fn row(&mut self) -> &mut usize {
        match self.focus {
            Panel::Racks => &mut self.rack_row,
            Panel::Operations => &mut self.operation_row,
            Panel::Waits => &mut self.wait_row,
        }
    }

    fn up(&mut self, rows: usize) {
        let row = self.row();
        *row = row.saturating_sub(rows);
    }

    fn down(&mut self, rows: usize) {
        let row = self.row();
        *row = row.saturating_add(rows);
    }
}

fn next(panel: Panel) -> Panel {
    match panel {
        Panel::Racks => Panel::Operations,
        Panel::Operations => Panel::Waits,
        Panel::Waits => Panel::Racks,
    }
}
