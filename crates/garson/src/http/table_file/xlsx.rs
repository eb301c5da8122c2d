//! XLSX workbooks, written row by row: text stays text, amounts and times have formats, nothing runs as a formula.

use super::cell::Cell;
use super::zip::Zip;
use std::fmt::Write;
use std::io;

/// The most rows of a sheet; more rows continue on another one.
const MAX_ROWS: usize = 1_048_576;
/// The most characters of a cell.
const MAX_TEXT: usize = 32_767;
const CONTENT_TYPES: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
<Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
<Default Extension=\"xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>\
<Override PartName=\"/xl/workbook.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/>\
<Override PartName=\"/xl/styles.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml\"/>\
</Types>";
const RELATIONS: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
<Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
Target=\"xl/workbook.xml\"/></Relationships>";
/// The formats of cells, by number: 0 plain, 1 heading, 2 text, 3 amount, 4 time.
const STYLES: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">\
<numFmts count=\"1\"><numFmt numFmtId=\"164\" formatCode=\"dd\\.mm\\.yyyy\\ hh:mm\"/></numFmts>\
<fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font><font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts>\
<fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill><fill><patternFill patternType=\"gray125\"/></fill></fills>\
<borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border></borders>\
<cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/></cellStyleXfs>\
<cellXfs count=\"5\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\"/>\
<xf numFmtId=\"0\" fontId=\"1\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyFont=\"1\"/>\
<xf numFmtId=\"49\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyNumberFormat=\"1\"/>\
<xf numFmtId=\"4\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyNumberFormat=\"1\"/>\
<xf numFmtId=\"164\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyNumberFormat=\"1\"/></cellXfs>\
<cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>";
/// Before the rows: the heading stays visible, and columns are wide enough for a date.
const SHEET_START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetViews><sheetView workbookViewId=\"0\">\
<pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/></sheetView></sheetViews>\
<sheetFormatPr defaultRowHeight=\"15\" defaultColWidth=\"17\"/><sheetData>";
const SHEET_END: &str = "</sheetData></worksheet>";

/// A workbook in the making.
pub struct Workbook {
    zip: Zip,
    heading: Vec<Cell>,
    sheets: usize,
    /// The rows of the current sheet.
    rows: usize,
}

impl Workbook {
    pub fn new(heading: &[&str]) -> Self {
        Self {
            zip: Zip::default(),
            heading: heading.iter().map(|name| Cell::text(*name)).collect(),
            sheets: 0,
            rows: 0,
        }
    }

    /// The beginning of the file.
    pub fn begin(&mut self) -> io::Result<Vec<u8>> {
        for (name, text) in [
            ("[Content_Types].xml", CONTENT_TYPES),
            ("_rels/.rels", RELATIONS),
            ("xl/styles.xml", STYLES),
        ] {
            self.zip.add(name, text)?;
        }
        self.begin_sheet()?;
        Ok(self.zip.take())
    }

    fn begin_sheet(&mut self) -> io::Result<()> {
        self.sheets += 1;
        self.rows = 1;
        self.zip
            .begin(&format!("xl/worksheets/sheet{}.xml", self.sheets))?;
        let heading = format!("{SHEET_START}{}", row(&self.heading, true));
        self.zip.write(&heading)
    }

    /// Some rows of the file.
    pub fn rows(&mut self, rows: &[Vec<Cell>]) -> io::Result<Vec<u8>> {
        for cells in rows {
            if self.rows == MAX_ROWS {
                self.zip.write(SHEET_END)?;
                self.zip.finish()?;
                self.begin_sheet()?;
            }
            self.zip.write(&row(cells, false))?;
            self.rows += 1;
        }
        Ok(self.zip.take())
    }

    /// The end of the file.
    pub fn end(mut self) -> io::Result<Vec<u8>> {
        self.zip.write(SHEET_END)?;
        self.zip.finish()?;
        let (mut sheets, mut relations) = (String::new(), String::new());
        for number in 1..=self.sheets {
            // Writing to a string cannot fail.
            let _ = write!(
                sheets,
                "<sheet name=\"Garson {number}\" sheetId=\"{number}\" r:id=\"rId{number}\"/>"
            );
            let _ = write!(
                relations,
                "<Relationship Id=\"rId{number}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" \
                 Target=\"worksheets/sheet{number}.xml\"/>"
            );
        }
        let styles = self.sheets + 1;
        self.zip.add(
            "xl/workbook.xml",
            &format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
                 <workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
                 xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>{sheets}</sheets></workbook>"
            ),
        )?;
        self.zip.add(
            "xl/_rels/workbook.xml.rels",
            &format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
                 <Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{relations}\
                 <Relationship Id=\"rId{styles}\" \
                 Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles\" Target=\"styles.xml\"/>\
                 </Relationships>"
            ),
        )?;
        self.zip.end()?;
        Ok(self.zip.take())
    }
}

fn row(cells: &[Cell], is_heading: bool) -> String {
    let mut text = String::from("<row>");
    for cell in cells {
        let _ = match cell {
            Cell::Text(value) if value.is_empty() => write!(text, "<c/>"),
            Cell::Text(value) => {
                let style = if is_heading { 1 } else { 2 };
                write!(
                    text,
                    "<c t=\"inlineStr\" s=\"{style}\"><is><t xml:space=\"preserve\">{}</t></is></c>",
                    escaped(value)
                )
            }
            Cell::Time { serial, .. } => write!(text, "<c s=\"4\"><v>{serial}</v></c>"),
            Cell::Amount(amount) => {
                let minor = amount.0.unsigned_abs();
                let sign = if amount.0 < 0 { "-" } else { "" };
                write!(
                    text,
                    "<c s=\"3\"><v>{sign}{}.{:02}</v></c>",
                    minor / 100,
                    minor % 100
                )
            }
            Cell::Number(number) => write!(text, "<c><v>{number}</v></c>"),
            Cell::Empty => write!(text, "<c/>"),
        };
    }
    text.push_str("</row>");
    text
}

/// Text for XML, without control characters, of which XML does not allow most.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for letter in value.chars().take(MAX_TEXT) {
        match letter {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '\t' | '\n' | '\r' => text.push(letter),
            '\u{fffe}' | '\u{ffff}' => {}
            letter if letter.is_control() => {}
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::money::Minor;

    #[test]
    fn cells_keep_their_text_and_types() {
        let cells = [
            Cell::text("948000000001"),
            Cell::text("=1+1 <&> \u{1}\u{9b}"),
            Cell::Amount(Minor(-123_405)),
            Cell::Number(7),
            Cell::Empty,
        ];
        assert_eq!(
            row(&cells, false),
            "<row><c t=\"inlineStr\" s=\"2\"><is><t xml:space=\"preserve\">948000000001</t></is></c>\
             <c t=\"inlineStr\" s=\"2\"><is><t xml:space=\"preserve\">=1+1 &lt;&amp;&gt; </t></is></c>\
             <c s=\"3\"><v>-1234.05</v></c><c><v>7</v></c><c/></row>"
        );
    }
}
