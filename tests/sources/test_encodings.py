"""Text files that aren't Unicode: what they're taken for, what is said of it, and a user's word."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import UsageError
from fluid_build.sources import open_source
from fluid_build.sources.base import Source, Table
from fluid_build.sources.text_values.legacy_encodings import Guess, NonAscii, guess

WORDS = {
    "German": "Müller Jürgen Straße Köln Größe Übersicht Schröder weiß Bäckerei Ärzte Fußgänger",
    "French": "Café Hélène François élève Noël bientôt Où Zoé Île garçon déjà forêt",
    "Spanish": "Peña José Muñoz Cádiz año Málaga ¿qué? Ñandú corazón Núñez mañana",
    "Portuguese": "São João coração Conceição Até ação Brasília avó pão informações",
    "Swedish": "Åsa Björn Malmö Göteborg Växjö Örebro Håkan smörgås fläsk",
    "Polish": "Łódź Kraków Wałęsa Józef Gdańsk żółty ślązak Częstochowa Świętokrzyskie",
    "Czech": "Dvořák Plzeň Žižkov Černý Růžena Příbram Košice Ústí",
    "Russian": "Москва Иванов Санкт-Петербург Ольга Привет Новосибирск Екатерина дом",
    "Ukrainian": "Київ Львів Харків Одеса Дніпро їжак Чернівці Запоріжжя",
    "Greek": "Αθήνα Γιώργος Θεσσαλονίκη Πάτρα Ηράκλειο Λάρισα",
    "Turkish": "İstanbul Şişli Çağrı Iğdır Beşiktaş Üsküdar Güneş Ağrı",  # noqa: RUF001
    "Japanese": "東京 大阪 山田太郎 鈴木 カメラ こんにちは 佐藤花子 北海道",
    "Chinese": "北京 上海 张伟 王芳 广州市 中华人民共和国 深圳",
    "Taiwanese": "臺北 高雄 陳小明 林志玲 台灣 新竹",
    "Korean": "서울 부산 김철수 이영희 대한민국 인천광역시",
    "Hebrew": "ירושלים תל-אביב שלום חיפה באר-שבע",
    "Arabic": "القاهرة محمد مرحبا الإسكندرية فاطمة",
}
ENCODINGS = {
    "cp1252": ("German", "French", "Spanish", "Portuguese", "Swedish"),
    "mac_roman": ("German", "French", "Spanish", "Portuguese", "Swedish"),
    "cp850": ("German", "French", "Spanish", "Portuguese", "Swedish"),
    "cp1250": ("Polish", "Czech"),
    "cp1251": ("Russian", "Ukrainian"),
    "koi8_r": ("Russian",),
    "cp866": ("Russian",),
    "cp1253": ("Greek",),
    "cp1254": ("Turkish",),
    "cp932": ("Japanese",),
    "euc_jp": ("Japanese",),
    "gb18030": ("Chinese",),
    "big5": ("Taiwanese",),
    "cp949": ("Korean",),
    "cp1255": ("Hebrew",),
    "cp1256": ("Arabic",),
}
PAIRS = [(encoding, language) for encoding, some in ENCODINGS.items() for language in some]


def guessed(lines: Sequence[bytes]) -> Guess:
    text = NonAscii()
    text.add(lines)
    return guess(text)


def rows(words: Sequence[str]) -> list[str]:
    return [f"{i},{word},open\n" for i, word in enumerate(words)]


@given(st.sampled_from(PAIRS), st.randoms(use_true_random=False))
def test_the_encoding_of_a_file_is_told(pair: tuple[str, str], random: Random) -> None:
    """Whatever words a file has, it's read right, or a note names the encoding that's right."""
    encoding, language = pair
    words = random.choices(WORDS[language].split(), k=random.randint(3, 30))
    text = rows(words)
    found = guessed([line.encode(encoding) for line in text])
    read_right = "".join(text).encode(encoding).decode(found.encoding, "replace") == "".join(text)
    assert read_right or encoding in found.others


@pytest.mark.parametrize(("encoding", "language"), PAIRS)
def test_a_language_is_read_right(encoding: str, language: str) -> None:
    """All the words of a language are enough to read each of its encodings right."""
    text = "".join(rows(WORDS[language].split() * 4))
    found = guessed(text.encode(encoding).splitlines(keepends=True))
    assert text.encode(encoding).decode(found.encoding) == text


@given(st.binary(max_size=400))
def test_any_bytes_are_read_as_something(data: bytes) -> None:
    """Whatever the bytes, an encoding comes out that Python knows."""
    found = guessed([data, b"\xff"])
    data.decode(found.encoding.removeprefix("utf-8+"), "replace")


@given(st.lists(st.sampled_from(WORDS["French"].split()), min_size=1, max_size=20))
def test_lines_in_utf8_stay_so_beside_others(words: list[str]) -> None:
    """Where a file is written by two programs, each line is read in its own encoding."""
    text = rows([*words, "déjà"])
    lines = [line.encode("cp1252" if i % 2 else "utf-8") for i, line in enumerate(text)]
    lines.append("99,Noël,open\n".encode("cp1252"))
    found = guessed(lines)
    assert found.encoding == "utf-8+cp1252"
    assert found.unicode_lines == sum(not line.isascii() for line in text[::2])


def only(source: Source) -> Table:
    [table] = source.tables
    return table


def names_of(source: Source) -> list[str]:
    found = source.connection.sql(f"SELECT name FROM {only(source).relation}").fetchall()
    return [row[0] for row in found]


def written(path: Path, text: str, encoding: str) -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_a_guess_is_said_with_the_columns_that_it_decides(tmp_path: Path) -> None:
    """A note says what a file was read as, what fits too, and where the letters are."""
    text = "id,name,city,kind\n1,Müller,Köln,a\n2,Größer,Ulm,b\n"
    with open_source(written(tmp_path / "t.csv", text, "mac_roman")) as source:
        assert names_of(source) == ["Müller", "Größer"]
        assert only(source).notes == (
            "t.csv isn't Unicode. It was read as Mac Roman, a guess from 4 bytes beyond ASCII:"
            " say another with --encoding if letters look wrong.",
        )
    more = "".join(f"{i},Größe,Köln,c\n" for i in range(3, 8))
    with open_source(written(tmp_path / "t.csv", text + more, "mac_roman")) as source:
        assert only(source).notes == (
            "t.csv isn't Unicode. It was read as Mac Roman, the only one in common use that fits.",
        )
    text = "id,name,city,kind\n1,Jose\u0301,x,a\n2,Αθήνα,y,b\n"
    with open_source(written(tmp_path / "t.csv", text.replace("\u0301", ""), "cp1253")) as source:
        assert "Windows-1253" in only(source).notes[0]


def test_a_few_signs_are_taken_for_the_usual_ones(tmp_path: Path) -> None:
    """A lone byte may be a letter of many encodings; most often it's the sign of a currency."""
    with open_source(written(tmp_path / "t.csv", "id,name\n1,a 5 €\n2,b\n", "cp1252")) as source:
        assert names_of(source) == ["a 5 €", "b"]
        assert "Windows-1252, a guess from 1 byte beyond ASCII, but" in only(source).notes[0]


def test_letters_of_iso_8859_are_told(tmp_path: Path) -> None:
    """What stands for signs in Windows-1252 is letters there."""
    text = "id,name\n1,Łódź\n2,Gdańsk\n3,Škoda\n"
    with open_source(written(tmp_path / "t.csv", text, "iso8859_2")) as source:
        assert names_of(source) == ["Łódź", "Gdańsk", "Škoda"]
        assert "ISO-8859-2" in only(source).notes[0]


def test_letters_that_fit_two_encodings_are_marked(tmp_path: Path) -> None:
    """A column whose letters other encodings read otherwise says so; one in ASCII doesn't."""
    text = "id,name,kind\n1,ångström,a\n2,plain,b\n"
    with open_source(written(tmp_path / "t.csv", text, "cp1252")) as source:
        table = only(source)
        assert names_of(source)[0] == "ångström"
        noted = {column.name: column.notes for column in table.columns if column.notes}
        assert list(noted) == ["name"]
        assert "Windows-1252" in noted["name"][0]
        assert "say which with --encoding" in table.notes[0]
        assert table.notes[1] == "Its letters beyond ASCII are in `name`."


@pytest.mark.parametrize(
    ("encoding", "given"), [("cp1251", "windows-1251"), ("iso2022_jp", "ISO-2022-JP")]
)
def test_a_named_encoding_is_taken(tmp_path: Path, encoding: str, given: str) -> None:
    """What a user says of a file is believed, without a note, even where all bytes are ASCII."""
    name = "カメラ" if encoding == "iso2022_jp" else "Ё"
    path = written(tmp_path / "t.csv", f"id,name\n1,{name}\n2,{name}{name}\n", encoding)
    with open_source(path, encoding=given) as source:
        assert names_of(source) == [name, name * 2]
        assert only(source).notes == ()


def test_a_named_encoding_gives_way_to_unicode(tmp_path: Path) -> None:
    """A file that is UTF-8 is read so beside others of the named encoding, and a note says it."""
    written(tmp_path / "a.csv", "id,name\n1,Ольга\n", "utf-8")
    written(tmp_path / "b.csv", "id,name\n1,Ольга\n", "koi8_r")
    with open_source(tmp_path, encoding="koi8-r") as source:
        notes = {table.name: table.notes for table in source.tables}
        assert notes["a"] == ("a.csv was read as UTF-8, which it's in, and not as KOI8-R.",)
        assert notes["b"] == ()


def test_bytes_that_a_named_encoding_has_not_are_counted(tmp_path: Path) -> None:
    """Lines whose bytes don't fit are named: they are the only ones that lost something."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,name\n1,Zo\xeb\n2,plain\n3,M\xfcller\n")
    with open_source(path, encoding="utf-8") as source:
        assert names_of(source) == ["Zo\ufffd", "plain", "M\ufffdller"]
        assert only(source).notes[0] == (
            "t.csv has bytes that aren't UTF-8, in lines 2 and 4: they were replaced by \ufffd."
        )


def test_two_encodings_in_a_file_are_both_read(tmp_path: Path) -> None:
    """A file to which another program added lines keeps the letters of both."""
    path = tmp_path / "t.csv"
    path.write_bytes("id,name\n1,Zoë\n2,Müller\n".encode() + "3,Jürgen\n".encode("cp1252"))
    with open_source(path) as source:
        assert names_of(source) == ["Zoë", "Müller", "Jürgen"]
        assert (
            only(source)
            .notes[0]
            .startswith(
                "t.csv is in two encodings: 2 lines in UTF-8, others were read as Windows-1252"
            )
        )


def test_json_takes_a_named_encoding(tmp_path: Path) -> None:
    """JSON that breaks its standard is read as its user says."""
    path = written(tmp_path / "t.json", '[{"id": 1, "name": "Ольга"}]', "cp866")
    with open_source(path, encoding="cp866") as source:
        assert names_of(source) == ["Ольга"]


def test_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    """A name that Python doesn't know is refused before a file is read."""
    path = written(tmp_path / "t.csv", "id\n1\n", "utf-8")
    with pytest.raises(UsageError, match="'klingon' isn't an encoding"):
        open_source(path, encoding="klingon")


def test_a_database_has_no_use_for_an_encoding(tmp_path: Path) -> None:
    """The option is one of text files, and a source without them says so."""
    duckdb.connect(tmp_path / "t.duckdb").close()
    with pytest.raises(UsageError, match="A DuckDB database has no text file to decode"):
        open_source(tmp_path / "t.duckdb", encoding="cp1252")
