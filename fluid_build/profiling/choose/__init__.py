"""Choosing: keys and references of the whole schema together, until neither changes.

``selection`` goes this way. The example has states(name, sign, motto), each of them unique, people
and trips with a ``state``, and payments(id, person_id) beside employees(person_id).

1. Keys that are clear by themselves: ``people.id``. Of several unique columns, what other tables
   repeat counts, and most of all what columns named for the table hold: ``people.state`` and
   ``trips.state`` hold signs, so the key of the states is ``sign`` (``keys.primary_keys``).
2. References, given these keys (``reference_choice``): each column takes the parent with the best
   odds. Then the rest of the schema speaks (``homes``): columns that refer to a twin are led to
   the key outside that holds all their values, unsure columns follow their namesakes, and
   ``payments.person_id`` is led past the employees to the people. What several keys explain as
   well stays open.
3. The other keys, given these references: bridges and details are made of what they refer to. Where
   a key of one column changed, step 2 is done again, three times at most.
4. Keys get the columns that other tables repeat with them (``wider_keys``): a tenant, or the source
   of a code where others have ``base_source`` beside ``base_code``.
5. References of several columns to the keys of several (``references.composites``).
6. What follows from others is marked (``implied``), and what was judged and isn't believed is kept
   as a question, with the rival that beat it (``unchosen``).

Nothing chooses by the confidence that users see: ``calibration`` turns the log odds of what was
chosen into it. ``declared`` keeps what the source declares, and checks it all the same.
"""
