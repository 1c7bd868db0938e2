"""The words that names are made of in databases of any domain, as sets with a reason each."""

KEY_WORDS = frozenset(
    "id ids key sk pk fk code cd no nr num number nbr nmbr uuid guid oid ref bk hk identifier "
    "row rowid recid pkid ident "
    "cod codigo numero nro clave clef cle chave chiave codice codigos kod kode nummer "
    "schluessel".split()
)
"""Words that only say that a column is a key, in databases of any domain."""
LEADING_KEY_WORDS = frozenset(
    "id fk pk sk key code cod codigo codice kod kode clave chave cle uuid guid".split()
)
"""Key words that come first in many databases, and in those with Romance names: ``id_client``."""
LEADING_COUNT_WORDS = frozenset("num no nr nro numero number".split())
"""Words that lead a key (``num_client``) or a count (``num_pages``, ``number_of_pages``)."""
GLUED_LEADING_KEY_WORDS = ("codigo", "cod", "num", "fk", "pk", "id")
"""Key words that are found glued to the front of a word that the schema knows (``idclient``)."""
GENERIC_WORDS = KEY_WORDS | {"name", "title", "type"}
GLUED_KEY_WORDS = ("uuid", "guid", "code", "key", "id", "sk", "no", "nr")
"""Key words that are found at the end of a longer word too (``custid``), the longest first."""
TECHNICAL_WORDS = frozenset(
    "dim fact fct stg stage staging raw tbl tab table src ods ref lkp lookup mst master dwh mart "
    "vw view t tb data".split()
)
"""Words around a table's name that say which layer it is in, not what it holds."""

IRREGULAR = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot",
    "indices": "index", "indexes": "index", "statuses": "status", "series": "series",
    "addresses": "address", "species": "species", "data": "data",
    "movies": "movie", "cookies": "cookie", "ties": "tie", "rookies": "rookie", "zombies": "zombie",
    "calories": "calorie", "media": "media", "news": "news",
}  # fmt: skip

COMMON_WORDS = frozenset(
    "info detail item line header history type status group category order product customer "
    "address date time from ship bill parent sold name number amount price unit country region "
    "city state person employee account contact phone email start end first last total sales "
    "purchase invoice payment store stock location department company master lookup".split()
)
"""Words that names of business databases are glued from (``orderline``), whatever the schema."""

PLAIN_WORDS = frozenset(
    "paid valid invalid void aid bid grid avoid liquid solid rapid acid android hybrid mid raid "
    "kid lid rid said laid covid fluid unpaid prepaid barcode zipcode postcode turkey monkey "
    "hockey whiskey casino piano video audio radio info memo logo photo zero volcano euro".split()
)
"""Words that end in a key word's letters by nature."""

PREPOSITIONS = frozenset("of de di do da du des del von".split())

LABEL_WORDS = frozenset("name title label nom nombre nome".split())
"""Words that call a row by its name: a key where a table has no other."""
AMOUNT_WORDS = frozenset(
    "max maximum min minimum avg average mean total sum base num count number qty quantity".split()
)
"""First words of figures (``max_level``), unless a key word follows."""
ROLE_WORDS = frozenset(
    "from to sub super parent child before after previous next first second "
    "old new main primary secondary home away left right start end in out a b x y".split()
)
"""Words that say which of several references a column is, behind the parent's name too."""

STRUCTURE_WORDS = frozenset(
    "parent prnt ancestor predecessor previous prev prvs next successor original replaces replaced "
    "duplicate master root reply superior prereq prerequisite "
    "father mother sire dam spouse padre madre vater mutter".split()
)
"""Words for another row of the same table, whatever it is about."""
LONG_STRUCTURE_WORDS = tuple(sorted(word for word in STRUCTURE_WORDS if len(word) >= 6))
LEADER_WORDS = frozenset(
    "manager mgr mngr boss supervisor spvr sprv reports rprt reportsto head lead leader sponsor "
    "mentor coach chief referrer chair chairman chairperson director jefe jefa gerente "
    "responsable tutor leiter kierownik capo chef".split()
)
"""Words for a person who leads: another of the same table, if that is about people."""
ACTING_WORDS = frozenset(
    "by owner author creator approver assignee assigned reviewer editor requester reporter "
    "responsible handler".split()
)
"""Words for what a person did with a row; they refer to a table of staff or users."""
ACCOUNT_WORDS = frozenset(
    "user employee staff worker personnel usuario utilisateur empleado employe funcionario "
    "mitarbeiter benutzer pracownik pracownicy dipendente".split()
)
"""Words for tables of those who work with the database themselves."""
STAFF_WORDS = ACCOUNT_WORDS | frozenset("person people member persona personne".split())
"""Words for tables of those who act and lead."""
MEANT_ENTITIES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("capital", "headquarters"), frozenset({"city", "town"})),
    **dict.fromkeys(("nationality", "citizenship"), frozenset({"country"})),
    **dict.fromkeys(("home", "away", "winner", "loser", "opponent"), frozenset({"team", "club"})),
    **dict.fromkeys(("heim", "gast"), frozenset({"verein", "mannschaft"})),
}
"""Words that mean an entity without naming it."""
PEOPLE_WORDS = STAFF_WORDS | frozenset(
    "employee staff person people user worker agent salesperson member officer personnel rep "
    "contact associate customer student player teacher consultant".split()
)
SYNONYMS: tuple[frozenset[str], ...] = (
    frozenset("customer client user account buyer member patron subscriber consumer".split()),
    frozenset("employee staff worker associate personnel rep representative agent".split()),
    frozenset("employee salesperson seller salesman".split()),
    frozenset("product item article good sku".split()),
    frozenset("vendor supplier".split()),
    frozenset("store shop branch outlet".split()),
    frozenset("order purchase".split()),
    frozenset("city town".split()),
    frozenset("doctor physician provider".split()),
    frozenset("person people individual human".split()),
    frozenset("company organization organisation firm".split()),
    frozenset("user author owner creator person".split()),
)
