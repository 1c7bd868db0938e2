"""What the shop sells, and what people say about it."""

from dataclasses import dataclass

from fluid_build.demo.chance import Chance, by_rank, weighted


@dataclass(frozen=True)
class Shelf:
    """A category at the end of the tree: what is in it, and between which prices in euros."""

    department: str
    name: str
    goods: tuple[str, ...]
    low: int
    high: int


def _shelf(department: str, name: str, goods: str, low: int, high: int) -> Shelf:
    return Shelf(department, name, tuple(good.strip() for good in goods.split(",")), low, high)


SHELVES = (
    _shelf("Kitchen", "Knives", "Chef's Knife, Paring Knife, Bread Knife, Santoku", 19, 160),
    _shelf("Kitchen", "Pots & Pans", "Frying Pan, Saucepan, Stockpot, Wok, Crêpe Pan", 24, 220),
    _shelf("Kitchen", "Coffee & Tea", "Moka Pot, Teapot, Coffee Grinder, French Press", 15, 190),
    _shelf("Kitchen", "Tableware", "Dinner Plate, Cereal Bowl, Espresso Cup, Carafe", 6, 60),
    _shelf("Kitchen", "Storage", "Bread Bin, Preserving Jar, Spice Rack, Lunch Box", 5, 70),
    _shelf("Living", "Lamps", "Desk Lamp, Floor Lamp, Pendant, Reading Light", 29, 340),
    _shelf("Living", "Textiles", "Wool Blanket, Linen Cushion, Throw, Bath Towel", 12, 180),
    _shelf("Living", "Shelves", "Wall Shelf, Bookcase, Coat Rack, Shoe Bench", 35, 480),
    _shelf("Living", "Clocks", "Wall Clock, Alarm Clock, Hourglass", 14, 150),
    _shelf("Garden", "Hand Tools", "Trowel, Pruning Shears, Hoe, Dibber, Hori Hori", 9, 85),
    _shelf("Garden", "Watering", "Watering Can, Hose Reel, Rain Gauge, Mister", 8, 120),
    _shelf("Garden", "Planters", "Clay Pot, Raised Bed, Hanging Basket, Seed Tray", 4, 140),
    _shelf("Garden", "Seeds", "Tomato Seeds, Wildflower Mix, Basil Seeds, Chard Seeds", 2, 7),
    _shelf("Outdoor", "Tents", "Two-Person Tent, Family Tent, Tarp, Bivouac Bag", 79, 690),
    _shelf("Outdoor", "Backpacks", "Day Pack, Trekking Pack, Roll-Top Bag, Hip Bag", 35, 290),
    _shelf("Outdoor", "Camp Kitchen", "Gas Stove, Titanium Mug, Folding Spork, Cook Set", 7, 130),
    _shelf("Outdoor", "Lights", "Headlamp, Lantern, Bike Light", 14, 110),
    _shelf("Outdoor", "Bottles", "Steel Bottle, Vacuum Flask, Water Bag", 11, 55),
    _shelf("Office", "Notebooks", "Notebook, Sketch Pad, Pocket Diary, Index Cards", 4, 38),
    _shelf("Office", "Pens", "Fountain Pen, Rollerball, Mechanical Pencil, Ink", 3, 180),
    _shelf("Office", "Desk", "Letter Tray, Desk Mat, Stapler, Tape Dispenser", 8, 95),
    _shelf("Office", "Bags", "Laptop Sleeve, Messenger Bag, Briefcase", 29, 310),
)

_PRODUCT_LINES = (
    "Ahorn", "Brisk", "Cirrus", "Dunja", "Elstar", "Fjell", "Grove", "Havre", "Isola", "Juna",
    "Kestrel", "Lumen", "Marais", "Norden", "Ötzi", "Pinea", "Quarz", "Ruscus", "Sierra", "Tundra",
    "Umbra", "Verano", "Wren", "Ylva", "Zephyr", "Böhm & Sohn", "Atelier 9", "Café Noir",
)  # fmt: skip
_FINISHES = (
    "", "", "Black", "Oak", "Moss Green", "Natural", "Sand", "Cobalt", "Large", "Small", "Brushed",
    "Terracotta", "Set of 2", "Set of 4", "Mini", "XL", "Ivory", "Anthracite", "No. 3", "Recycled",
)  # fmt: skip

RATINGS = weighted((5, 4, 3, 2, 1), (46, 27, 11, 6, 10))
"""Stars as shops see them: much praise, some anger, little between."""

_OPENINGS = {
    5: ("Love it.", "Exactly what I was looking for!", "Absolut top.", "Parfait.", "Buonissimo!",
        "Best purchase this year.", "Immer wieder gerne.", "Très content de mon achat."),
    4: ("Good value.", "Solid.", "Gut verarbeitet.", "Bien, mais un peu cher.", "Happy with it.",
        "Muy práctico."),
    3: ("It is okay.", "Does the job.", "Geht so.", "Pas mal.", "Smaller than I thought."),
    2: ("Not convinced.", "Farbe weicht vom Foto ab.", "Expected more.", "Un poco decepcionada."),
    1: ("Broken on arrival.", "Nie wieder.", "Sent it back.", "Déçu.", "Two of four were missing."),
}  # fmt: skip
_MIDDLES = by_rank(
    (
        "", "Arrived after two days, well packed.", "A gift for my sister, she uses it every day.",
        "The {good} looks better than in the photo.", "Lieferung hat fast zwei Wochen gedauert.",
        "I own the older {line} as well; this one feels lighter.", "La livraison était rapide.",
        "Customer service answered within the hour.", "The lid does not close properly.",
        "Would be perfect if it came in other colours.", "Use it outdoors, no rust so far.",
        "Montage war in 10 Minuten erledigt.", "Size runs small; take the next one up.",
        "Habe gleich noch eins bestellt.", "Instructions only in Swedish, pictures help.",
        "After three months the handle came loose, sadly.",
    ),
    0.6,
)  # fmt: skip
_CLOSINGS = by_rank(
    ("", "Recommended.", "Thanks!", "Klare Empfehlung.", "Je recommande.", "Will buy again.",
     "Let us see how long it lasts.", "Never again.", "5 stars from our dog as well."), 0.7,
)  # fmt: skip


def product_name(chance: Chance, shelf: Shelf) -> str:
    """A name for a product of that shelf: the line it belongs to, what it is, and its finish."""
    parts = (chance.pick(_PRODUCT_LINES), chance.pick(shelf.goods), chance.pick(_FINISHES))
    return " ".join(part for part in parts if part)


def review_text(chance: Chance, stars: int, product: str, shelf: Shelf) -> tuple[str, str]:
    """A review's title and body; the title repeats the opening, as people do."""
    opening = chance.pick(_OPENINGS[stars])
    middle = chance.pick_from(_MIDDLES)
    closing = chance.pick_from(_CLOSINGS)
    good = chance.pick(shelf.goods).lower()
    body = f"{opening} {middle} {closing}".format(good=good, line=product.split()[0])
    return opening.rstrip(".!"), " ".join(body.split())
