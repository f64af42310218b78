"""The page as people meet it: by keyboard, on a phone, in the dark, on paper, without scripts."""

import csv
import itertools
import re
import shutil
from dataclasses import replace
from math import cos

import pytest
from report.inspection.summaries import (
    HOSTILE,
    chain_of,
    joint_summary,
    summary_of,
    whole_summary,
)

from coterie.report.inspection import Merge
from coterie.report.inspection._report import report_html

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

MOST_NODES = 9000


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open the page of a summary; whatever it complains of or asks for fails the test."""
    contexts, complaints, asked = [], [], []

    def watched(page):
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        return page

    def open_page(summary, **settings):
        file = tmp_path / "report.html"
        file.write_text(report_html(summary), encoding="ascii")
        contexts.append(browser.new_context(reduced_motion="reduce", **settings))
        page = watched(contexts[-1].new_page())
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file:", "data:,"))] == []
    assert sum(url.startswith("file:") for url in asked) == len(contexts)


def n_nodes(page):
    return page.evaluate("document.querySelectorAll('*').length")


def is_too_wide(page):
    return page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


def picture_of(page, selector):
    """What is drawn, as text: the pixels of a canvas or the markup of an SVG."""
    return page.locator(selector).first.evaluate(
        "one => one instanceof HTMLCanvasElement ? one.toDataURL() : one.outerHTML"
    )


def contrast(page, selector):
    """Between the colour of text and that of the page, as WCAG has it."""
    colours = page.locator(selector).first.evaluate(
        "one => [getComputedStyle(one).color, getComputedStyle(document.body).backgroundColor]"
    )
    dark, light = sorted(luminance(colour) for colour in colours)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    shares = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_all_parts_are_drawn(opened):
    page = opened(whole_summary())
    assert page.locator("#groups-live .card").count() == 3
    assert page.locator("#path-live svg[role=img]").count() == 1
    assert page.locator("#path-places [role=img]").count() == 2
    assert page.locator("#correlation-live canvas[role=img]").count() == 1
    assert page.locator("#features-live tbody tr").count() == 12
    assert page.locator("#stability tbody tr").count() == 3
    assert not page.locator(".static").is_visible()


def test_missing_parts_leave_nothing_empty(opened):
    page = opened(summary_of())
    assert page.locator("main > section:visible").evaluate_all("all => all.map(one => one.id)") == [
        "answer",
        "groups",
        "features",
        "made",
    ]
    assert page.locator("h2:visible, h3:visible").evaluate_all(
        "all => all.every(one => one.textContent.trim())"
    )


def test_the_slider_works_by_keyboard(opened):
    page = opened(replace(whole_summary(), spectrum=None, map=None))
    slider, output = page.get_by_label("Tolerance, from small to large"), page.locator("#step")
    before = [
        output.inner_text(),
        picture_of(page, "#path-places svg"),
        picture_of(page, "#path-live svg"),
    ]
    assert before[0].startswith("Tolerance 0.01: 12 columns become 6.")
    slider.focus()
    page.keyboard.press("End")
    after = [
        output.inner_text(),
        picture_of(page, "#path-places svg"),
        picture_of(page, "#path-live svg"),
    ]
    assert after[0].startswith("Tolerance 10: 12 columns become 1.")
    assert all(one != other for one, other in zip(before, after))
    assert slider.get_attribute("aria-valuetext") == after[0]
    assert page.locator("#path-places h3").inner_text() == "At tolerance 10: 1 group"
    page.keyboard.press("ArrowLeft")
    assert "become 2." in output.inner_text()
    page.get_by_role("button", name="This fit").press("Enter")
    assert page.locator("#path-places h3").inner_text() == "This fit: 3 groups"


def test_the_slider_recolours_spectrum_and_map(opened):
    page = opened(whole_summary())
    parts = ["#path-places svg.spectrum", "#path-places canvas"]
    before = [picture_of(page, part) for part in parts]
    page.get_by_label("Tolerance, from small to large").press("Home")
    assert all(one != picture_of(page, part) for one, part in zip(before, parts))


def test_each_layer_has_a_map(opened):
    whole = whole_summary()
    layers = ["u"] * 6 + ["v"] * 6
    page = opened(replace(whole, spectrum=None, map=replace(whole.map, layers=layers)))
    assert page.locator("#path-places h4").all_inner_texts() == ["u", "v"]
    assert page.locator("#path-places canvas").count() == 2
    page.get_by_role("slider", name="Move through").last.press("End")
    assert "feature_00011" in page.locator("#path-places .probe output").last.inner_text()


def test_neighbours_have_different_colours(opened):
    page = opened(summary_of(60, 30))
    page.get_by_label("Order").first.select_option("Number")
    chips = page.locator("#groups-live .chip").evaluate_all(
        "all => all.map(one => one.style.background)"
    )
    assert len(chips) == 20
    assert all(one != other for one, other in itertools.pairwise(chips))


def test_pointing_and_keys_name_a_pair_of_features(opened):
    page = opened(whole_summary())
    page.get_by_role("slider", name="Column").press("End")
    assert "feature_00011" in page.locator("#correlation-live .probe output").last.inner_text()
    frame = page.locator("#correlation-live .picture")
    frame.hover(position={"x": 20, "y": frame.bounding_box()["height"] - 3})
    assert "feature_00011" in page.locator("#correlation-live .probe output").first.inner_text()
    assert "feature_00000" in page.locator("#correlation-live .probe output").last.inner_text()


def test_groups_are_searched_sorted_and_opened(opened):
    page = opened(whole_summary(40, 8, outputs=("lean", "fat", "bone")))
    page.get_by_label("Find a feature or a group").fill("FEATURE_00012")
    assert page.locator("#groups-live .card").count() == 1
    assert page.locator("#groups-live mark").first.inner_text() == "feature_00012"
    page.get_by_label("Find a feature or a group").fill("")
    page.get_by_label("Order").first.select_option("Likeness, lowest first")
    assert page.locator("#groups-live .chip").first.inner_text() == "3"
    card = page.locator("#groups-live .card").first
    card.get_by_text("5 members").click()
    card.locator(".members li").first.wait_for()
    assert card.locator(".members li").count() == 5
    assert "\N{MINUS SIGN}feature_00018" in card.locator(".members").inner_text()
    card.get_by_text("Prices: 4 merges, 3 refused").click()
    card.get_by_text("As a table").click()
    card.locator("tbody tr").first.wait_for()
    assert card.locator("tbody tr").count() == 4
    card.get_by_role("button", name="Show them in the table").click()
    assert page.locator("#features-live tbody tr").count() == 5
    page.get_by_role("button", name="Only group 3 is shown").click()
    assert page.locator("#features-live tbody tr").count() == 40


@pytest.mark.slow
def test_thousands_of_features_stay_few_elements(opened):
    page = opened(replace(whole_summary(5000, 600), path=None))
    assert n_nodes(page) < MOST_NODES
    assert page.locator("#features-live tbody tr").count() == 50
    search = page.get_by_label("Find a feature", exact=True)
    search.fill("04999")
    assert page.locator("#features-live tbody tr").count() == 1
    search.fill("feature_0123")
    assert page.locator("#features-live tbody tr").count() == 10
    search.fill("")
    page.locator("#features-live").get_by_label("Order").select_option("Price, highest first")
    page.locator("#features-live").get_by_role("button", name="Next").click()
    assert page.locator("#features-live [role=status]").inner_text() == "51\N{EN DASH}100 of 5,000"
    page.locator("#groups-live").get_by_role("button", name="Next").click()
    assert page.locator("#groups-live .card").count() == 20
    page.get_by_label("Find a feature or a group").fill("feature_04999")
    assert page.locator("#groups-live .card").count() == 1
    assert n_nodes(page) < MOST_NODES


@pytest.mark.slow
def test_fifty_thousand_features_open(opened):
    page = opened(summary_of(50_000, 3))
    page.get_by_label("Find a feature", exact=True).fill("49999")
    assert page.locator("#features-live tbody tr").count() == 1
    page.get_by_text("16,667 members").first.click()
    assert n_nodes(page) < MOST_NODES


NAN, INF = float("nan"), float("inf")


def awkward_summaries():
    """Numbers that cannot be drawn, and parts so small that scales have no width."""
    plain = whole_summary()
    path, spectrum, plane = plain.path, plain.spectrum, plain.map
    merges = [Merge(0, NAN, INF), Merge(1, -INF, 0.0), Merge(2, -1e300, 1e300)]
    group = replace(plain.groups[0], merges=merges, effects=[NAN], weights=[INF], likeness=NAN)
    yield replace(
        plain,
        tolerance=0.0,
        groups=[group, *plain.groups[1:]],
        path=replace(
            path,
            tolerances=[0.0, 1e-9, 0.1, 1.0, INF],
            cv_scores=[NAN, 0.5, -1e9, 0.7, NAN],
            cv_std_errors=[NAN, NAN, 0.1, 0.2, INF],
            train_scores=[NAN] * 5,
        ),
        spectrum=replace(spectrum, positions=[NAN, INF, *spectrum.positions[2:]], low=[NAN] * 12),
        map=replace(plane, across=[NAN, *plane.across[1:]], up=[*plane.up[:-1], -INF]),
    )
    yield replace(
        plain,
        tolerance=None,
        path=replace(path, tolerances=[1.0] * 5, cv_scores=[0.0] * 5, train_scores=[NAN] * 5),
        spectrum=replace(spectrum, positions=[5.0] * 12, mean=[NAN] * 12, low=[1.0] * 12),
        map=replace(plane, across=[1.0] * 12, up=[NAN] * 12),
    )
    yield replace(whole_summary(1, 1), path=None, n_rows=None, n_test_rows=None)
    yield whole_summary(2, 1)
    yield replace(plain, path=replace(path, labels=[]), spectrum=None, map=None)


@pytest.mark.parametrize(
    "summary",
    [*awkward_summaries()],
    ids=["endless", "flat", "one feature", "one group", "no labels"],
)
def test_awkward_numbers_are_left_out_of_pictures(opened, summary):
    page = opened(summary)
    for details in page.locator("#groups-live details").all():
        details.evaluate("one => { one.open = true; }")
    for slider in page.get_by_role("slider").all():
        slider.press("End")
        slider.press("Home")
    drawn = page.locator("svg").evaluate_all("all => all.map(one => one.outerHTML).join()")
    assert "NaN" not in drawn
    assert "Infinity" not in drawn
    assert "undefined" not in page.locator("main").inner_text()
    assert "NaN" not in page.locator("main").inner_text()


def test_hostile_names_stay_text(opened):
    names = HOSTILE
    page = opened(
        replace(whole_summary(names=names, n_groups=5, outputs=(HOSTILE[1],)), title=HOSTILE[0])
    )
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    for details in page.locator("#groups-live details").all():
        details.locator("summary").first.click()
    shown = page.locator("#features-live tbody th").all_inner_texts()
    assert HOSTILE[0] in shown
    assert HOSTILE[1] in shown
    assert sum("no name" in one for one in shown) == 2
    assert max(map(len, shown)) < 100
    assert not is_too_wide(page)


@pytest.mark.parametrize("width", [360, 800])
def test_the_page_never_scrolls_sideways(opened, width):
    outputs = ("lean meat", "fat", "a rather long name of an output")
    page = opened(
        whole_summary(names=["short", "a_name_without_any_break" * 20, *HOSTILE], outputs=outputs),
        viewport={"width": width, "height": 740},
    )
    assert not is_too_wide(page)
    for details in page.locator("details").all():
        details.evaluate("one => { one.open = true; }")
    page.wait_for_selector("#groups-live .picture svg")
    assert not is_too_wide(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(opened, scheme):
    page = opened(whole_summary(), color_scheme=scheme)
    for selector in [
        ".headline",
        ".headline strong",
        ".detail",
        "nav a",
        "td",
        "caption",
        "summary",
    ]:
        assert contrast(page, selector) >= 4.5, selector


def test_the_button_changes_the_scheme(opened):
    page = opened(whole_summary(), color_scheme="light")
    before = picture_of(page, "#correlation-live canvas")
    light = luminance(page.locator("body").evaluate("one => getComputedStyle(one).backgroundColor"))
    page.get_by_role("button", name="Dark page").click()
    dark = luminance(page.locator("body").evaluate("one => getComputedStyle(one).backgroundColor"))
    assert dark < 0.05 < 0.9 < light
    assert contrast(page, ".detail") >= 4.5
    assert picture_of(page, "#correlation-live canvas") != before


def test_paper_has_the_tables_and_no_controls(opened):
    page = opened(whole_summary(), color_scheme="dark")
    page.emulate_media(media="print")
    assert page.locator("#groups .static table").is_visible()
    assert page.locator("#path details table").is_visible()
    for gone in ["#groups-live", "#features", "nav", "#scheme", ".probe"]:
        assert not page.locator(gone).first.is_visible(), gone
    assert page.locator("button:visible, input:visible").count() == 0
    assert contrast(page, ".detail") >= 4.5


def test_the_answer_needs_no_scripts(opened):
    page = opened(whole_summary(), java_script_enabled=False)
    assert page.locator(".headline").inner_text() == "12 columns became 3; the score was kept."
    assert page.locator("#scores tbody tr").count() == 3
    assert page.locator("#groups tbody tr").count() == 3
    assert "feature_00007" in page.locator("#groups .static").inner_text()
    assert page.locator("button:visible, input:visible").count() == 0


def test_every_control_has_a_name_and_is_reached_by_tab(opened):
    page = opened(whole_summary(), viewport={"width": 1000, "height": 800})
    for role in ["button", "slider", "searchbox", "combobox", "link", "img", "table", "region"]:
        for one in page.get_by_role(role).all():
            snapshot = one.aria_snapshot().splitlines()[0]
            assert re.match(rf"- '?{role} \"", snapshot), snapshot
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the result"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "answer"
    for landmark in ["banner", "main", "navigation"]:
        assert page.get_by_role(landmark).count() == 1
    assert page.locator("table:not(:has(caption))").count() == 0


def test_focus_is_seen(opened):
    page = opened(whole_summary())
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert style == "3px"


def test_what_is_left_out_is_no_group(opened):
    page = opened(joint_summary())
    assert page.locator("#numbers-places h3").inner_text() == (
        "This fit: 3 groups, 3 features left out"
    )
    order = page.locator("#groups-live").get_by_label("Order")
    order.select_option("Number")
    assert page.locator("#groups-live .card .chip").all_inner_texts() == ["0", "1", "2", "left out"]
    order.select_option("Size, largest first")
    assert page.locator("#groups-live .card .chip").last.inner_text() == "left out"
    colours = page.locator("#groups-live .card .chip").evaluate_all(
        "all => all.map(one => one.style.background)"
    )
    assert colours[-1] not in colours[:-1]
    rows = page.locator("#features-live tbody tr")
    assert "left out" in rows.nth(11).inner_text()
    assert "alone" not in rows.nth(11).inner_text()
    page.get_by_role("slider", name="Row").press("End")
    assert "left out" in page.locator("#correlation-live .probe output").first.inner_text()


def test_the_number_of_groups_is_chosen_by_keyboard(opened):
    page = opened(joint_summary())
    slider, output = (
        page.get_by_label("Number of groups, from few to many"),
        page.locator("#number"),
    )
    assert output.inner_text() == (
        "12 columns become 3; 3 of the 12 are left out. "
        "Cross-validated R\N{SUPERSCRIPT TWO} 0.800; stability 0.80."
    )
    before = picture_of(page, "#numbers-places svg")
    slider.press("Home")
    assert output.inner_text().startswith("12 columns become 1; 6 of the 12 are left out.")
    assert "0.500 (standard error 0.050)" in output.inner_text()
    assert slider.get_attribute("aria-valuetext") == output.inner_text()
    assert page.locator("#numbers-places h3").inner_text() == "With 1 group"
    assert picture_of(page, "#numbers-places svg") != before
    page.get_by_role("button", name="This fit").press("Enter")
    assert page.locator("#numbers-places h3").inner_text().startswith("This fit: 3 groups")


def told(page, first, second):
    page.get_by_label("First feature").fill(first)
    page.get_by_label("Second feature").fill(second)
    return page.locator("#tree-live .pair").inner_text()


# In the chain, features a < b are joined by merge b - 1, whose price is 0.001 b.
NONE_AT_1 = [0.001, None, *(0.001 * (node + 1) for node in range(2, 11))]
REASONS = [
    (0, 1, {}, ["are together, in group 0", "cost 0.001", "highest price that was paid, is 0.005"]),
    (0, 2, {"prices": NONE_AT_1}, ["are together", "merged before any price was asked"]),
    (0, 6, {}, ["is in group 0", "is in group 2", "would cost 0.006", "the allowance, 0.005"]),
    (0, 4, {}, ["would merge at a price of 0.004 with fewer groups"]),
    (0, 8, {"may_join": [0] * 6 + [1] * 5}, ["too unlike", "0.49, the square of min_correlation"]),
    (0, 8, {"may_join": [0] * 6 + [2] * 5}, ["correlation below 0.7 (min_correlation)"]),
    (0, 11, {"exit_prices": [0.002] * 12}, ["is left out: leaving it out", "cost 0.002"]),
    (0, 11, {}, ["is left out: alone, it and what is like it explain less"]),
    (0, 11, {"constant": [11]}, ["like no other", "is left out because it is constant"]),
    (10, 11, {}, ["are both left out"]),
]


@pytest.mark.parametrize(("one", "other", "parts", "words"), REASONS)
def test_two_features_are_told_why(opened, one, other, parts, words):
    page = opened(joint_summary(tree=chain_of(12, **parts)))
    said = told(page, f"feature_{one:05d}", f"feature_{other:05d}").replace("\u2068", "")
    for word in words:
        assert word in said
    # The correlation of the heat map, without the signs that the fit gave to features 3 and 8.
    sign = -1 if (one in (3, 8)) != (other in (3, 8)) else 1
    value = sign * round(0.9 * cos(one - other), 3)
    assert f"Their correlation is {value:.2f}.".replace("-", "\N{MINUS SIGN}") in said


def test_features_are_chosen_by_clicks_in_the_table_the_tree_and_the_heat_map(opened):
    page = opened(joint_summary())
    said = page.locator("#tree-live .pair")
    assert said.inner_text() == "No features are chosen yet."
    for name in ("feature_00000", "feature_00001"):
        page.locator("#features-live").get_by_role("button", name=name).click()
    assert "feature_00000" in said.inner_text()
    assert "are together, in group 0" in said.inner_text()
    frame = page.locator("#tree-live .picture")
    for leaf in (0, 11):
        frame.click(position={"x": 60, "y": 6 + 18 * leaf + 9})
    assert "feature_00011" in said.inner_text()
    assert page.get_by_label("Second feature").input_value() == "feature_00011"
    page.locator("#correlation-live .picture").click(position={"x": 25, "y": 25})
    assert said.inner_text() == "These are the same feature."


def test_the_groups_are_saved_as_csv(opened):
    names = [*HOSTILE[:6], "a,b", *(f"x{k}" for k in range(5))]
    plain = joint_summary()
    summary = replace(
        plain,
        features=names,
        groups=[replace(group, name=f"mean({k}, ...)") for k, group in enumerate(plain.groups)],
    )
    page = opened(summary)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the groups as CSV").click()
    assert saved.value.suggested_filename == "groups.csv"
    with saved.value.path().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["feature"] for row in rows] == names
    assert [row["group"] for row in rows] == [*"000111222", *["left out"] * 3]
    assert [int(row["sign"]) for row in rows] == summary.signs
    assert float(rows[0]["effect on fat"]) == summary.groups[0].effects[0]
    assert rows[0]["column"] == "mean(0, ...)"
    assert rows[-1]["effect on fat"] == rows[-1]["column"] == rows[-1]["light"] == ""
    assert [row["light"] for row in rows[::3]] == ["firm", "fair", "loose", ""]
    assert rows[0]["best single member"] == names[summary.groups[0].representative]
    assert float(rows[0]["contribution"]) == summary.groups[0].contribution
    assert float(rows[0]["contribution_error"]) == summary.groups[0].contribution_error


@pytest.mark.parametrize("javascript", [True, False])
def test_each_group_has_a_light_with_its_word_its_best_member_and_what_it_adds(opened, javascript):
    page = opened(joint_summary(), java_script_enabled=javascript)
    part = "#groups-live .card" if javascript else "#groups .static tbody tr"
    groups = page.locator(part)
    texts = [text.replace("\n", " ") for text in groups.all_inner_texts()]
    best = "best single member feature_00002" if javascript else "member: feature_00002"
    for word in ("firm 0.90", best, "0.1000 \N{PLUS-MINUS SIGN} 0.0100", "feature_0..."):
        assert word.lower() in texts[0].lower()
    lights = page.locator(f"{part} .light")
    assert lights.all_inner_texts() == ["firm", "fair", "loose"]
    colours = lights.evaluate_all(
        "all => all.map(one => getComputedStyle(one, '::before').backgroundColor)"
    )
    assert len({*colours}) == 3
    assert "firm from a stability of 0.75 on" in page.locator("#groups").inner_text()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_joint_page_of_thousands_fits_and_stays_few_elements(opened, width):
    page = opened(joint_summary(3000, 60), viewport={"width": width, "height": 800})
    assert n_nodes(page) < MOST_NODES
    assert not is_too_wide(page)
    assert page.locator("#tree-live .key li").count() == 13
    assert "left out" in page.locator("#tree-live .key li").last.inner_text()
