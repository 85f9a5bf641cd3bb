//! A run as a picture: one file that needs nothing else, for a light and for a dark page.

use maud::{Markup, PreEscaped, html};

use super::run::{Run, Step, Weight};
use super::words::{folded, shortened, shortened_within};

/// All lengths are in pixels; texts are 13 pixels high, of which a column takes about [`COLUMN`].
const COLUMN: usize = 7;
const LINE: usize = 19;
const MARGIN: usize = 20;
const NUMBER: usize = 46;
const HEAD: usize = 92;
const TEXT_COLUMNS: usize = 76;

/// The most lines that the text of a step takes, what is said beside it, and a finding.
const TEXT_LINES: usize = 4;
const ASIDE_LINES: usize = 8;
const FINDING_LINES: usize = 4;

const STYLE: &str = include_str!("picture.css");

/// The drawing, with a line's end behind it.
pub fn render(run: &Run) -> String {
    let sheet = Sheet::of(run);
    let mut top = HEAD;
    let rows: Vec<Row> = run
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let row = Row::of(run, index, step, top);
            top += row.height();
            row
        })
        .collect();
    let (width, height) = (sheet.width(), top + MARGIN);
    let description = run.description();
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="countersign-picture" role="img"
            aria-labelledby="countersign-title countersign-description"
            width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
            title id="countersign-title" { (run.title) }
            desc id="countersign-description" { (description) }
            style { (PreEscaped(STYLE)) }
            rect class="page" width=(width) height=(height) rx="8" {}
            (words("title", MARGIN, 30, &shortened(&run.title, 100)))
            (words("faint", MARGIN, 50, &shortened(&description, 120)))
            @for row in rows.iter().filter(|row| row.weight.is_some()) { (row.band(&sheet)) }
            @for (lane, name) in run.participants.iter().enumerate() { (sheet.lifeline(lane, name, top)) }
            @for row in &rows { (row.draw(&sheet)) }
        }
    };
    picture.into_string() + "\n"
}

/// Where the columns stand.
struct Sheet {
    time: usize,
    lane: usize,
    lanes: usize,
}

impl Sheet {
    fn of(run: &Run) -> Self {
        let longest = run.steps.iter().map(|step| step.at.chars().count()).max();
        Self {
            time: longest.unwrap_or(0) * 8 + 16,
            lane: if run.participants.len() > 4 { 92 } else { 112 },
            lanes: run.participants.len(),
        }
    }

    fn lanes_at(&self) -> usize {
        MARGIN + NUMBER + self.time
    }

    fn centre(&self, lane: usize) -> usize {
        self.lanes_at() + lane * self.lane + self.lane / 2
    }

    fn text_at(&self) -> usize {
        self.lanes_at() + self.lane * self.lanes + 12
    }

    fn width(&self) -> usize {
        self.text_at() + TEXT_COLUMNS * COLUMN + MARGIN
    }

    fn lifeline(&self, lane: usize, name: &str, bottom: usize) -> Markup {
        let x = self.centre(lane);
        html! {
            line class="lifeline" x1=(x) y1=(HEAD - 8) x2=(x) y2=(bottom) {}
            text class="name" x=(x) y=(HEAD - 16) text-anchor="middle" { (shortened_within(name, self.lane / COLUMN - 1)) }
        }
    }
}

/// One step, laid out.
struct Row<'a> {
    step: &'a Step,
    number: String,
    top: usize,
    weight: Option<Weight>,
    said: Vec<String>,
    asides: Vec<String>,
    findings: Vec<String>,
}

impl<'a> Row<'a> {
    fn of(run: &Run, index: usize, step: &'a Step, top: usize) -> Self {
        let findings = step
            .findings
            .iter()
            .map(|index| run.findings[*index].told());
        Self {
            step,
            number: step.number(index).to_string(),
            top,
            weight: step.weight(run),
            said: folded(&step.text, TEXT_COLUMNS, TEXT_LINES),
            asides: folded(&step.asides(run).join(", "), TEXT_COLUMNS, ASIDE_LINES),
            findings: findings
                .flat_map(|told| folded(&told, TEXT_COLUMNS, FINDING_LINES))
                .collect(),
        }
    }

    fn height(&self) -> usize {
        let lines = self.said.len().max(1) + self.asides.len() + self.findings.len();
        lines * LINE + 9
    }

    /// The base line of the text on this line of the row.
    fn line(&self, line: usize) -> usize {
        self.top + LINE + line * LINE - 4
    }

    fn band(&self, sheet: &Sheet) -> Markup {
        html! {
            rect class={ "band " (class(self.weight)) } x="6" y=(self.top) width=(sheet.width() - 12) height=(self.height() - 2) rx="5" {}
        }
    }

    fn draw(&self, sheet: &Sheet) -> Markup {
        let class = class(self.weight);
        let (asides_at, findings_at) = (
            self.said.len().max(1),
            self.said.len().max(1) + self.asides.len(),
        );
        html! {
            g class=(class) {
                @if let Some(weight) = self.weight { (words("mark", MARGIN - 6, self.line(0), &weight.mark().to_string())) }
                text class="faint" x=(MARGIN + NUMBER - 14) y=(self.line(0)) text-anchor="end" { (self.number) }
                (words("faint", MARGIN + NUMBER, self.line(0), &self.step.at))
                (self.arrow(sheet))
                @for (line, text) in self.said.iter().enumerate() { (words("said", sheet.text_at(), self.line(line), text)) }
                @for (line, text) in self.asides.iter().enumerate() {
                    (words("faint", sheet.text_at(), self.line(asides_at + line), text))
                }
                @for (line, text) in self.findings.iter().enumerate() {
                    (words("finding", sheet.text_at(), self.line(findings_at + line), text))
                }
            }
        }
    }

    /// A dot at who acts, and an arrow to whom it reaches.
    fn arrow(&self, sheet: &Sheet) -> Markup {
        let (from, y) = (sheet.centre(self.step.from), self.line(0) - 4);
        let to = self
            .step
            .to
            .filter(|to| *to != self.step.from)
            .map(|to| sheet.centre(to));
        html! {
            @if let Some(to) = to {
                @let back = if from < to { to - 9 } else { to + 9 };
                line class="message" x1=(from) y1=(y) x2=(back) y2=(y) {}
                path class="head" d={ "M" (to) " " (y) "L" (back) " " (y - 5) "V" (y + 5) "Z" } {}
            }
            circle class="dot" cx=(from) cy=(y) r="4" {}
        }
    }
}

fn class(weight: Option<Weight>) -> &'static str {
    weight.map_or("plain", Weight::name)
}

fn words(class: &str, x: usize, y: usize, text: &str) -> Markup {
    html! { text class=(class) x=(x) y=(y) { (text) } }
}
