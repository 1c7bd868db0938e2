"""The weights of names: how well they speak for a key or a reference."""

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

    front_word: float = 0.03
    """What each further word of the parent's name adds to those factors."""

    head: float = 0.85
    """Factor for a name that ends in the parent's last word, if no other table has it
    (``initial_state_id`` for ``order_state``)."""

    other_module: float = 0.45
    """Factor for the parent's name without its module, from outside of that module: worth a
    look."""

    initial: float = 0.45
    """The parent's first letter (``s_id`` for ``student``): worth a look."""

    table_and_key: float = 0.95
    """The parent's name with the name of its key (``state_code`` for ``states.code``)."""

    key_at_end: float = 0.8
    """A name that ends in a key's of two words or more, behind a role."""

    other_order: float = 0.85
    """Factor for the words of the parent's name, turned around."""

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
