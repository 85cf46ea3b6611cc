//! Curves over the number of machines, as one SVG: both axes logarithmic, so that linear growth is a straight line of slope one.

use std::collections::BTreeMap;
use std::io;

use plotters::prelude::*;

use crate::figure::{Curve, Unit};

const WIDTH: u32 = 960;
const PANEL_HEIGHT: u32 = 320;

/// Room on the right for the names of the curves, which would cover the curves anywhere else.
const NAMES_WIDTH: u32 = 340;
const NAME_HEIGHT: i32 = 18;

/// One panel for each unit, one below the other.
pub fn draw(curves: &[Curve]) -> io::Result<String> {
    let mut by_unit: BTreeMap<Unit, Vec<&Curve>> = BTreeMap::new();
    for curve in curves.iter().filter(|curve| !curve.points.is_empty()) {
        by_unit.entry(curve.unit).or_default().push(curve);
    }
    let mut text = String::new();
    let height = PANEL_HEIGHT * u32::try_from(by_unit.len().max(1)).unwrap_or(1);
    let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
    area.fill(&WHITE).map_err(io::Error::other)?;
    for (panel, (unit, curves)) in area.split_evenly((by_unit.len().max(1), 1)).iter().zip(&by_unit) {
        draw_panel(panel, *unit, curves).map_err(io::Error::other)?;
    }
    area.present().map_err(io::Error::other)?;
    drop(area);
    Ok(text)
}

type Problem = DrawingAreaErrorKind<std::io::Error>;

fn draw_panel(area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>, unit: Unit, curves: &[&Curve]) -> Result<(), Problem> {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let (fewest, most) = points().fold((u64::MAX, 1), |(fewest, most), (machines, _)| (fewest.min(machines), most.max(machines)));
    let (least, largest) = points().fold((f64::MAX, f64::MIN), |(least, largest), (_, value)| (least.min(value), largest.max(value)));
    // Whole decades, so that both ends of the axis have a number.
    let floor = if least > 0.0 { 10_f64.powf(least.log10().floor()) } else { 0.01 };
    let top = 10_f64.powf(largest.max(floor).log10().ceil()).max(floor * 10.0);
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_right(NAMES_WIDTH)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d((fewest.max(1)..most.max(fewest + 1)).log_scale(), (floor..top).log_scale())?;
    chart.configure_mesh().x_desc("machines").y_desc(unit.symbol()).light_line_style(WHITE).draw()?;
    for (index, curve) in curves.iter().enumerate() {
        let color = Palette99::pick(index).to_rgba();
        let points: Vec<(u64, f64)> = curve.points.iter().map(|(machines, value)| (*machines, value.max(floor))).collect();
        chart.draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(2)))?;
        chart.draw_series(points.iter().map(|point| Circle::new(*point, 3, color.filled())))?;
        let row = NAME_HEIGHT * i32::try_from(index).unwrap_or(0) + 24;
        let left = i32::try_from(WIDTH - NAMES_WIDTH).unwrap_or(0) + 24;
        area.draw(&PathElement::new([(left, row), (left + 18, row)], color.stroke_width(2)))?;
        area.draw(&Text::new(curve.what.clone(), (left + 26, row - 7), ("sans-serif", 13)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_in_the_picture_with_its_name() {
        let curve = |what: &str, unit| Curve { what: what.to_owned(), unit, points: vec![(128, 1.0), (1_000, 8.0), (100_000, 800.0)] };
        let picture = draw(&[curve("list", Unit::Milliseconds), curve("memory", Unit::Megabytes)]).unwrap();
        assert!(picture.contains("<svg") && picture.trim_end().ends_with("</svg>"));
        assert!(["list", "memory", "machines"].iter().all(|word| picture.contains(word)));
        assert_eq!(picture.matches("<circle").count(), 6, "one for each point");
    }
}
