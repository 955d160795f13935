//! The live view of a hunt on a terminal: figures, oracles, workers and findings, and keys to pause, read and quit.
//!
//! It lives in the supervisor's thread: each time the campaign tells how far it is, keys are read, and the screen is
//! drawn if that was not done a moment ago. Workers never wait for it.

mod draw;
mod history;
mod model;
mod terminal;

use std::io::{self, Stderr, Write, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dissent_campaign::{Bug, Campaign, Observer, Progress, Staged, Step};
use dissent_core::finding::Finding;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use signal_hook::consts::SIGTSTP;
use signal_hook::flag;

use crate::progress::HuntProgress;
use crate::text::plain;
use draw::Theme;
use model::Model;
use terminal::Guard;
pub use terminal::{is_fit, restore};

/// Often enough to look alive, seldom enough to cost nothing.
const PAUSE: Duration = Duration::from_millis(250);

/// The live view of one campaign.
pub struct Screen {
    model: Model,
    theme: Theme,
    /// None once the terminal was lost: lines are printed from then on.
    drawn_on: Option<(Terminal<CrosstermBackend<Stderr>>, Guard)>,
    lines: HuntProgress,
    drawn: Option<Instant>,
    stop: Arc<AtomicBool>,
    pause: Arc<AtomicBool>,
    /// Somebody sent SIGTSTP.
    suspend: Arc<AtomicBool>,
}

impl Screen {
    /// Takes the terminal over. Lines are what a user gets should it be lost.
    pub fn open(campaign: &Campaign, lines: HuntProgress) -> io::Result<Screen> {
        let suspend = Arc::new(AtomicBool::new(false));
        flag::register(SIGTSTP, suspend.clone())?;
        let guard = Guard::enter()?;
        let terminal = Terminal::new(CrosstermBackend::new(stderr()))?;
        Ok(Screen {
            model: Model::new(campaign),
            theme: Theme { colours: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) },
            drawn_on: Some((terminal, guard)),
            lines,
            drawn: None,
            stop: campaign.stop_flag(),
            pause: campaign.pause_flag(),
            suspend,
        })
    }

    /// Reads what was typed and draws, if it is time to. Gives whether the terminal is still there.
    fn refresh(&mut self) -> io::Result<bool> {
        let Some((_, guard)) = &self.drawn_on else { return Ok(false) };
        if guard.is_lost() {
            return Ok(false);
        }
        let mut due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= PAUSE);
        while event::poll(Duration::ZERO)? {
            due = true;
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => self.press(key)?,
                _ => {}
            }
        }
        if self.suspend.swap(false, Ordering::Relaxed) {
            self.suspend()?;
            due = true;
        }
        if due {
            self.draw()?;
        }
        Ok(true)
    }

    fn draw(&mut self) -> io::Result<()> {
        let (model, theme) = (&self.model, self.theme);
        if let Some((terminal, _)) = &mut self.drawn_on {
            terminal.draw(|frame| draw::draw(frame, model, theme))?;
            self.drawn = Some(Instant::now());
        }
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        let Some((terminal, guard)) = &mut self.drawn_on else { return Ok(()) };
        guard.suspend()?;
        terminal.clear()
    }

    fn press(&mut self, key: KeyEvent) -> io::Result<()> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, control) {
            (KeyCode::Char('c'), true) => self.quit(),
            (KeyCode::Char('z'), true) => self.suspend()?,
            (KeyCode::Char('l'), true) => {
                if let Some((terminal, _)) = &mut self.drawn_on {
                    terminal.clear()?;
                }
            }
            (code, _) if self.model.page.is_some() => self.turn(code),
            (KeyCode::Char('q') | KeyCode::Esc, false) => self.quit(),
            (KeyCode::Char('p' | ' '), false) => {
                self.pause.fetch_xor(true, Ordering::Relaxed);
            }
            (KeyCode::Up | KeyCode::Char('k'), false) => self.model.select(-1),
            (KeyCode::Down | KeyCode::Char('j'), false) => self.model.select(1),
            (KeyCode::Enter | KeyCode::Right, _) => self.model.open(),
            _ => {}
        }
        Ok(())
    }

    /// A key while a report is read.
    fn turn(&mut self, code: KeyCode) {
        let height = self
            .drawn_on
            .as_ref()
            .and_then(|(terminal, _)| terminal.size().ok())
            .map_or(10, |size| size.height);
        let Some(page) = &mut self.model.page else { return };
        let last = u16::try_from(page.text.lines().count()).unwrap_or(u16::MAX);
        let by = height.saturating_sub(5);
        page.scroll = match code {
            KeyCode::Up | KeyCode::Char('k') => page.scroll.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => page.scroll.saturating_add(1).min(last),
            KeyCode::PageUp => page.scroll.saturating_sub(by),
            KeyCode::PageDown | KeyCode::Char(' ') => page.scroll.saturating_add(by).min(last),
            KeyCode::Home => 0,
            KeyCode::End => last.saturating_sub(by),
            KeyCode::Esc | KeyCode::Enter | KeyCode::Left | KeyCode::Char('q') => {
                self.model.page = None;
                return;
            }
            _ => page.scroll,
        };
    }

    /// The first time the campaign ends as it does on Ctrl-C, the second time at once.
    fn quit(&mut self) {
        if self.stop.swap(true, Ordering::Relaxed) {
            restore();
            std::process::exit(i32::from(crate::TROUBLE));
        }
    }

    /// From here on there are only lines.
    fn lose(&mut self) {
        if self.drawn_on.take().is_some() {
            self.model.notes.drain(..).for_each(|note| self.lines.note(&note));
        }
    }
}

impl Observer for Screen {
    fn note(&mut self, text: &str) {
        match self.drawn_on {
            Some(_) => self.model.notes.push(plain(text)),
            None => self.lines.note(text),
        }
    }

    fn step(&mut self, step: &Step) {
        if self.drawn_on.is_none() {
            self.lines.step(step);
        }
    }

    fn progress(&mut self, progress: &Progress) {
        self.model.take(progress);
        match self.refresh() {
            Ok(true) => {}
            _ => {
                self.lose();
                self.lines.progress(progress);
            }
        }
    }

    fn stage(&mut self, staged: &Staged) {
        self.model.stage(staged);
    }

    fn found(&mut self, bug: &Bug, finding: &Finding) {
        if self.drawn_on.is_none() {
            self.lines.found(bug, finding);
        }
    }
}

/// What was noted goes where the user finds it afterwards.
impl Drop for Screen {
    fn drop(&mut self) {
        self.drawn_on = None;
        for note in self.model.notes.drain(..) {
            let _ = writeln!(stderr(), "dissent: {note}");
        }
    }
}
