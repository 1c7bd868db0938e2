# ruff: noqa: RUF001  the texts are in many scripts
"""Texts by kind and seed, on which token estimates are checked against true counts.

The generators are deterministic, so a table of counts made once with the real vocabularies holds
for every run. ``token_counts.json`` is that table; ``bench/token_estimates.py`` writes it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

SIZES = (40, 400, 4000)
"""Characters of a text, about: a value, a row or message, a file."""
SEEDS = range(2)

NAMES = (
    "customer order product invoice payment shipment address country category supplier employee "
    "department warehouse inventory contract account balance transaction currency discount region "
    "created updated deleted status quantity amount price total number code type name description"
).split()
PEOPLE = (
    "Ada Lovelace,Jürgen Müller,María Fernández,Piotr Wójcik,Chloé Lefèvre,Søren Kjær,"
    "Ayşe Yılmaz,Nguyễn Văn An,O'Brien Kelly,Zoë van der Berg"
).split(",")

PROSE: dict[str, str] = {
    "english": """
The warehouse keeps every order that a customer has placed since the shop was opened.
A missing key is usually discovered only after the first report has been published.
Nobody remembers why this column was added, but removing it would break three dashboards.
Please compare both tables and explain which differences are caused by rounding.
Although the contract promises daily updates, the file arrived twice last Thursday.
An experienced engineer reads the error message before she changes the configuration.
Our neighbours painted their old wooden fence green while the children played outside.
If the temperature falls below zero, the sensor reports nothing until it is restarted.
""",
    "german": """
Das Lager speichert jede Bestellung, die ein Kunde seit der Eröffnung aufgegeben hat.
Ein fehlender Schlüssel wird meistens erst nach der Veröffentlichung des Berichts bemerkt.
Niemand weiß mehr, warum diese Spalte hinzugefügt wurde, aber drei Auswertungen brauchen sie.
Bitte vergleichen Sie beide Tabellen und erklären Sie, welche Unterschiede durch Rundung entstehen.
Obwohl der Vertrag tägliche Aktualisierungen verspricht, kam die Datei am Donnerstag zweimal an.
Die Rechnungsprüfungsabteilung übermittelt die Kostenstellenzuordnung an die Hauptbuchhaltung.
Unsere Nachbarn strichen ihren alten Holzzaun grün, während die Kinder draußen spielten.
Sinkt die Temperatur unter null, meldet der Fühler nichts, bis er neu gestartet wird.
""",
    "french": """
L'entrepôt conserve chaque commande qu'un client a passée depuis l'ouverture de la boutique.
Une clé manquante n'est souvent découverte qu'après la publication du premier rapport.
Personne ne se souvient pourquoi cette colonne a été ajoutée, mais trois tableaux l'utilisent.
Bien que le contrat promette une mise à jour quotidienne, le fichier est arrivé deux fois.
""",
    "spanish": """
El almacén guarda cada pedido que un cliente ha hecho desde que abrió la tienda.
Una clave que falta suele descubrirse sólo después de publicar el primer informe.
Nadie recuerda por qué se añadió esta columna, pero tres paneles dependen de ella.
Aunque el contrato promete actualizaciones diarias, el fichero llegó dos veces el jueves.
""",
    "polish": """
Magazyn przechowuje każde zamówienie złożone przez klienta od otwarcia sklepu.
Brakujący klucz zwykle zostaje zauważony dopiero po opublikowaniu pierwszego raportu.
Nikt już nie pamięta, dlaczego dodano tę kolumnę, ale korzystają z niej trzy zestawienia.
Chociaż umowa obiecuje codzienne aktualizacje, plik przyszedł w czwartek dwukrotnie.
""",
    "russian": """
Склад хранит каждый заказ, который клиент сделал с момента открытия магазина.
Отсутствующий ключ обычно обнаруживают только после публикации первого отчёта.
Никто не помнит, зачем добавили этот столбец, но от него зависят три отчёта.
Хотя договор обещает ежедневные обновления, в четверг файл пришёл дважды.
""",
    "greek": """
Η αποθήκη κρατά κάθε παραγγελία που έκανε ένας πελάτης από τότε που άνοιξε το κατάστημα.
Ένα κλειδί που λείπει ανακαλύπτεται συνήθως μόνο μετά τη δημοσίευση της πρώτης αναφοράς.
Κανείς δεν θυμάται γιατί προστέθηκε αυτή η στήλη, αλλά τρεις πίνακες εξαρτώνται από αυτήν.
""",
    "hebrew": """
המחסן שומר כל הזמנה שלקוח ביצע מאז שהחנות נפתחה.
מפתח חסר מתגלה בדרך כלל רק אחרי שהדוח הראשון פורסם.
איש אינו זוכר מדוע נוספה העמודה הזאת, אבל שלושה דוחות תלויים בה.
""",
    "arabic": """
يحتفظ المستودع بكل طلب قدمه العميل منذ افتتاح المتجر.
لا يُكتشف المفتاح المفقود عادةً إلا بعد نشر التقرير الأول.
لا أحد يتذكر سبب إضافة هذا العمود، لكن ثلاثة تقارير تعتمد عليه.
على الرغم من أن العقد يعد بتحديثات يومية، فقد وصل الملف مرتين يوم الخميس.
""",
    "hindi": """
गोदाम में दुकान खुलने के बाद से ग्राहक के हर ऑर्डर का विवरण रखा जाता है।
गायब कुंजी का पता अक्सर पहली रिपोर्ट प्रकाशित होने के बाद ही चलता है।
किसी को याद नहीं कि यह स्तंभ क्यों जोड़ा गया था, लेकिन तीन रिपोर्टें इस पर निर्भर हैं।
हालाँकि अनुबंध में प्रतिदिन अद्यतन का वादा है, फ़ाइल गुरुवार को दो बार आई।
""",
    "thai": """
คลังสินค้าเก็บคำสั่งซื้อทุกรายการของลูกค้าตั้งแต่เปิดร้าน
กุญแจที่หายไปมักถูกพบหลังจากเผยแพร่รายงานฉบับแรกแล้วเท่านั้น
ไม่มีใครจำได้ว่าทำไมจึงเพิ่มคอลัมน์นี้ แต่มีรายงานสามฉบับที่ต้องใช้
""",
    "chinese": """
仓库保存了商店开业以来客户下达的每一份订单。
缺失的键通常要等到第一份报告发布之后才会被发现。
没有人记得为什么要添加这一列,但是有三个仪表板依赖于它。
请比较这两张表,并说明哪些差异是由四舍五入引起的。
虽然合同承诺每天更新,但上周四文件却收到了两次。
如果温度低于零度,传感器在重新启动之前不会报告任何数据。
""",
    "traditional chinese": """
倉庫保存了商店開業以來客戶下達的每一份訂單。
缺少的鍵通常要等到第一份報告發布之後才會被發現。
沒有人記得為什麼要新增這個欄位,但是有三個儀表板依賴於它。
雖然合約承諾每天更新,但上週四檔案卻收到了兩次。
""",
    "japanese": """
倉庫には、開店以来お客様が行ったすべての注文が保存されています。
欠けているキーは、最初のレポートが公開された後に初めて見つかることが多いです。
この列がなぜ追加されたのか誰も覚えていませんが、三つのダッシュボードが依存しています。
データウェアハウスのテーブルを比較し、丸め誤差による違いを説明してください。
契約では毎日更新されるはずですが、先週の木曜日にはファイルが二回届きました。
""",
    "korean": """
창고에는 매장이 문을 연 이후 고객이 주문한 모든 내역이 보관되어 있습니다.
누락된 키는 보통 첫 번째 보고서가 발행된 뒤에야 발견됩니다.
이 열이 왜 추가되었는지 아무도 기억하지 못하지만 세 개의 대시보드가 이를 사용합니다.
계약서에는 매일 갱신한다고 되어 있지만 지난 목요일에는 파일이 두 번 도착했습니다.
""",
}

_EMOJI = "😀😂🥰🤔👍🙏🔥🎉🚀✅❌⚠️📈📊🗂️🧪🐘🦆🏭🇩🇪🇫🇷👩‍💻👨‍👩‍👧‍👦🤷🏽‍♀️❤️"
_SYMBOLS = "→←↑↓⇒≤≥≠±×÷∑∏√∞∈∀∃αβγδ€£¥©®™§¶•…—–│┌┐└┘├┤─█▓▒░"

_PYTHON = '''
class OrderLoader:
    """Loads {name} rows from {other}."""

    def __init__(self, path: Path, *, batch_size: int = {n}) -> None:
        self._{name} = [row for row in read_rows(path) if row["{other}_id"] is not None]
        self.batch_size = batch_size

    async def load_{name}(self, limit: int | None = None) -> dict[str, list[int]]:
        for index, ({name}, {other}) in enumerate(zip(self._{name}, range({n}))):
            if {name}.status != "{other}" and not self.is_closed:
                result.setdefault({name}.key, []).append(index * {n} + {other})
        return {{key: values[:limit] for key, values in result.items()}}
'''
_JAVASCRIPT = """
export const get{Name} = async ({{ id, {other} }}) => {{
  const {{ data }} = await client.query(`/api/{name}/${{id}}?limit={n}`, {{ headers }});
  return data?.items?.map((item) => ({{ ...item, total{Name}: item.{other} ?? {n} }})) || [];
}};
"""
_SQL = """
SELECT c.{name}_id, c.{name}_name, COUNT(*) AS {other}_count, SUM(o.{other}_amount) AS total
FROM {name} AS c LEFT JOIN {other} AS o ON o.{name}_id = c.{name}_id AND o.status <> 'x{n}'
WHERE c.created_at >= DATE '2024-01-{d:02}' AND COALESCE(o.{other}_code, '') NOT IN ('A1', 'B{n}')
GROUP BY 1, 2 HAVING SUM(o.{other}_amount) > {n}.50 ORDER BY total DESC LIMIT {n};
"""
_DDL = """
CREATE TABLE {name}_{other} (
    {name}_{other}_id BIGINT NOT NULL PRIMARY KEY,
    {name}_id INTEGER NOT NULL REFERENCES {name} ({name}_id),
    {other}_code VARCHAR({n}) DEFAULT 'N/A',
    {other}_amount DECIMAL(18,2) CHECK ({other}_amount >= 0),
    created_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT uq_{name}_{other} UNIQUE ({name}_id, {other}_code)
);
"""
_XML = '<{name} id="{n}"><{other}Name xml:lang="en">Value {n}</{other}Name><empty/></{name}>\n'
_LOG = (
    '{time} WARN  [worker-{d}] c.e.shop.{Name}Service - retry {d}/5 for "{other}" (took {n} ms, '
    "ip=10.{d}.{d}.{n}, trace={hex})\n"
)
_URL = "https://shop.example.com/api/v2/{name}/{n}?sort=-{other}&page={d}&utm_source=mail#top\n"


def _time(chance: random.Random) -> datetime:
    return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(200_000_000))


def _filled(template: str) -> Callable[[random.Random], str]:
    def fill(chance: random.Random) -> str:
        name, other = chance.sample(NAMES, 2)
        return template.format(
            name=name,
            other=other,
            Name=name.capitalize(),
            n=chance.randrange(1, 10**4),
            d=chance.randrange(1, 29),
            hex=f"{chance.getrandbits(64):016x}",
            time=_time(chance).isoformat(timespec="milliseconds"),
        )

    return fill


def _row(chance: random.Random) -> dict[str, object]:
    return {
        "order_id": chance.randrange(10**7),
        "customer_name": chance.choice(PEOPLE),
        "status": chance.choice(["open", "SHIPPED", None]),
        "total_amount": round(chance.random() * 1000, 2),
        "is_paid": chance.random() < 0.5,
        "created_at": _time(chance).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "sku": f"{chance.choice('ABCXYZ')}{chance.choice('ABCXYZ')}-{chance.randrange(10**5):05}",
    }


def _sentence(language: str) -> Callable[[random.Random], str]:
    sentences = PROSE[language].strip().splitlines()
    return lambda chance: chance.choice(sentences) + " "


def _characters(alphabet: str) -> Callable[[random.Random], str]:
    return lambda chance: "".join(chance.choices(alphabet, k=40))


def _code_points(first: int, last: int) -> Callable[[random.Random], str]:
    def draw(chance: random.Random) -> str:
        points = (chance.randint(first, last) for _ in range(40))
        return "".join(chr(point) for point in points if not 0xD800 <= point <= 0xDFFF)

    return draw


def _bytes(chance: random.Random, count: int) -> bytes:
    return chance.getrandbits(8 * count).to_bytes(count, "big")


def _identifier(chance: random.Random, join: Callable[[list[str]], str]) -> str:
    return join(chance.sample(NAMES, chance.randint(2, 4))) + " "


ASCII = "".join(map(chr, range(32, 127)))

KINDS: dict[str, Callable[[random.Random], str]] = {
    **{f"{language} prose": _sentence(language) for language in PROSE},
    "JSON rows": lambda chance: json.dumps(_row(chance), ensure_ascii=False) + "\n",
    "JSON rows, indented": lambda chance: json.dumps(_row(chance), indent=2) + ",\n",
    "minified JSON": lambda chance: json.dumps(_row(chance), separators=(",", ":")) + ",",
    "CSV rows": lambda chance: ",".join(map(str, _row(chance).values())) + "\n",
    "Markdown table": lambda chance: "| " + " | ".join(map(str, _row(chance).values())) + " |\n",
    "hex ids": lambda chance: _bytes(chance, 16).hex() + "\n",
    "hex ids, upper case": lambda chance: _bytes(chance, 8).hex().upper() + ",",
    "UUIDs": lambda chance: str(uuid.UUID(bytes=_bytes(chance, 16))) + "\n",
    "base64": lambda chance: base64.b64encode(_bytes(chance, 48)).decode(),
    "base64 ids": lambda chance: base64.urlsafe_b64encode(_bytes(chance, 12)).decode() + " ",
    "base32 ids": lambda chance: base64.b32encode(_bytes(chance, 15)).decode() + "\n",
    "random letters": lambda chance: "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=20)),
    "random letters, upper case": _characters("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "timestamps": lambda chance: _time(chance).isoformat() + "\n",
    "dates": lambda chance: _time(chance).strftime("%d.%m.%Y") + ";",
    "integers": lambda chance: f"{chance.randrange(10 ** chance.randint(1, 12))},",
    "decimals": lambda chance: f"{chance.uniform(-1000, 1000):.{chance.randint(1, 6)}f}\t",
    "scientific numbers": lambda chance: f"{chance.gauss(0, 1):.4e} ",
    "digits": _characters("0123456789"),
    "phone numbers": lambda chance: f"+49 ({chance.randrange(999)}) {chance.randrange(10**7)}\n",
    "addresses of mail": lambda chance: (
        f"{chance.choice(NAMES)}{chance.randrange(99)}@example.com;"
    ),
    "IBANs": lambda chance: f"DE{chance.randrange(10**20):020}\n",
    "snake case": lambda chance: _identifier(chance, "_".join),
    "upper snake case": lambda chance: _identifier(chance, "_".join).upper(),
    "camel case": lambda chance: _identifier(chance, lambda w: "".join(map(str.capitalize, w))),
    "DDL": _filled(_DDL),
    "SQL": _filled(_SQL),
    "Python": _filled(_PYTHON),
    "JavaScript": _filled(_JAVASCRIPT),
    "XML": _filled(_XML),
    "log lines": _filled(_LOG),
    "URLs": _filled(_URL),
    "names of people": lambda chance: chance.choice(PEOPLE) + ", ",
    "punctuation": _characters("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "random ASCII": _characters(ASCII),
    "whitespace": lambda chance: " " * chance.randint(1, 30) + chance.choice("\n\t\nx"),
    "indented": lambda chance: " " * 4 * chance.randint(1, 8) + chance.choice(NAMES) + "\n",
    "tabs": lambda chance: "\t" * chance.randint(1, 5) + chance.choice(NAMES) + "\n\n",
    "run of a letter": lambda _: "a" * 40,
    "run of a digit": lambda _: "0" * 40,
    "run of a sign": lambda chance: "=" * 60 + "\n",
    "run of a blank": lambda _: " " * 40,
    "emoji": lambda chance: "".join(chance.choices(_EMOJI, k=20)),
    "emoji in text": lambda chance: f"{chance.choice(_EMOJI)} {chance.choice(NAMES)} ",
    "symbols": _characters(_SYMBOLS),
    "escaped unicode": lambda chance: json.dumps(chance.choice(PROSE["chinese"].split())) + ",",
    "random Chinese characters": _code_points(0x4E00, 0x9FFF),
    "random Hangul": _code_points(0xAC00, 0xD7A3),
    "random Latin letters": _code_points(0xC0, 0x24F),
    "random two-byte characters": _code_points(0x80, 0x7FF),
    "random BMP characters": _code_points(0x80, 0xFFFF),
    "random unicode": _code_points(0x20, 0x10FFFF),
}
"""Functions that return a part of a text of a kind; a text repeats its kind's function."""


def make_text(kind: str, size: int, seed: int) -> str:
    """Return a text of a kind with ``size`` characters."""
    chance = random.Random(f"{kind} {size} {seed}")
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(KINDS[kind](chance))
        length += len(parts[-1])
    return "".join(parts)[:size]


def texts_of(kind: str) -> list[str]:
    """Return the texts of a kind that were counted, in the order of the table."""
    return [make_text(kind, size, seed) for size in SIZES for seed in SEEDS]


def digest_of(texts: list[str]) -> str:
    """Return what says whether texts are those that were counted."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
