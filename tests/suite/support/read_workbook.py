"""Reads an XLSX workbook as strictly as its format allows and prints its cells as JSON: a list of sheets, each a list of rows.

A cell is null, or [kind, value, format]: "text" or "number", the text as written, and the number of its format.
"""

import json
import sys
import zipfile
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}"
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
BY_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml."
# The order in which the elements of a sheet must be.
PARTS = ["sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData"]


def content_type(types, part):
    for entry in types.iter(TYPES + "Override"):
        if entry.get("PartName") == "/" + part:
            return entry.get("ContentType")
    for entry in types.iter(TYPES + "Default"):
        if part.endswith("." + entry.get("Extension")):
            return entry.get("ContentType")
    return None


def read_cell(cell, formats):
    kind = cell.get("t", "n")
    style = int(cell.get("s", "0"))
    assert style < len(formats), f"there is no style {style}"
    if len(cell) == 0:
        return None
    assert len(cell) == 1, "a cell has one value"
    if kind == "inlineStr":
        assert cell[0].tag == MAIN + "is" and cell[0][0].tag == MAIN + "t"
        return ["text", cell[0][0].text or "", formats[style]]
    assert kind == "n" and cell[0].tag == MAIN + "v", f"a cell of type {kind}"
    float(cell[0].text)
    return ["number", cell[0].text, formats[style]]


def read(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None, "a checksum is wrong"
        names = archive.namelist()
        assert len(names) == len(set(names)), "a part is there twice"
        parts = {name: ElementTree.fromstring(archive.read(name)) for name in names}
    types = parts["[Content_Types].xml"]
    for name in names:
        assert name == "[Content_Types].xml" or content_type(types, name), f"{name} has no type"
    (start,) = parts["_rels/.rels"].iter(RELATION + "Relationship")
    assert start.get("Type").endswith("/officeDocument")
    workbook = start.get("Target")
    assert content_type(types, workbook) == OFFICE + "sheet.main+xml"
    targets = {}
    for relation in parts["xl/_rels/workbook.xml.rels"].iter(RELATION + "Relationship"):
        assert relation.get("Id") not in targets
        targets[relation.get("Id")] = "xl/" + relation.get("Target")
        assert targets[relation.get("Id")] in names, f"{relation.get('Target')} is missing"
    (styles,) = [target for target in targets.values() if target.endswith("styles.xml")]
    assert content_type(types, styles) == OFFICE + "styles+xml"
    cell_formats = parts[styles].find(MAIN + "cellXfs")
    assert len(cell_formats) == int(cell_formats.get("count"))
    formats = [int(it.get("numFmtId")) for it in cell_formats]
    sheets = []
    for sheet in parts[workbook].iter(MAIN + "sheet"):
        target = targets[sheet.get(BY_ID)]
        assert content_type(types, target) == OFFICE + "worksheet+xml"
        assert 0 < len(sheet.get("name")) <= 31
        order = [PARTS.index(part.tag.removeprefix(MAIN)) for part in parts[target]]
        assert order == sorted(order), "the elements of the sheet are in the wrong order"
        rows = parts[target].find(MAIN + "sheetData")
        sheets.append([[read_cell(cell, formats) for cell in row] for row in rows])
    return sheets


json.dump(read(sys.argv[1]), sys.stdout)
