//! Curves as inline SVG, with axes and, for the script of the page, the value at every point.

use std::fmt::Write;
use std::time::Duration;

use super::super::numbers::{clock, short};
use super::text::escaped;

/// One chart: a value over time.
pub struct Chart<'a> {
    /// What the value is: `Checks per second`.
    pub title: &'a str,
    /// How a value reads: `checks/s`.
    pub unit: &'a str,
    /// Distinguishes it for the style sheet.
    pub class: &'a str,
    /// Seconds and values, in order.
    pub points: Vec<(f64, f64)>,
    /// The value stays the same until it changes.
    pub steps: bool,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 158.0;
const LEFT: f64 = 38.0;
const RIGHT: f64 = 352.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 130.0;

impl Chart<'_> {
    pub fn html(&self) -> String {
        let last = self.points.last().map_or_else(String::new, |(_, value)| self.value(*value));
        format!(
            "<figure class=\"chart {}\"><figcaption><span>{}</span><span class=\"readout\" data-last=\"{last}\">{last}</span>\
             </figcaption>{}</figure>\n",
            self.class,
            escaped(self.title),
            self.svg()
        )
    }

    fn value(&self, value: f64) -> String {
        let unit = if value == 1.0 { self.unit.strip_suffix('s').unwrap_or(self.unit) } else { self.unit };
        escaped(&format!("{} {unit}", short(value)))
    }

    fn svg(&self) -> String {
        let end = self.points.last().map_or(0.0, |(seconds, _)| *seconds).max(1.0);
        let most = self.points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let step = value_step(most);
        let top = (most / step).ceil().max(1.0) * step;
        let x = |seconds: f64| LEFT + (RIGHT - LEFT) * seconds / end;
        let y = |value: f64| BOTTOM - (BOTTOM - TOP) * value / top;
        let mut out = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" tabindex=\"0\" aria-label=\"{}\" data-points=\"{}\">",
            escaped(&self.in_words(most)),
            self.values_at(&x, &y)
        );
        for line in 0..=(top / step).round() as u32 {
            let value = f64::from(line) * step;
            let _ = write!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y(value) + 3.5,
                axis(value, step),
                at = y(value),
            );
        }
        let tick = time_step(end);
        for mark in 0..=(end / tick).floor() as u32 {
            let seconds = f64::from(mark) * tick;
            let _ = write!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x(seconds),
                BOTTOM + 16.0,
                time(seconds, tick)
            );
        }
        let curve = self.curve(&x, &y);
        let _ = write!(
            out,
            "<path class=\"area\" d=\"{curve}V{BOTTOM}H{:.1}Z\"/><path class=\"curve\" d=\"{curve}\"/>\
             <g class=\"hover\" visibility=\"hidden\"><line class=\"cursor\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>\
             <circle class=\"dot\" r=\"3\"/></g></svg>",
            x(self.points.first().map_or(0.0, |(seconds, _)| *seconds)),
        );
        out
    }

    fn curve(&self, x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) -> String {
        let mut path = String::new();
        for (at, (seconds, value)) in self.points.iter().enumerate() {
            let (x, y) = (x(*seconds), y(*value));
            let _ = match (at, self.steps) {
                (0, _) => write!(path, "M{x:.1} {y:.1}"),
                (_, true) => write!(path, "H{x:.1}V{y:.1}"),
                (_, false) => write!(path, "L{x:.1} {y:.1}"),
            };
        }
        if path.is_empty() { format!("M{LEFT} {BOTTOM}") } else { path }
    }

    /// For the script: where each point is, and how it reads.
    fn values_at(&self, x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) -> String {
        let text = |(seconds, value): &(f64, f64)| {
            let told =
                format!("{} at {}", self.value(*value), clock(Duration::from_secs_f64(seconds.max(0.0))));
            format!("{:.1}|{:.1}|{}", x(*seconds), y(*value), told.replace(' ', "_"))
        };
        self.points.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    /// For those who do not see it.
    fn in_words(&self, most: f64) -> String {
        let Some((seconds, last)) = self.points.last() else { return format!("{}: nothing yet", self.title) };
        let time = clock(Duration::from_secs_f64(seconds.max(0.0)));
        format!("{} over {time}: {} at the end, {} at most", self.title, short(*last), short(most))
    }
}

/// 1, 2 or 5 times a power of ten, so that three to five of them make the whole; never less than one.
fn value_step(most: f64) -> f64 {
    let rough = (most / 4.0).max(1.0);
    let power = 10_f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| power * times >= rough).unwrap_or(10.0);
    power * times
}

/// Labels of one axis have one form.
fn axis(value: f64, step: f64) -> String {
    match step {
        step if value == 0.0 || step < 250.0 && value < 10_000.0 => format!("{value:.0}"),
        step if step >= 1e6 => format!("{:.0}M", value / 1e6),
        step if step >= 1e3 => format!("{:.0}k", value / 1e3),
        _ => format!("{:.1}k", value / 1e3),
    }
}

/// Distances between marks on the axis of time, in seconds.
const TIME_STEPS: [f64; 19] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 14_400.0,
    21_600.0, 43_200.0, 86_400.0, 172_800.0,
];

fn time_step(end: f64) -> f64 {
    TIME_STEPS.into_iter().find(|step| end / step <= 5.0).unwrap_or((end / 5.0).ceil())
}

/// A mark on the axis of time, in the unit of its steps.
fn time(seconds: f64, step: f64) -> String {
    let in_units = |unit: f64, name: &str| {
        let number = seconds / unit;
        if number.fract() == 0.0 { format!("{number:.0} {name}") } else { format!("{number:.1} {name}") }
    };
    match step {
        step if step >= 3600.0 => in_units(3600.0, "h"),
        step if step >= 60.0 => in_units(60.0, "min"),
        _ => in_units(1.0, "s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> Chart<'static> {
        Chart { title: "Bugs <found>", unit: "bugs", class: "bugs", points, steps: true }
    }

    #[test]
    fn a_chart_says_its_values_and_has_axes() {
        let drawn = chart(vec![(2.0, 0.0), (30.0, 1.0), (60.0, 3.0)]).html();
        assert!(drawn.contains("Bugs &lt;found&gt;") && !drawn.contains("<found>"), "{drawn}");
        assert!(drawn.contains("1_bug_at_0:30") && drawn.contains("3_bugs_at_1:00"), "{drawn}");
        assert!(drawn.contains("60 s</text>") && drawn.contains(">3</text>"), "{drawn}");
        assert!(drawn.contains("over 1:00: 3 at the end, 3 at most"), "{drawn}");
    }

    #[test]
    fn nothing_to_draw_is_no_mistake() {
        for points in [vec![], vec![(0.0, 0.0)]] {
            let drawn = chart(points).html();
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
    }

    #[test]
    fn steps_are_round_and_few() {
        assert_eq!(
            [0.0, 3.0, 4.0, 17.0, 2900.0, 100_000.0].map(value_step),
            [1.0, 1.0, 1.0, 5.0, 1000.0, 50_000.0]
        );
        assert_eq!([3.0, 60.0, 240.0, 28_800.0].map(time_step), [1.0, 15.0, 60.0, 7200.0]);
        assert_eq!(time(5400.0, 3600.0), "1.5 h");
        assert_eq!([axis(1500.0, 500.0), axis(20.0, 10.0), axis(40_000.0, 20_000.0)], ["1.5k", "20", "40k"]);
    }
}
