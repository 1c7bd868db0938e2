"""The weights of foreign keys of one column: their values, the judgement, what is measured."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ValueWeights:
    """How unlikely it is that values match by chance, in nats (1 nat: e times less likely)."""

    text_letter: float = 0.8
    """For each character of text. Random letters would be worth 3 nats each; words and codes of one
    domain share most of theirs."""

    text_free_letters: float = 0.5
    """Characters of text that count nothing, so that one-letter codes prove next to nothing."""

    text_least: float = 0.2
    """At least this for a matching text of any length: two columns of codes ``A`` to ``F`` are some
    evidence."""

    text_most: float = 4.0
    """At most this for a text: long names such as cities occur in unrelated columns too."""

    uuid: float = 20.0
    """For each UUID: a match by chance is out of the question."""

    date: float = 0.5
    """For each date: all dates of a business fall into the same few years."""

    full_density: float = 0.95
    """If more of the numbers in the child's range are keys, being among them proves nothing."""

    offset_most: float = 3.0
    """At most this for a number because the keys start far from 1, where other counters don't
    reach."""

    range_least: int = 3
    """Fewer matching values can't show that a column spans its parent's range."""

    range_gaps: float = 4.0
    """How many times the expected gap (one part in matches + 1) may be missing at the ends of the
    range: a column drawn at random misses more in 9 of 100 cases."""

    exact_span: float = 2.3
    """Instead, if a column that repeats its values takes all of a dense key's and no other: that
    another column of n values ends just there happens once in n times, and n may be thousands."""

    span_covered: float = 0.95
    """The share of a key's values that counts as all: distinct values may be an estimate."""

    range_slack: float = 0.02
    """The share of the range that may be missing in any case: the newest parents have no children
    yet."""

    range_match: float = 0.8
    """Factor for the logarithm of the matches of a column that spans the range of a dense key."""

    range_most: float = 4.0
    """At most this for spanning the range: another column of 1 to n may do so as well."""


@dataclass(frozen=True, slots=True)
class ReferenceWeights:
    """The judgement of a foreign key of one column, in log odds unless it says otherwise.

    A full name on a primary key named for its table, with ``_id``, no orphans and all parents used,
    adds up to 4.6 (99 %) before any value counts; values alone reach 2.5 (92 %) without ``_id``.
    """

    start: float = -4.2
    """Before anything is known: of 67 pairs that could be compared, one is a reference."""

    name: float = 6.5
    """For a name score of 1. With ``start`` it makes 2.3, odds of ten to one, so that a good name
    stands without any help from values and a mere hint doesn't."""

    evidence: float = 0.35
    """For each nat of value evidence, up to ``evidence_full``. Less than its face value of 1, since
    columns of one domain aren't independent."""

    evidence_full: float = 12.0
    """Nats from which more evidence counts only by its logarithm: 4.2 in all, which makes up for
    ``start``."""

    evidence_log: float = 0.3
    """Factor for the logarithm of the evidence beyond."""

    evidence_log_most: float = 1.5
    """At most this for the evidence beyond, however many values match."""

    coverage: float = 0.8
    """If every key of the parent is referred to, in proportion below: real references use their
    parent, accidents hit a part of it."""

    full_coverage: float = 0.4
    """On top if not one key is left out."""

    own_key: float = 0.6
    """If the parent's key is named for its own table (``own_key_score`` of 1)."""

    key_word: float = 0.5
    """If the column's name has a key word such as ``_id``."""

    named_reference: float = 2.5
    """Instead, if the name says that it's a foreign key (``fk_provider``): only to what is open."""

    no_key_word: float = -0.8
    """If it hasn't: most columns without one hold no keys."""

    nameless: float = 1.6
    """If it has no name to go by (``f3``): that it doesn't name the parent says nothing then."""

    parent_nulls: float = -0.8
    """If the parent's column has nulls: keys that are referred to seldom have."""

    not_primary: float = -1.6
    """If the parent's column is unique but not the primary key: rare, except for codes."""

    not_yet_primary: float = -0.8
    """If the parent's table has no key yet: that it is referred to may make it one."""

    not_primary_no_key_word: float = -3.0
    """The same without a key word: names and labels that happen to be unique."""

    same_name_primary: float = 1.5
    """For the very name of the primary key, with values that chance can't explain: a shared code
    such as ``iso_country``."""

    strong_evidence: float = 30.0
    """Nats from which chance can't explain the values (1 in 10^13)."""

    counting_word: float = -4.0
    """For a name that ends in a word such as ``number`` or ``count`` and doesn't name the parent:
    small counts fall within any dense key."""

    counting_word_name: float = 0.2
    """The name score below which that applies."""

    own_column: float = -2.0
    """If the column is named as its own table's key and refers elsewhere; nothing if its name says
    the parent's as well."""

    key_child: float = -1.0
    """If the column is its own table's primary key: only subtypes refer by it."""

    key_child_own: float = -2.5
    """On top if that key is named for its own table (``own_key_score`` of 1)."""

    key_child_plain: float = -2.0
    """On top if it is named so beyond doubt."""

    key_child_plain_score: float = 0.7
    """The ``own_key_score`` beyond which that applies."""

    key_child_orphans: float = -4.0
    """On top if orphans contradict it: every row of a subtype has its supertype."""

    subtype: float = 2.0
    """Against that, if every row has its supertype and the two keys have one name, or are texts
    that chance can't explain."""

    subtype_share: float = 0.98
    """The share of rows that must match for that, allowing for a little dirt."""

    unique_no_key_word: float = -0.5
    """If the column is another key of its table without a key word: rather an attribute."""

    not_hierarchical: float = -2.0
    """If it refers to its own table and no word such as ``parent`` or ``manager`` says so."""

    copied_key: float = -6.0
    """If it refers to its own table and most rows have their own key in it: a second key."""

    copied_key_rows: float = 0.5
    """The share of rows from which that applies: roots that name themselves are fewer."""

    orphans: float = 40.0
    """What it costs if every row is an orphan, times 1.12 if the name says nothing: 5 % orphans
    then cost 2.2, as much as a full name is worth above ``start``."""

    orphans_name: float = 1.12
    """A name score of 1 leaves 0.12 of that cost: a dirty reference with a plain name is kept,
    since its orphans are what people want to know."""

    orphans_same_name: float = 0.4
    """Factor on that cost for the parent's very name with strong evidence: the orphans are dirt,
    not a sign of another meaning."""

    voted_name: float = 0.6
    """The name score of a column whose name means the parent in at least two other columns: as good
    as half a name."""

    voted_act: float = 0.85
    """The same for what a person did (``created_by``): who acts is the same everywhere."""

    voted_name_once: float = 0.45
    """The same if there is only one such column."""

    value_only: float = 0.4
    """The name score below which a reference is chosen by its values alone, so that other keys that
    hold them as well are just as likely."""

    root_margin: float = 0.15
    """How much better the name of a nearer key may be before it's preferred to the key that it
    refers to itself."""

    accepted: float = 0.4
    """The confidence (0 to 1) from which a reference is reported: calibrated, a little above even
    odds, where what is found and what is missed weigh the same."""

    sure: float = 0.55
    """The confidence from which a reference stands by itself. One by values alone must reach it, to
    be likelier than all its rivals together; one that doesn't is outvoted by its namesakes."""

    far_ahead: float = 2.5
    """How far a measured reference without orphans must lead a candidate's estimate for that to be
    skipped: a margin for what measuring may add to an estimate."""

    plain_name: float = 0.93
    """The name score from which a column plainly names its parent."""

    plainly_named: float = 3.0
    """What that is worth against rivals that are named less plainly."""

    shared_front: float = 0.4
    """For each word with which the names of both tables begin, against rivals: ``event_group`` is
    nearer to an ``event_group_member`` than ``location_group``."""

    part_size: float = 2.0
    """How many times larger another parent of the same name must be for the smaller to be a part
    of it (``eu_country`` of ``country``)."""

    part_evidence: float = 8.0
    """Nats against hitting only that part by chance (1 in 3,000), so that the smaller is chosen."""


@dataclass(frozen=True, slots=True)
class CandidateWeights:
    """Which parents are worth measuring on every row; the scores are ``NameWeights``'s."""

    name: float = 0.4
    """The least name score for a primary key as parent."""

    attribute_name: float = 0.6
    """The least name score for another unique column, of which there are many more."""

    convincing: float = 2.0
    """The estimated log odds from which no parents are searched by values alone."""

    least_odds: float = -1.0
    """The estimated log odds below which a pair isn't measured: what is accepted starts at 0.2, and
    the margin allows for what measuring may add."""

    plain_name: float = 0.5
    """The name score from which half of the sampled values may be missing."""

    plain_share: float = 0.4
    """The share of sampled values that must be keys then: dirt is allowed, nonsense isn't."""

    vague_share: float = 0.85
    """The share for a lower name score."""

    unnamed_share: float = 0.999
    """The share without a name: all of up to 48 values."""

    range_slack: float = 0.05
    """How much of a dense parent's range a column may leave out at the top to fit by values alone:
    the newest parents have no children yet."""


@dataclass(frozen=True, slots=True)
class CompositeWeights:
    """The judgement of a foreign key of several columns, in log odds unless it says otherwise."""

    start: float = -4.0
    """Before anything is known; as for one column, and the columns were already paired by name."""

    name: float = 5.5
    """For names that all agree: with ``start`` 1.5, less than for one column, since accidental
    groups of agreeing names are common (``year``, ``month``)."""

    orphans: float = -25.0
    """For the share of orphans: 5 % cost 1.25, all that equal names have above ``accepted``."""

    evidence: float = 0.05
    """For each matching tuple and each nat of how thinly the keys fill their space. Small, since
    the tuples of a detail table repeat its parent's columns."""

    evidence_most: float = 3.0
    """At most this for all tuples."""

    no_own_column: float = -0.5
    """If every column of the key refers elsewhere itself (a bridge): its pairs are less its own."""

    unnamed_parent: float = -4.5
    """If nothing in the child's name or in the key's own columns says the parent's name: tables of
    one grain agree in their keys without referring to each other."""

    related_parent: float = -1.0
    """Instead if the tables' names share a word (``shop_returns``, ``shop_sales``) and the key
    has a column of its own."""

    bridge: float = -3.0
    """Instead if the parent is a bridge, and the child has several rows for many of its pairs: what
    is in stock, who attends a class."""

    bridge_rows: float = 2.0
    """The rows for each pair from which that applies; parallel facts have one or little more."""

    bridge_coverage: float = 0.25
    """The share of the bridge's pairs from which it applies."""

    single: float = 1.5
    """If a column of the child refers by itself to its key column, which is then unique, too."""

    child_key: float = -4.5
    """If the columns are a key of the child too and cover the parent: two tables of one grain, and
    nothing says which refers to which."""

    child_own_key: float = -4.5
    """The same if a column is named for the child: its own key, whatever else has its values."""

    child_key_coverage: float = 0.95
    """The coverage from which that applies."""

    child_key_subset: float = -1.5
    """If they are a key of the child but leave parents out: it may be an optional detail."""

    child_key_same_names: float = -0.5
    """The same with equal names, as in a detail table that shares its parent's key."""

    same_names: float = 0.95
    """The average name score from which all names are equal."""

    date: float = -1.5
    """If a date is part of the key: dates match between any two daily tables."""

    column_taken: float = -0.7
    """For each column that another composite reference of the child uses already."""

    least_share: float = 0.9
    """The share of rows that must match; dirt beyond is too rare to search for."""

    least_probed: float = 0.75
    """The share of sampled tuples that must match before all rows are measured."""

    accepted: float = 0.3
    """The log odds from which a reference is reported (57 %), as for one column."""
