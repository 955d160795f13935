//! How what a guide saw grew: a drawing for documents, a table for people.

use std::fmt::Write;

/// What one hunt had seen, moment by moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// Seconds, and features seen by then; in order.
    pub points: Vec<(f64, u64)>,
}

impl Curve {
    /// How much was seen by a moment.
    fn at(&self, seconds: f64) -> Option<u64> {
        if self.points.last()?.0 + 1.0 < seconds {
            return None;
        }
        self.points.iter().take_while(|(moment, _)| *moment <= seconds).last().map(|(_, seen)| *seen)
    }

    fn last(&self) -> (f64, u64) {
        self.points.last().copied().unwrap_or((0.0, 0))
    }
}

/// Moments worth a row, in seconds.
const MOMENTS: [u32; 12] = [10, 30, 60, 120, 300, 600, 900, 1200, 1800, 2700, 3600, 7200];

/// The curves as a Markdown table, a row for each moment.
pub fn table(curves: &[Curve], what: &str) -> String {
    let mut out = format!("| {what} after |");
    curves.iter().for_each(|curve| out.push_str(&format!(" {} |", curve.name)));
    out.push_str("\n| ---: |");
    curves.iter().for_each(|_| out.push_str(" ---: |"));
    out.push('\n');
    let end = curves.iter().map(|curve| curve.last().0).fold(0.0, f64::max);
    for moment in MOMENTS.into_iter().filter(|moment| f64::from(*moment) <= end + 1.0) {
        let seen: Vec<Option<u64>> = curves.iter().map(|curve| curve.at(f64::from(moment))).collect();
        let _ = write!(out, "| {} |", clock(moment));
        for seen in seen {
            let _ = write!(out, " {} |", seen.map_or_else(String::new, |seen| seen.to_string()));
        }
        out.push('\n');
    }
    out.push_str("| the end |");
    curves.iter().for_each(|curve| out.push_str(&format!(" {} |", curve.last().1)));
    out.push('\n');
    out
}

fn clock(seconds: u32) -> String {
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min", seconds / 60) }
}

/// Where the drawing is, in its own units; names stand to the right of it.
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 600.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 360.0;
/// The width of a letter of a name, at most on average.
const LETTER: f64 = 7.5;

/// Told apart also by those who see few colours: by their dashes.
const STROKES: [(&str, &str); 5] =
    [("#0b5394", ""), ("#b45f06", "7 4"), ("#38761d", "2 3"), ("#741b47", "9 3 2 3"), ("#444444", "4 2")];

/// The curves as an SVG, each with its name at its end.
pub fn svg(curves: &[Curve], what: &str) -> String {
    let ends = || curves.iter().map(Curve::last);
    let longest = ends().map(|(seconds, _)| seconds).fold(1.0, f64::max);
    let most = ends().map(|(_, seen)| seen).max().unwrap_or(1).max(1) as f64;
    // What every hunt sees within seconds would press the rest together.
    let first = |curve: &Curve| curve.points.first().map_or(0, |(_, seen)| *seen);
    let step = nice_step(most * 0.5);
    let least = (curves.iter().map(first).min().unwrap_or(0) as f64 * 0.9 / step).floor() * step;
    let most = (most / step).ceil() * step;
    let x = |seconds: f64| LEFT + (RIGHT - LEFT) * seconds / longest;
    let y = |seen: f64| BOTTOM - (BOTTOM - TOP) * ((seen - least) / (most - least).max(1.0)).clamp(0.0, 1.0);
    let label = |curve: &Curve| format!("{} ({})", curve.name, curve.last().1);
    let letters = curves.iter().map(|curve| label(curve).chars().count()).max().unwrap_or(0);
    let width = RIGHT + 20.0 + LETTER * letters as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"{width}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\" fill=\"#222222\">{}</text>\n",
        escaped(what)
    );
    let mut line = least;
    while line <= most + 0.5 {
        let at = y(line);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555555\">{line:.0}</text>",
            LEFT - 8.0,
            at + 4.0
        );
        line += step;
    }
    let tick = nice_step(longest / 60.0) * 60.0;
    let mut moment = 0.0;
    while moment <= longest + 0.5 {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555555\">{}</text>",
            x(moment),
            BOTTOM + 20.0,
            trimmed(moment / 60.0)
        );
        moment += tick;
    }
    let middle = (LEFT + RIGHT) / 2.0;
    let _ = writeln!(
        out,
        "<text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555555\">minutes</text>",
        BOTTOM + 42.0
    );
    for (curve, label_y) in curves.iter().zip(label_places(curves, &y)) {
        let at = curves.iter().position(|other| other == curve).unwrap_or(0);
        let (color, dashes) = STROKES[at % STROKES.len()];
        let points: Vec<String> = curve
            .points
            .iter()
            .map(|(seconds, seen)| format!("{:.1},{:.1}", x(*seconds), y(*seen as f64)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\" \
             points=\"{}\"/>\n<text x=\"{:.1}\" y=\"{label_y:.1}\" fill=\"{color}\">{}</text>",
            points.join(" "),
            x(curve.last().0) + 8.0,
            escaped(&label(curve)),
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Names at the ends of their curves, but never one upon the other.
fn label_places(curves: &[Curve], y: &dyn Fn(f64) -> f64) -> Vec<f64> {
    const LINE: f64 = 16.0;
    let wanted: Vec<f64> = curves.iter().map(|curve| y(curve.last().1 as f64) + 4.0).collect();
    let mut order: Vec<usize> = (0..curves.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut places = wanted.clone();
    let mut free = f64::MIN;
    for at in order {
        places[at] = wanted[at].max(free);
        free = places[at] + LINE;
    }
    places
}

/// 1, 2 or 5 times a power of ten: about five of them make the whole.
fn nice_step(whole: f64) -> f64 {
    let rough = (whole / 5.0).max(0.2);
    let power = 10_f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| power * times >= rough).unwrap_or(10.0);
    power * times
}

fn trimmed(number: f64) -> String {
    if number.fract() == 0.0 { format!("{number:.0}") } else { format!("{number:.1}") }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves() -> [Curve; 2] {
        let curve = |name: &str, end: u64| Curve {
            name: name.to_string(),
            points: vec![(5.0, 900), (65.0, (900 + end) / 2), (125.0, end)],
        };
        [curve("guided", 2000), curve("unguided & so on", 1990)]
    }

    #[test]
    fn a_table_has_a_row_for_every_moment_there_was() {
        let expected = "| edges after | guided | unguided & so on |\n| ---: | ---: | ---: |\n\
                        | 10 s | 900 | 900 |\n| 30 s | 900 | 900 |\n| 1 min | 900 | 900 |\n\
                        | 2 min | 1450 | 1445 |\n| the end | 2000 | 1990 |\n";
        assert_eq!(table(&curves(), "edges"), expected);
    }

    #[test]
    fn names_stand_beside_their_curves_and_apart() {
        let drawn = svg(&curves(), "edges");
        assert!(drawn.contains("unguided &amp; so on (1990)"), "{drawn}");
        let places = label_places(&curves(), &|seen| 400.0 - seen / 10.0);
        assert!((places[0] - places[1]).abs() >= 16.0, "{places:?}");
        assert_eq!(drawn.matches("<polyline").count(), 2);
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([nice_step(20.0), nice_step(1000.0), nice_step(11.0)], [5.0, 200.0, 5.0]);
    }
}
