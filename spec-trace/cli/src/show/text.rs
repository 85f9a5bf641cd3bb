//! A run for the terminal: lanes drawn in characters, [`WIDTH`] columns wide where nobody says how many there are.

use std::fmt::Write as _;

use super::run::{Finding, Run, Step, Weight};
use super::words::{folded, shortened, shortened_within, width, with_short_names};

/// The widest line, in columns, where nobody says how many there are.
pub const WIDTH: usize = 100;

/// The same on the widest terminal.
pub const MOST: usize = 160;

/// What all lanes together may take, in columns, and each of them at most and at least.
const ALL_LANES: usize = 48;
const WIDEST_LANE: usize = 14;
const NARROWEST_LANE: usize = 3;

/// So many columns the text beside the lanes has where the lanes can be narrower, and at least.
const ENOUGH: usize = 26;
const FEWEST: usize = 8;

/// The most that the text of a step takes, what is said beside it, and a finding, in columns of lines and in lines, whichever is more.
const TEXT: (usize, usize) = (120, 3);
const ASIDES: (usize, usize) = (150, 6);
const FINDING: (usize, usize) = (360, 4);

/// A name within a text is cut only beyond so many columns.
const NAME: usize = 24;

/// The drawing, with a line's end behind it.
pub fn render(run: &Run) -> String {
    render_within(run, WIDTH)
}

/// The same on so many columns, or on those that the lanes and a few words beside them need.
pub fn render_within(run: &Run, width: usize) -> String {
    let columns = Columns::of(run, width);
    let mut text = String::new();
    let title = shortened(&run.title, width);
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "{title}");
    for line in [&run.head, &run.verdict]
        .into_iter()
        .flat_map(|said| folded(said, width, 3))
    {
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
    columns.head(run, &mut text);
    for (index, step) in run.steps.iter().enumerate() {
        columns.step(run, index, step, &mut text);
    }
    remarks(run, width, &mut text);
    text
}

/// Where the columns stand.
struct Columns {
    width: usize,
    number: usize,
    time: usize,
    lane: usize,
    lanes: usize,
}

impl Columns {
    fn of(run: &Run, columns: usize) -> Self {
        let lanes = run.participants.len();
        let all = ALL_LANES.min(columns / 2);
        let numbers = run
            .steps
            .iter()
            .enumerate()
            .map(|(index, step)| step.number(index).to_string().len());
        let times = run.steps.iter().map(|step| width(&step.at));
        let mut columns = Self {
            width: columns,
            number: numbers.max().unwrap_or(0).max(3),
            time: times.max().unwrap_or(0),
            lane: 0,
            lanes,
        };
        let left = columns.width.saturating_sub(columns.text_at() + ENOUGH);
        let lane = all.min(left) / lanes.max(1);
        columns.lane = lane.clamp(NARROWEST_LANE, WIDEST_LANE);
        columns
    }

    /// Where the lanes begin: behind the mark, the number and the time.
    fn lanes_at(&self) -> usize {
        3 + self.number + 2 + self.time + 1
    }

    fn text_at(&self) -> usize {
        self.lanes_at() + self.lane * self.lanes + 1
    }

    fn text_width(&self) -> usize {
        self.width.saturating_sub(self.text_at()).max(FEWEST)
    }

    fn centre(&self, lane: usize) -> usize {
        lane * self.lane + self.lane / 2
    }

    /// The names above their lanes, on as many lines as they need to stand apart.
    fn head(&self, run: &Run, text: &mut String) {
        let mut lines: Vec<String> = Vec::new();
        for (lane, name) in run.participants.iter().enumerate() {
            let name = shortened_within(name, 2 * WIDEST_LANE);
            let at = (self.lanes_at() + self.centre(lane)).saturating_sub(width(&name) / 2);
            let free = lines.iter().position(|line| width(line) < at);
            let free = free.unwrap_or(lines.len());
            if free == lines.len() {
                lines.push(String::new());
            }
            let line = &mut lines[free];
            line.push_str(&" ".repeat(at - width(line)));
            line.push_str(&name);
        }
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
    }

    fn step(&self, run: &Run, index: usize, step: &Step, text: &mut String) {
        let mark = step.weight(run).map_or(' ', Weight::mark);
        let mut said = self.beside(&step.text, self.text_width(), TEXT);
        let asides = step.asides(run).join(", ");
        let asides = self.beside(&asides, self.text_width() - 2, ASIDES);
        said.extend(asides.into_iter().map(|line| format!("  {line}")));
        let number = step.number(index);
        let before = format!(
            " {mark} {number:>number_width$}  {at}{pad} ",
            number_width = self.number,
            at = step.at,
            pad = " ".repeat(self.time - width(&step.at)),
        );
        let _ = writeln!(
            text,
            "{}",
            self.row(&before, &self.arrow(step), said.first())
        );
        for line in said.iter().skip(1) {
            let _ = writeln!(text, "{}", self.row("", &self.lifelines(), Some(line)));
        }
        for finding in step.findings.iter().map(|index| &run.findings[*index]) {
            self.finding(finding, text);
        }
    }

    /// The text on so many columns, with no name in it that would take most of them.
    fn beside(&self, text: &str, columns: usize, (most, lines): (usize, usize)) -> Vec<String> {
        // With room for a colon behind it.
        let names = (self.text_width() / 2).max(NAME).min(columns - 1);
        let lines = lines.max(most.div_ceil(columns));
        folded(&with_short_names(text, names), columns, lines)
    }

    fn row(&self, before: &str, lanes: &str, said: Option<&String>) -> String {
        let before = format!("{before}{}", " ".repeat(self.lanes_at() - width(before)));
        let row = format!("{before}{lanes} {}", said.map_or("", String::as_str));
        row.trim_end().to_owned()
    }

    fn lifelines(&self) -> String {
        self.canvas().into_iter().collect()
    }

    fn canvas(&self) -> Vec<char> {
        let mut canvas = vec![' '; self.lane * self.lanes];
        for lane in 0..self.lanes {
            canvas[self.centre(lane)] = '│';
        }
        canvas
    }

    /// The lanes with the arrow of this step, or a dot where it stays with who acts.
    fn arrow(&self, step: &Step) -> String {
        let mut canvas = self.canvas();
        let from = self.centre(step.from);
        if let Some(to) = step
            .to
            .filter(|to| *to != step.from)
            .map(|to| self.centre(to))
        {
            for place in &mut canvas[from.min(to) + 1..from.max(to)] {
                *place = if *place == '│' { '┼' } else { '─' };
            }
            let (head, place) = if from < to {
                ('▶', to - 1)
            } else {
                ('◀', to + 1)
            };
            canvas[place] = head;
        }
        canvas[from] = '●';
        canvas.into_iter().collect()
    }

    fn finding(&self, finding: &Finding, text: &mut String) {
        let indent = 3 + self.number + 2;
        let columns = self.width - indent - 2;
        let lines = FINDING.1.max(FINDING.0.div_ceil(columns));
        for (place, line) in folded(&finding.told(), columns, lines).iter().enumerate() {
            let hang = if place == 0 { "" } else { "  " };
            let _ = writeln!(text, "{}{hang}{line}", " ".repeat(indent));
        }
    }
}

fn remarks(run: &Run, width: usize, text: &mut String) {
    if !run.remarks.is_empty() {
        text.push('\n');
    }
    for remark in &run.remarks {
        for (place, line) in folded(remark, width - 2, 4).iter().enumerate() {
            let hang = if place == 0 { "" } else { "  " };
            let _ = writeln!(text, "{hang}{line}");
        }
    }
}
