"""Writes the sample files: `python samples/make_samples.py [FOLDER]`, by default over the ones beside this script.

The bytes are the same on every run, so that a test can prove that the files checked in are what this script makes.
"""

from __future__ import annotations

import io
import re
import sys
import zipfile
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter
from openpyxl.workbook.properties import CalcProperties
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

HERE: Final = Path(__file__).resolve().parent
WRITTEN_AT: Final = "2031-06-02T08:00:00Z"
ZIP_TIME: Final = (2031, 6, 2, 8, 0, 0)

REPORT: Final[Sequence[tuple[str, str]]] = (
    ("title", "Field report: Harrow Vale pumping station"),
    ("body", "Visit of 19 to 23 May 2031, written by the maintenance team of the valley water board."),
    ("heading", "Summary"),
    (
        "body",
        "Four of the five pumps ran through the week without a stop. Pump 3 was taken out of service on the third day after its "
        "bearing temperature passed the alarm limit twice within an hour. The station kept its contracted flow throughout, because "
        "the standby pump took over within ninety seconds each time it was called.",
    ),
    (
        "body",
        "We recommend that the bearing of pump 3 is replaced before the summer peak and that the vibration sensors of all five "
        "pumps are moved from the motor housing to the bearing block.",
    ),
    ("heading", "Site and method"),
    (
        "body",
        "The station lifts river water by 38 metres into the settling basin above the village. Flow was read from the ultrasonic "
        "meters at the outlet of each pump, power from the switchgear, and vibration with a hand-held probe at the same three "
        "points of every machine. Each figure in the table is the mean of twelve readings taken an hour apart.",
    ),
    (
        "body",
        "Before the readings began, the meters were compared with a timed fill of the calibration tank. The largest deviation was "
        "0.6 percent, at pump 5, and no correction was applied.",
    ),
    ("page", ""),
    ("heading", "Measurements"),
    ("body", "Table 1 gives the means of each pump over the week."),
    ("table", ""),
    (
        "body",
        "Specific energy is the electrical energy spent for each cubic metre lifted. It rises with wear; a machine fresh from "
        "overhaul needs about 0.130 kilowatt hours at this station.",
    ),
    ("heading", "Findings"),
    ("subheading", "Bearing of pump 3"),
    (
        "body",
        "The outer ring shows pitting over a third of its circumference. Vibration at the bearing block was 7.9 millimetres per "
        "second, above the limit of 7.1 at which the manufacturer asks for a stop. The grease had turned dark and smelled burnt.",
    ),
    ("subheading", "Inlet screens"),
    (
        "body",
        "Reed and plastic film covered a quarter of the screen area after two days of rain. The cleaning rake runs once a day; "
        "with the present load it should run every six hours from May to September.",
    ),
    ("page", ""),
    ("heading", "Recommendations"),
    (
        "body",
        "Replace the bearing of pump 3 by 20 June; the part is in store under number BR-6319. Move the vibration sensors to the "
        "bearing blocks during the same stop. Set the raking interval to six hours and review it in October.",
    ),
    ("body", "The next visit is planned for the week of 15 September 2031."),
)
PUMPS: Final[Sequence[Sequence[str]]] = (
    ("Pump", "Hours run", "Mean flow (m3/h)", "Power (kW)", "Specific energy (kWh/m3)", "Vibration (mm/s)"),
    ("Pump 1", "112.5", "410.2", "54.1", "0.132", "2.3"),
    ("Pump 2", "118.0", "402.7", "54.8", "0.136", "2.9"),
    ("Pump 3", "41.0", "371.9", "57.6", "0.155", "7.9"),
    ("Pump 4", "120.0", "408.8", "53.9", "0.132", "2.1"),
    ("Pump 5", "36.5", "415.4", "54.4", "0.131", "1.8"),
)
CUSTOMERS: Final[Sequence[Sequence[Any]]] = (  # Any: cells of several types
    ("Customer", "Region", "Since", "Credit limit (EUR)", "Discount"),
    ("Alder Works", "north", date(2027, 3, 1), Decimal("12000.00"), Decimal("0.05")),
    ("Birch & Sons", "south", date(2028, 11, 15), Decimal("8000.00"), Decimal("0.025")),
    ("Cedar Mill", "north", date(2029, 6, 30), Decimal("20000.00"), Decimal("0.075")),
    ("Dogwood Ltd", "west", date(2030, 1, 8), Decimal("5000.00"), Decimal("0")),
)
ITEMS: Final = {"bearing": Decimal("84.50"), "gasket set": Decimal("12.25"), "seal": Decimal("7.90"), "sensor": Decimal("149.00")}
ORDERS: Final[Sequence[tuple[int, date, str, str, int, date | None]]] = (
    (4101, date(2031, 4, 3), "Alder Works", "bearing", 4, date(2031, 4, 7)),
    (4102, date(2031, 4, 9), "Cedar Mill", "seal", 120, date(2031, 4, 11)),
    (4103, date(2031, 4, 17), "Birch & Sons", "gasket set", 30, date(2031, 4, 22)),
    (4104, date(2031, 4, 28), "Cedar Mill", "sensor", 6, date(2031, 5, 5)),
    (4105, date(2031, 5, 2), "Dogwood Ltd", "seal", 45, date(2031, 5, 6)),
    (4106, date(2031, 5, 6), "Alder Works", "sensor", 2, date(2031, 5, 8)),
    (4107, date(2031, 5, 12), "Cedar Mill", "bearing", 10, date(2031, 5, 19)),
    (4108, date(2031, 5, 20), "Birch & Sons", "seal", 60, date(2031, 5, 23)),
    (4109, date(2031, 5, 27), "Alder Works", "gasket set", 16, None),
    (4110, date(2031, 5, 30), "Dogwood Ltd", "bearing", 1, None),
)
ORDER_HEADER: Final = (
    "Order no",
    "Ordered on",
    "Customer",
    "Region",
    "Item",
    "Quantity",
    "Unit price (EUR)",
    "Discount",
    "Amount (EUR)",
    "Shipped on",
)
RUNBOOK: Final = """\
# Runbook: order intake

The order intake service takes orders from the web shop and from partners, checks them and writes them to the ledger. This
runbook is for the person on call. Read *First look* first; the other sections stand alone.

## First look

1. Open the dashboard *intake overview* and note the error rate and the age of the oldest order in `intake.pending`.
2. If the age is below five minutes and falling, wait; the service catches up by itself after a deployment.
3. If the age grows, find the cause in the sections below before restarting anything.

## Connection pool exhausted

Symptom: requests fail with `E-4107 pool timeout` and the gauge `pool.in-use` stands at its ceiling.

The ceiling is `pool.max-size`, 40 by default. Raise it to at most 80; the ledger refuses more than 200 connections in all, and
two instances share them. The wait for a free connection is `pool.acquire-timeout-ms`, 1500 by default; a longer wait only
hides the problem.

```yaml
pool:
  max-size: 60
  acquire-timeout-ms: 1500
```

Apply the change with a rolling restart and watch `pool.in-use` for ten minutes. Put the old value back on the next working day
unless the load has really grown.

## Stuck worker

Symptom: one worker stays in state `claiming` for more than two minutes while the others move on.

Drain it, do not kill it: a killed worker leaves its claim in `orders_claims` until the lease ends after fifteen minutes. Send
`intake drain --worker ID` and wait until the worker reports `idle`. Orders it held return to the queue in their old order.

## Partner feed late

Symptom: no file from a partner has arrived by 06:30.

| Partner | Arrives by | Contact |
|---|---|---|
| Northgate | 05:45 | feeds@northgate.example |
| Saltmarsh | 06:15 | ops@saltmarsh.example |

Ask the partner before 07:00; after that the day's orders miss the first delivery round. A file that comes late is loaded with
`intake load --partner NAME --date YYYY-MM-DD`; loading the same file twice is safe, since orders are matched by
`partner_order_id`.

## After an incident

Write down what was seen, what was done and when, in the log of the day. Close the incident only when `intake.pending` has stayed
below a hundred orders for an hour.
"""


def report_pdf() -> bytes:
    """The field report: three pages of headings, prose and one ruled table."""
    styles = getSampleStyleSheet()
    paragraphs = {
        "title": styles["Title"],
        "heading": styles["Heading1"],
        "subheading": styles["Heading2"],
        "body": ParagraphStyle("body", parent=styles["BodyText"], fontSize=10.5, leading=15, spaceAfter=7),
    }
    flow: list[Any] = []  # Any: reportlab ships no types
    for kind, text in REPORT:
        if kind == "page":
            flow.append(PageBreak())
        elif kind == "table":
            flow += [Spacer(1, 3 * mm), _pump_table(), Spacer(1, 5 * mm)]
        else:
            flow.append(Paragraph(text, paragraphs[kind]))
    target = io.BytesIO()
    document = SimpleDocTemplate(
        target,
        pagesize=A4,
        leftMargin=24 * mm,
        rightMargin=24 * mm,
        title="Field report: Harrow Vale pumping station",
        author="Valley water board",
        invariant=1,
    )
    document.build(flow, onFirstPage=_page_number, onLaterPages=_page_number)
    return target.getvalue()


def _pump_table() -> Any:  # Any: reportlab ships no types
    ruled = TableStyle(
        [
            ("GRID", (0, 0), (-1, -1), 0.6, colors.black),
            ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 8.5),
            ("FONT", (0, 1), (-1, -1), "Helvetica", 9),
            ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ]
    )
    return Table([list(row) for row in PUMPS], repeatRows=1, style=ruled)


def _page_number(canvas: Any, document: Any) -> None:  # Any: reportlab ships no types
    canvas.setFont("Helvetica", 8)
    canvas.drawCentredString(A4[0] / 2, 12 * mm, f"Page {document.page} of 3")


def orders_xlsx() -> bytes:
    """The orders: two sheets with dates, decimals and percentages, no formulas."""
    book = Workbook()
    book.calculation = CalcProperties(fullCalcOnLoad=False)
    orders = book.active
    orders.title = "Orders"
    formats = {"Ordered on": "yyyy-mm-dd", "Shipped on": "yyyy-mm-dd", "Discount": "0.0%"}
    prices = {"Unit price (EUR)": "#,##0.00", "Amount (EUR)": "#,##0.00"}
    _fill(orders, [ORDER_HEADER, *map(_order_row, ORDERS)], formats | prices)
    since = {"Since": "yyyy-mm-dd", "Discount": "0.0%", "Credit limit (EUR)": "#,##0.00"}
    _fill(book.create_sheet("Customers"), CUSTOMERS, since)
    target = io.BytesIO()
    book.save(target)
    return _packed_again(target.getvalue())


def _order_row(order: tuple[int, date, str, str, int, date | None]) -> Sequence[Any]:  # Any: cells of several types
    number, ordered_on, customer, item, quantity, shipped_on = order
    region, discount = next((row[1], row[4]) for row in CUSTOMERS if row[0] == customer)
    amount = (quantity * ITEMS[item] * (1 - discount)).quantize(Decimal("0.01"))
    return number, ordered_on, customer, region, item, quantity, ITEMS[item], discount, amount, shipped_on


def _fill(sheet: Any, rows: Sequence[Sequence[Any]], formats: dict[str, str]) -> None:  # Any: cells of several types
    header = rows[0]
    for row in rows:
        sheet.append(list(row))
    for column, name in enumerate(header, start=1):
        sheet.cell(1, column).font = Font(bold=True)
        sheet.column_dimensions[get_column_letter(column)].width = max(12, len(str(name)) + 2)
        for row_number in range(2, len(rows) + 1):
            sheet.cell(row_number, column).number_format = formats.get(str(name), "General")
    sheet.freeze_panes = "A2"


def _packed_again(archive: bytes) -> bytes:
    """The same archive with one fixed time on every entry and in the document's properties."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", WRITTEN_AT.encode(), content)
            entry = zipfile.ZipInfo(name, ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            new.writestr(entry, content)
    return target.getvalue()


def samples() -> dict[str, bytes]:
    """The bytes of every sample, by file name."""
    return {"field-report.pdf": report_pdf(), "orders.xlsx": orders_xlsx(), "runbook.md": RUNBOOK.encode()}


def main() -> None:
    """Writes the samples."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, content in samples().items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
