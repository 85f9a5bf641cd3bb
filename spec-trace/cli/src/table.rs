//! Plain text tables: columns as wide as their widest cell, numbers to the right.

/// On which side the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Lays out rows of cells; the first row is the head. Trailing blanks are cut.
pub fn render(columns: &[Align], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, align) in columns.iter().enumerate() {
            let cell = row.get(column).map_or("", String::as_str);
            let padding = " ".repeat(width(column) - cell.chars().count());
            if column > 0 {
                line.push_str("   ");
            }
            match align {
                Align::Left => line.extend([cell, &padding]),
                Align::Right => line.extend([padding.as_str(), cell]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A whole number with its thousands set apart: `611,904`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate in millions: `1.31 M`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub fn per_second(count: u64, seconds: f64) -> String {
    format!("{:.2} M", count as f64 / seconds.max(1e-9) / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let texts: Vec<String> = [0, 999, 1_000, 611_904, 1_000_000]
            .map(grouped)
            .into_iter()
            .collect();
        assert_eq!(texts, ["0", "999", "1,000", "611,904", "1,000,000"]);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let text = render(
            &[Align::Left, Align::Right],
            &[row(["", "states"]), row(["aaep", "7"])],
        );
        assert_eq!(text, "       states\naaep        7\n");
    }
}
