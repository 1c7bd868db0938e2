"""The page: one HTML file with the data, the model, the evidence and the run.

``page`` assembles it of the views: each is a module with what it shows (``overview``, ``tables``,
``model``, …), a template, a style sheet and, where it needs one, a script. ``content`` is what all
of them show. What is long is packed (``packed``, ``panels``): the browser unpacks a table's panel,
the contract or a drawing when somebody looks at it, so that a page of 500 tables starts as fast as
one of 50. ``run_timeline`` places stages on an axis, and ``run_proof`` decides what may be green.

``map`` draws the map: ``map_boxes`` sizes boxes by the widest common font (``text_widths``),
``layout`` places them, and ``map_lines`` writes paths with crow's feet. ``map_scene.js`` moves the
SVG element as a whole, because moving a group inside of it would lay out all text again at every
scale, and hides what is outside the window of a large map.

The page runs under ``default-src 'none'``: its style and its script are allowed by their hashes and
nothing else is, so there are no style attributes and no handlers in the markup. Text is escaped by
Jinja2; what is unpacked is such markup. Colours are variables of ``assets/base.css``, for light and
dark.

``report.html`` is a rendering and not an artifact: it shows times and costs, so it isn't in the
manifest and not under the promise of the same bytes. ``page_file`` recognises it by its generator
mark. ``forging.report_file`` says what it shows of a written folder, ``pipeline.run_facts`` what it
says of a run. ``fluid report`` makes it again, byte for byte, of the same folder
(``verification.page_sources``) and the run's record (``pipeline.folder_page``).
"""
