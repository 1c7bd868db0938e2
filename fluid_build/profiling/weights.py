"""The weights of the judgement: every number that decides which key or reference is believed.

They are set by hand, from reasoning about what each sign is worth; none is fitted to a database.
``bench/accuracy.py --weight composite.name=6`` shows what a change does.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NameWeights:
    """How well names speak for a key or a reference, on a scale from 0 to 1.

    Three steps matter downstream: 0.4 is worth a look, 0.6 to 0.7 is plain, 0.85 and more agrees.
    """

    bare_own_key: float = 0.95
    """A key called just ``id``: its table's own, all but for certain, as nothing else is named."""

    own_key_without_key_word: float = 0.9
    """A column called like its table but without ``_id`` or ``_code``: it could be a label too."""

    label_own_key: float = 0.5
    """A key called just ``name``: what rows are called, if nothing else identifies them."""

    own_key_partly: float = 0.75
    """A key that names one end of its table (``line_id`` of ``order_lines``): plain, but a parent
    table may be meant as well."""

    own_key_reversed: float = 0.9
    """The same the other way round (``sales_order_id`` of ``orders``) is a little rarer."""

    own_key_related: float = 0.4
    """A key that shares only a word with its table (``order_number`` of ``order_lines``)."""

    same_name: float = 0.55
    """A column and a key of the very same name, if that name has nothing to do with the key's
    table: a hint, since many columns are called ``status``."""

    same_name_own_key: float = 0.45
    """What is added if that name is the key's table's own: together they make 1."""

    acting_person: float = 0.72
    """``created_by`` or ``author`` for a table of users or staff: a plain habit, without a word in
    common."""

    meant_parent: float = 0.6
    """``capital`` for a table of cities, ``team_leader`` for one of staff: by meaning alone."""

    unrelated_key: float = 0.7
    """Factor for a parent's name if the key is called something else (``supplier_id`` for
    ``suppliers.phone``)."""

    amount: float = 0.5
    """Factor for a name such as ``max_level``, which is a figure."""

    plural: float = 0.7
    """Factor for a plural without a key word (``pages``): a count or a list."""

    without_key_word: float = 0.85
    """Factor for a reference without a key word (``customer`` for ``customer_id``)."""

    ending: float = 0.95
    """Factor for a name that only ends in the parent's (``billing_customer_id``): a role."""

    parent_ending: float = 0.8
    """Factor for a parent's name that ends in the column's (``line_id`` for ``order_lines``)."""

    front: float = 0.85
    """Factor for the parent's name with a role behind it (``node_from``, ``id_client_delivery``):
    a little less than in front of it, where English has the role."""

    front_noun: float = 0.7
    """The same with another word behind it, in a name that its key word leads: rather a role than
    an attribute, though another table may be meant."""

    head: float = 0.85
    """Factor for a name that ends in the parent's last word, if no other table has it
    (``initial_state_id`` for ``order_state``)."""

    other_module: float = 0.45
    """Factor for the parent's name without its module, from outside of that module: worth a
    look."""

    initial: float = 0.45
    """The parent's first letter (``s_id`` for ``student``): worth a look."""

    key_in_front: float = 0.5
    """A name that begins with all of the key's, whatever follows: half a name, since it may be an
    attribute."""

    own_part: float = 0.97
    """Factor for a parent called like the child's table and the column together (``status`` of
    ``invoices`` for ``invoice_status``): less than the full name."""

    same_module: float = 0.08
    """What is added for a parent of the same module, so that it beats a namesake elsewhere."""

    stem: float = 0.6
    """A first word of the parent's stem (``membership_no`` for ``members``); better names make it
    unneeded."""

    inside: float = 0.5
    """A name with the parent's somewhere inside, which says less than at its end."""

    key_name: float = 0.6
    """A name that agrees with the key's name instead of its table's."""

    key_name_own_key: float = 0.35
    """What is added the better that key is named for its table; 0.95 in all, below the table's own
    name."""

    hierarchy: float = 0.75
    """A word for a place in a hierarchy (``parent_id``, ``manager_id``), which means its own table
    without naming it."""

    hierarchy_tail: float = 0.95
    """Factor for such a name that ends in the key's or the table's (``parent_category_id``)."""

    within_table: float = 0.6
    """Factor for a name that ends in its own table's key without such a word: mostly a part of that
    key's name, seldom a reference."""

    same_key_tail: float = 0.9
    """A name that ends in all words of its own table's key."""

    extended_table: float = 0.9
    """The same name in a table whose name extends the parent's (``employee_pay_history``)."""

    other_entity: float = 0.4
    """Factor for a name that means a table, but not this column of it, which names another entity
    and isn't the table's key."""

    key_column_tail: float = 0.8
    """For a column of a composite key: a name that ends in the key column's words."""

    key_column_entity: float = 0.7
    """For a column of a composite key: a name that ends in the entity of the key column's."""

    key_column_reference: float = 0.9
    """For a column of a composite key: factor for a name that refers to it like to a single key."""

    key_column_same_target: float = 0.85
    """For a column of a composite key: both refer to the same key elsewhere, so that they hold the
    same values whatever they are called."""

    key_column_least: float = 0.55
    """Below this, a column isn't tried as part of a composite reference: a generic name that both
    have, such as ``code`` (0.9 of 0.55), isn't enough."""


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

    key_child_plain_score: float = 0.9
    """The ``own_key_score`` beyond which that applies."""

    key_child_orphans: float = -4.0
    """On top if orphans contradict it: every row of a subtype has its supertype."""

    subtype_share: float = 0.98
    """The share of rows that must match for that, allowing for a little dirt."""

    unique_no_key_word: float = -0.5
    """If the column is another key of its table without a key word: rather an attribute."""

    not_hierarchical: float = -2.0
    """If it refers to its own table and no word such as ``parent`` or ``manager`` says so."""

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

    accepted: float = 0.55
    """The confidence (0 to 1) from which a reference is reported, a little above even odds."""

    far_ahead: float = 2.5
    """How far a measured reference without orphans must lead a candidate's estimate for that to be
    skipped: a margin for what measuring may add to an estimate."""

    part_size: float = 2.0
    """How many times larger another parent of the same name must be for the smaller to be a part
    of it (``eu_country`` of ``country``)."""

    part_evidence: float = 5.0
    """Nats against hitting only that part by chance (1 in 150), so that the smaller is chosen."""


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

    unnamed_parent: float = -4.0
    """If nothing in the child's name or in the key's own columns says the parent's name: tables of
    one grain agree in their keys without referring to each other."""

    related_parent: float = -1.0
    """Instead if the tables' names share a word (``store_returns``, ``store_sales``) and the key
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


@dataclass(frozen=True, slots=True)
class KeySearchWeights:
    """Which columns are searched for keys first; scores without a unit that only rank.

    They are added to ``plausibility`` (0 to 1, by type and width).
    """

    key_word: float = 0.6
    """If the name has a key word: key columns of several are codes and numbers with such names."""

    distinguishing: float = 0.5
    """For a line number, a version or a date, which make a key of several columns unique."""

    unlikely: float = -0.8
    """For an amount or a description: it differs between rows by chance."""

    shared_name: float = 0.25
    """For each other table that has a column of this name: keys are repeated where they're used."""

    shared_name_most: int = 3
    """Tables that count; names such as ``status`` recur too."""

    early: float = 0.4
    """For the first column, falling to nothing for the last: people put keys first."""


@dataclass(frozen=True, slots=True)
class PrimaryKeyWeights:
    """Which candidate key is the primary key; scores without a unit that only rank.

    ``plausibility`` (0 to 1, by type and width) is what a name's words are weighed against.
    """

    own_key: float = 1.6
    """If a single column is named for its table: counts most, beyond any type."""

    key_word: float = 0.6
    """If a single column has a key word: beats a better type (integer over text is 0.2)."""

    first_column: float = 0.5
    """If it is the first column, where people put keys."""

    second_column: float = 0.2
    """If it is the second one, after a load date or a tenant."""

    first_of_few_rows: float = 0.4
    """On top if there are few rows: nearly every column is unique then, and the place says most."""

    surrogate: float = 1.1
    """On top if it takes every number from the first to the last and has a key word: a surrogate
    key, even next to a column called ``code``."""

    has_code: float = -1.8
    """For a text without a key word next to a unique code of a few letters: it outweighs that the
    text is named for its table."""

    technical: float = -1.4
    """For a UUID after the first column: systems exchange it, and people use the key before it."""

    unlikely_word: float = -0.8
    """For a name that says description, amount, e-mail, timestamp: unique, but not what rows are
    known by. It outweighs the key word."""

    label: float = -0.3
    """For a name or a title: not what a key is for, but known to everyone."""

    temporal: float = -0.6
    """For a date or time: unique by chance while there are few rows."""

    clear_single: float = 1.2
    """The score from which a single column is chosen before references are known: an integer in
    one of the first two places needs no name, elsewhere it needs a key word."""

    fair_single: float = 0.5
    """The score from which a single column is chosen if nothing better turned up."""

    referred: float = 0.7
    """For the logarithm of one more than the columns that refer to it: two of them (0.8) outweigh
    that it is called a name or a description."""

    repeated: float = 0.35
    """For each other table that repeats a key of several columns and holds its values."""

    clear_composite: float = 0.8
    """The average score from which several columns are chosen, whatever else is unique."""

    fair_composite: float = 0.5
    """The same if no single column is unique: the rows must be told apart by something."""

    column: float = 0.6
    """Of several columns: factor on the plausibility of each."""

    column_reference: float = 1.2
    """Of several columns: for one that refers to a parent, as those of bridges and details do."""

    column_key_word: float = 0.7
    """Of several columns: for one with a key word that refers to nothing."""

    column_line: float = 1.3
    """Of several columns: for a line number, which exists only to make a key complete."""

    column_ordinal: float = 0.6
    """Of several columns: for a word such as ``position`` or ``version``, which may also be an
    attribute."""

    column_date: float = 0.3
    """Of several columns: for a date, which distinguishes the rows of a history."""

    column_numbers_rows: float = 0.6
    """Of several columns: for one that counts from one for each value of the others, as line
    numbers do, whatever its name says."""

    column_language: float = 0.6
    """Of several columns: for the language of a translated text."""

    leading_columns: float = 0.5
    """If the key is the first columns of its table, where people put keys; as for one column."""

    more_columns: float = -0.25
    """For each column beyond two: of two keys, the shorter one is meant."""

    later_column: float = -0.03
    """For each place that the columns lie from the front, on average; it only breaks ties."""


@dataclass(frozen=True, slots=True)
class Weights:
    """All weights; a bench passes others to ``profile_source``."""

    names: NameWeights = NameWeights()
    values: ValueWeights = ValueWeights()
    reference: ReferenceWeights = ReferenceWeights()
    candidate: CandidateWeights = CandidateWeights()
    composite: CompositeWeights = CompositeWeights()
    key_search: KeySearchWeights = KeySearchWeights()
    primary_key: PrimaryKeyWeights = PrimaryKeyWeights()


DEFAULT_WEIGHTS = Weights()
