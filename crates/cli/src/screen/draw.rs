//! The live view as it is drawn: everything on a large terminal, the essentials on a small one.

use std::time::Duration;

use dissent_campaign::{Doing, Phase, WorkerView};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Sparkline, Wrap};

use super::model::{Entry, Model, OracleLine, Page, State};
use crate::numbers::{clock, counted, grouped, part, percent, short};
use crate::text::truncated;

/// Below this nothing but a line of text makes sense.
const LEAST: (u16, u16) = (24, 4);
/// From this height on there is room for a table of oracles.
const TABLE_HEIGHT: u16 = 14;
/// From this width on there is room for the workers beside it.
const WORKERS_WIDTH: u16 = 78;
/// The width of the table of oracles.
const TABLE_WIDTH: u16 = 51;
/// Bugs that are shown at least, with their head.
const LEAST_BUGS: u16 = 4;
/// A statement that takes longer is worth a word.
const LONG: Duration = Duration::from_secs(1);

/// Colours, or none.
#[derive(Clone, Copy)]
pub struct Theme {
    pub colours: bool,
}

impl Theme {
    fn paint(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn head(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn state(self, state: &State) -> Style {
        match state {
            State::New => self.paint(Color::Red).add_modifier(Modifier::BOLD),
            State::Reducing | State::Confirming => self.paint(Color::Yellow),
            State::Waiting => Style::new(),
            State::Known(_) | State::Duplicate(_) | State::Unstable => self.faint(),
        }
    }
}

pub fn draw(frame: &mut Frame, model: &Model, theme: Theme) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let figures = &model.figures;
        let text = format!("{} {} checks", clock(figures.elapsed), short(figures.checks as f64));
        frame.render_widget(Paragraph::new(text), area);
        return;
    }
    let rows = [Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)];
    let [head, body, foot] = Layout::vertical(rows).areas(area);
    header(frame, head, model, theme);
    match &model.page {
        Some(page) => report(frame, body, page, theme),
        None => dashboard(frame, body, model, theme),
    }
    footer(frame, foot, model, theme);
}

fn header(frame: &mut Frame, area: Rect, model: &Model, theme: Theme) {
    let time = time(model);
    let room = usize::from(area.width).saturating_sub(time.chars().count() + 1);
    let title = truncated(&format!("dissent  {}", model.target), room);
    let line = Line::from(vec![Span::styled(format!("{title:<room$} "), theme.head()), Span::raw(time)]);
    frame.render_widget(Paragraph::new(line), area);
}

/// `1:02 of 10:00, 8:58 left`, or what else is going on.
fn time(model: &Model) -> String {
    let elapsed = model.figures.elapsed;
    let passed = clock(elapsed);
    match (model.figures.phase, model.limit) {
        (Phase::Pausing, _) => format!("{passed}, pausing"),
        (Phase::Paused, _) => format!("{passed}, PAUSED"),
        (Phase::Stopping, _) => format!("{passed}, stopping"),
        (Phase::Reducing, _) => format!("{passed}, reducing"),
        (Phase::Hunting, Some(limit)) => format!("{passed}, {} left", clock(limit.saturating_sub(elapsed))),
        (Phase::Hunting, None) => passed,
    }
}

fn dashboard(frame: &mut Frame, area: Rect, model: &Model, theme: Theme) {
    let rates = if model.features.is_some() { 4 } else { 3 };
    let rates = rates.min(area.height.saturating_sub(1));
    let table = match area.height {
        height if height < TABLE_HEIGHT => 0,
        height => (model.oracles.len() as u16 + 2).min(height - rates - LEAST_BUGS),
    };
    let rows = [Constraint::Length(rates), Constraint::Length(table), Constraint::Min(0)];
    let [top, middle, bottom] = Layout::vertical(rows).areas(area);
    rate_lines(frame, top, model, theme);
    if table > 0 {
        let wide = area.width >= WORKERS_WIDTH;
        let width = if wide { Constraint::Length(TABLE_WIDTH) } else { Constraint::Percentage(100) };
        let [left, right] = Layout::horizontal([width, Constraint::Min(0)]).areas(middle);
        oracles(frame, left, model, theme);
        if wide {
            workers(frame, right, model, theme);
        }
    }
    bugs(frame, bottom, model, theme);
}

/// `checks     2.7k/s ▂▃▅▇ 123,456`, and the like.
fn rate_lines(frame: &mut Frame, area: Rect, model: &Model, theme: Theme) {
    let figures = &model.figures;
    let valid = percent(figures.statements_ok, figures.statements);
    let [green, cyan, blue] = [Color::Green, Color::Cyan, Color::Blue].map(|colour| theme.paint(colour));
    let per_second = |rate: f64| format!("{}/s", short(rate));
    let mut lines = vec![
        (
            "checks",
            per_second(model.checks.now()),
            format!("{}, {}", grouped(figures.checks), counted(figures.databases, "database")),
            green,
        ),
        (
            "statements",
            per_second(model.statements.now()),
            format!("{}, {valid} valid", grouped(figures.statements)),
            cyan,
        ),
    ];
    if let Some(features) = model.features {
        let kept = format!("{} kept", counted(figures.kept, "database"));
        lines.push((features, grouped(figures.features), kept, blue));
    }
    let rows: Vec<Rect> = area.rows().collect();
    for (number, ((label, value, total, style), row)) in lines.iter().zip(&rows).enumerate() {
        let wide = row.width >= 60;
        let widths = [
            Constraint::Length(12),
            Constraint::Length(9),
            if wide { Constraint::Min(8) } else { Constraint::Length(0) },
            Constraint::Length(if wide { 30 } else { row.width.saturating_sub(22) }),
        ];
        let [name, now, graph, rest] = Layout::horizontal(widths).spacing(1).areas(*row);
        frame.render_widget(Paragraph::new(*label), name);
        frame.render_widget(Paragraph::new(value.as_str()).right_aligned().style(theme.head()), now);
        let columns = usize::from(graph.width);
        let samples = match number {
            0 => model.checks.last(columns),
            1 => model.statements.last(columns),
            _ => model.growth.whole(columns),
        };
        frame.render_widget(Sparkline::default().data(&samples).style(*style), graph);
        frame.render_widget(Paragraph::new(truncated(total, usize::from(rest.width))), rest);
    }
    if let Some(row) = rows.get(lines.len()) {
        frame.render_widget(Paragraph::new(findings_line(model, theme)), *row);
    }
}

/// `findings     3 new, 2 known, 1 unstable, 12 waiting; last new bug 0:12 ago`.
fn findings_line(model: &Model, theme: Theme) -> Line<'static> {
    let count = |word: &str| model.ended(word);
    let new = format!("{} new", count("new"));
    let style = if count("new") > 0 { theme.state(&State::New) } else { theme.head() };
    let mut rest = String::new();
    for (word, many) in [("known", "known"), ("duplicate", "duplicates"), ("unstable", "unstable")] {
        let number = count(word);
        if number > 0 {
            let word = if number == 1 { word } else { many };
            rest.push_str(&format!(", {} {word}", grouped(number)));
        }
    }
    if model.figures.waiting > 0 {
        rest.push_str(&format!(", {} to reduce", model.figures.waiting));
    }
    if let Some(last) = model.last_new {
        rest.push_str(&format!("; last new {} ago", clock(model.figures.elapsed.saturating_sub(last))));
    }
    Line::from(vec![Span::raw(format!("{:<13}", "findings")), Span::styled(new, style), Span::raw(rest)])
}

fn oracles(frame: &mut Frame, area: Rect, model: &Model, theme: Theme) {
    let head =
        format!("{:<14}{:>5}{:>10}{:>8}{:>7}{:>5}", "oracle", "time", "checks", "skips", "alarms", "bugs");
    let mut lines = vec![Line::default(), Line::styled(head, theme.head())];
    let (room, all) = (usize::from(area.height).saturating_sub(2), model.oracles.len());
    let shown = if all <= room { all } else { room.saturating_sub(1) };
    lines.extend(model.oracles.iter().take(shown).map(|oracle| oracle_line(oracle, theme)));
    if shown < all {
        lines.push(Line::styled(format!("… and {} more", all - shown), theme.faint()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn oracle_line(oracle: &OracleLine, theme: Theme) -> Line<'static> {
    let OracleLine { name, checks, skips, alarms, bugs, share } = oracle;
    let skipped = percent(*skips, checks + skips);
    let share = format!("{:.0} %", 100.0 * share);
    let text = format!("{name:<14}{share:>5}{:>10}{skipped:>8}{alarms:>7}", grouped(*checks));
    let style = if *bugs > 0 { theme.state(&State::New) } else { Style::new() };
    Line::from(vec![Span::raw(text), Span::styled(format!("{bugs:>5}"), style)])
}

fn workers(frame: &mut Frame, area: Rect, model: &Model, theme: Theme) {
    let mut lines = vec![Line::default(), Line::styled("worker and its database/case", theme.head())];
    let (room, all) = (usize::from(area.height).saturating_sub(2), model.workers.len());
    let shown = if all <= room { all } else { room.saturating_sub(1) };
    let width = usize::from(area.width);
    for worker in model.workers.iter().take(shown) {
        lines.push(Line::raw(truncated(&worker_line(worker, model.figures.phase), width)));
    }
    if shown < all {
        lines.push(Line::styled(format!("… and {} more", all - shown), theme.faint()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn worker_line(worker: &WorkerView, phase: Phase) -> String {
    let number = worker.number;
    let Some(Doing { database, case, purpose, statement, running, still, .. }) = worker.doing else {
        return format!("{number:>2}  ended");
    };
    let place = format!("{number:>2}  {}/{case:<3}", grouped(database));
    let doing = match (running, still > LONG, phase) {
        (false, _, Phase::Paused) => "waits".to_string(),
        (true, true, _) => format!("{purpose} {} for {} s", first_word(&statement), still.as_secs()),
        _ => format!("{purpose} {}", first_word(&statement)),
    };
    format!("{place} {doing}")
}

/// Of the first eight bytes of a statement.
fn first_word(statement: &[u8; 8]) -> String {
    let word = statement.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    String::from_utf8_lossy(word).into_owned()
}

fn bugs(frame: &mut Frame, area: Rect, model: &Model, theme: Theme) {
    if area.height < 2 {
        return;
    }
    let spaced = area.height > LEAST_BUGS;
    let mut lines = if spaced { vec![Line::default()] } else { Vec::new() };
    lines.push(Line::styled("newest findings", theme.head()));
    let room = usize::from(area.height) - lines.len();
    let entries = model.entries();
    if entries.is_empty() {
        lines.push(Line::styled("none yet", theme.faint()));
    }
    let selected = model.selection();
    let first = (selected + 1).saturating_sub(room);
    let shown = || entries.iter().enumerate().skip(first).take(room);
    let longest = shown().map(|(_, entry)| entry.id.len()).max().unwrap_or(0);
    for (at, entry) in shown() {
        let line = entry_line(entry, longest, usize::from(area.width), theme);
        lines.push(if at == selected { line.style(Modifier::REVERSED) } else { line });
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn entry_line(entry: &Entry, longest: usize, width: usize, theme: Theme) -> Line<'static> {
    let state = format!("{:<11}", entry.state.word());
    let text = match &entry.state {
        State::Duplicate(of) => format!("{:<longest$}  is {of}", entry.id),
        State::Known(id) => format!("{:<longest$}  is {id}", entry.id),
        _ => format!("{:<longest$}  {}", entry.id, entry.title),
    };
    let rest = truncated(&text, width.saturating_sub(state.len()));
    let rest = format!("{rest:<room$}", room = width.saturating_sub(state.len()));
    Line::from(vec![Span::styled(state, theme.state(&entry.state)), Span::raw(rest)])
}

fn report(frame: &mut Frame, area: Rect, page: &Page, theme: Theme) {
    let [head, text] = Layout::vertical([Constraint::Length(2), Constraint::Min(0)]).areas(area);
    frame.render_widget(
        Paragraph::new(truncated(&page.title, usize::from(area.width))).style(theme.faint()),
        head,
    );
    // A terminal must not take anything in a finding for a command.
    let shown: String =
        page.text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
    frame.render_widget(Paragraph::new(shown).wrap(Wrap { trim: false }).scroll((page.scroll, 0)), text);
}

fn footer(frame: &mut Frame, area: Rect, model: &Model, theme: Theme) {
    let keys = match (&model.page, model.figures.phase) {
        (Some(_), _) => "↑↓ scroll  esc back",
        (None, Phase::Stopping | Phase::Reducing) => "finishing findings  q leave now",
        (None, Phase::Paused | Phase::Pausing) => "p resume  ↑↓ select  enter report  q quit",
        (None, Phase::Hunting) => "p pause  ↑↓ select  enter report  q quit",
    };
    let width = usize::from(area.width);
    let room = width.saturating_sub(keys.chars().count() + 3);
    let probing =
        model.figures.probing.map(|probed| format!("probing the engine's functions: {}", part(probed)));
    let note = probing.or_else(|| model.notes.last().cloned());
    let note = note.filter(|_| room > 10).map(|note| truncated(&note, room));
    let line = match note {
        Some(note) => vec![Span::styled(keys, theme.faint()), Span::raw("   "), Span::raw(note)],
        None => vec![Span::styled(truncated(keys, width), theme.faint())],
    };
    frame.render_widget(Paragraph::new(Line::from(line)), area);
}
