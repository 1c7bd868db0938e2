"""The patterns of single values, and check digits."""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

Test = Callable[[str], object]

EMAIL: Final = re.compile(r"(?:mailto:)?[^@\s,;<>()]{1,64}@[^@\s,;<>()]{2,255}", re.IGNORECASE)
EMAIL_STRICT: Final = re.compile(r"[\w.+'-]{1,64}@[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,24}")
PHONE: Final = re.compile(
    r"(?=(?:\D*\d){6,20}\D*$)(?:tel\.?:?\s*)?[+(]{0,2}\d[\d\s().\-/]*"
    r"(?:\s*[,;]?\s*(?:x|ext\.?|extn\.?|#)\s*\d{1,6})?",
    re.IGNORECASE,
)
PHONE_FORMATTED: Final = re.compile(
    r"\+\d{1,3}[\s().\-/]{0,2}\d[\d\s().\-/]{5,17}(?:\s*x\d+)?"
    r"|(?:\+?1[-. ]?)?\(\d{3}\)[-. ]?\d{3}[-. ]\d{4}(?:\s*x\d+)?"
    r"|\(0\d{1,4}\)\s?\d{2,5}(?:[\s/-]?\d{2,6}){1,2}"
    r"|(?:\+?1[-. ])?\d{3}[-.]\d{3}[-.]\d{4}(?:\s*x\d+)?"
)
POSTCODE: Final = re.compile(
    r"(?=.{2,11}$)(?=.*\d)[A-Za-z]{0,4}[ -]?[A-Za-z0-9]{1,9}(?:[ -][A-Za-z0-9]{1,4})?(?:\.0)?"
)
POSTCODE_STRICT: Final = re.compile(
    r"\d{4,6}|\d{5}-\d{3,4}|\d{2}-\d{3}|\d{3} \d{2}|\d{4}-\d{3}"
    r"|\d{4} ?[A-Z]{2}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d"
)
IPV4: Final = re.compile(
    r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:/\d{1,2}|:\d{1,5})?"
)
IPV6: Final = re.compile(
    r"(?=.*::|(?:[^:]*:){7}[^:]*$)(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{0,4}|(?:\d{1,3}\.){3}\d{1,3})(?:%\w+)?(?:/\d{1,3})?",
    re.IGNORECASE,
)
NETMASK: Final = re.compile(r"255\.(?:\d+\.){2}\d+")
DATE: Final = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?|\d{1,2}[-/. ]\d{1,2}[-/. ]\d{2,4}(?: .*)?"
    r"|(?:1[89]|20)\d{6}|\d{1,2}[. -]+[^\W\d_]{3,10}\.?,?[ -]\d{2,4}"
    r"|[^\W\d_]{3,10}\.? \d{1,2},? \d{4}|\d{4}年\d{1,2}月\d{1,2}日"
)
CARD: Final = re.compile(r"(?:[\d*xX•#][ -]?){11,18}\d")
DEGREES: Final = re.compile(
    r"[+-]?\d{1,3}(?:[.,]\d+)?\s?°?\s?[NSEWO]?|[NSEWO]?\s?\d{1,3}\s?[°:]\s?\d{1,2}.*", re.IGNORECASE
)
DOMAIN_LOGIN: Final = re.compile(r"[A-Za-z][\w.-]{1,30}\\[^\W\d][\w.$-]{1,40}")
LOGIN: Final = re.compile(r"(?=.*[^\W\d_])[^\s,;/:<>|@]{2,64}")
LOGIN_WORD: Final = re.compile(r"(?=.*[a-z]{3})(?![0-9a-f-]{16,}$)[A-Za-z][A-Za-z0-9._-]{2,24}")
CREDENTIAL: Final = re.compile(
    r"\$2[abxy]?\$\d\d\$[./\w]{53}|\$argon2\w*\$.+|\$[156y]\$.+|pbkdf2\S+\$.+|\{S?SHA\d*\}.+|bcrypt\S+"
    r"|scrypt[:$]\S+|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|AKIA[A-Z\d]{16}|gh[pousr]_\w{36}|sk_(?:live|test)_\w+"
    r"|xox[abp]-\S+|-----BEGIN .*PRIVATE KEY.*"
)
OPAQUE: Final = re.compile(r"(?=.*[A-Za-z])[\w+/=.$-]{8,}|[\w+/]{4,}={1,2}")
UUID_DIGITS: Final = re.compile(r"[0-9a-f]{12}[1-8][0-9a-f]{3}[89ab][0-9a-f]{15}", re.IGNORECASE)
"""A UUID without dashes, by the digits of version and variant, which one of eight digests has."""
HEX_32: Final = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)
UUID: Final = re.compile(r"\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?", re.IGNORECASE)
URL: Final = re.compile(
    r"(?:https?|ftps?|s3|gs|file|wss?|jdbc:\w+)://\S+|www\.\S+\.\S+", re.IGNORECASE
)
MAC: Final = re.compile(
    r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}", re.IGNORECASE
)
BIC: Final = re.compile(r"[A-Z]{6}[A-Z\d]{2}(?:[A-Z\d]{3})?")
MIME: Final = re.compile(
    r"(?:application|audio|font|image|message|model|multipart|text|video)/[\w.+-]+"
)
HASH: Final = re.compile(
    r"(?=.*[a-f])(?=.*\d)(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})", re.I
)
HEX_COLOR: Final = re.compile(r"#?[0-9a-f]{6}|#[0-9a-f]{3}", re.IGNORECASE)
FILE: Final = re.compile(
    r"(?:[A-Za-z]:\\|\\\\|/|\.{1,2}/)?[^\s:*?\"<>|]*[\w)]\.[A-Za-z][A-Za-z0-9]{1,4}"
)
_FILE_ENDINGS: Final = frozenset(
    """
    7z aac avi avif bak bat bin bmp bz2 c class conf cpp cs css csv dat db dcm dll doc docx dwg edi
    eml eps epub exe flac gif gz heic htm html ico ics ini ipynb iso jar java jpeg jpg js json jsonl
    key kml log m4a m4v mkv mov mp3 mp4 mpeg mpg msg odp ods odt ogg orc parquet pdf pem php png
    ppt pptx ps1 psd rar rb rtf shp sql sqlite svg swf tar tgz tif tiff toml ts tsv ttf txt vcf wav
    webm webp wma wmv woff xls xlsm xlsx xml xsd yaml yml zip
    """.split()
)
"""Endings that are more common in file names than in host names, unlike ``.com`` or ``.py``."""

PATH: Final = re.compile(r"(?=.*[^\W\d_])(?:[A-Za-z]:\\|\\\\|~?/)[^:*?\"<>|]+[\\/][^:*?\"<>|]*")
JSON: Final = re.compile(r"\s*(?:\{\s*(?:\".*|\})|\[\s*(?:[\[{\"\d].*)?\]).*", re.DOTALL)
XML: Final = re.compile(r"\s*<(?:[?!]|[A-Za-z][\w:.-]*[\s/>]).*>\s*", re.DOTALL)
PERCENT: Final = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s?%")
POINT: Final = re.compile(
    r"\(?\[?\s?[+-]?\d{1,3}\.\d+\s?[,; ]\s?[+-]?\d{1,3}\.\d+\s?\]?\)?|(?:SRID=\d+;)?POINT ?\(.+\)",
    re.IGNORECASE,
)
VIN: Final = re.compile(r"[A-HJ-NPR-Z\d]{17}")
TIMEZONE: Final = re.compile(
    r"(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[\w/+-]+|UTC|GMT"
)
YES_NO: Final = re.compile(
    r"y|n|yes|no|true|false|t|f|ja|nein|oui|non|si|sí|sim|0|1", re.IGNORECASE
)

STREET_LINE: Final = re.compile(
    r"""\d+[\w/-]*,?\s+(?:[^\W\d_][\w'\u2019.-]*\s+){1,5}
        (?:street|st|avenue|ave?|av|road|rd|drive|dr|lane|ln|boulevard|blvd|court|ct|way|place|pl
        |square|sq|terrace|circle|cir|parkway|pkwy|highway|hwy|crescent|close|grove|gardens|hill
        |trail|alley|plaza|row|walk|mews|manor|loop|park)\.?(?:[\s,].*)?
    |\d+\s?(?:bis|ter|[a-d])?,?\s+
        (?:rue|avenue|av|bd|boulevard|chemin|place|all[ée]e|impasse|quai|route|cours|square|passage
        |chauss[ée]e)\s.+
    |[^\d]{2,40}(?:str(?:a(?:ss|ß)e)?|weg|platz|allee|gasse|ring|damm|ufer|straat|laan|plein|gracht
        |kade|gatan|v[aä]gen|gata|veien|vei|vej|gade|katu|tie)\.?\s+\d+\s?[a-zA-Z]?
        (?:[/-]\d+)?(?:[\s,].*)?
    |(?:calle|c/|avenida|avda\.?|av\.?|paseo|plaza|carrera|cra\.?|rua|travessa|pra[cç]a|alameda
        |estrada|rodovia|via|viale|corso|piazza|largo|vicolo|strada|ul\.|ulica|al\.)\s.{2,50}?\d+.*""",
    re.IGNORECASE | re.VERBOSE,
)
_SEPARATORS = re.compile(r"[,;|\s]+")

US_SSN: Final = re.compile(r"(?!000|666)\d{3}-(?!00)\d{2}-(?!0000)\d{4}")
NATIONAL_SHAPE: Final = re.compile(
    r"(?=(?:\W*\w){5,20}\W*$)(?=(?:\D*\d){4,})[A-Za-z]{0,6}[\dA-Za-z .\-/]+"
)


def share(test: Test, values: Sequence[str]) -> float:
    """Return the share of the values that pass; 0 if there are none."""
    return sum(1 for value in values if test(value)) / len(values) if values else 0.0


def is_file(value: str) -> bool:
    """Return whether a value is a file name by its ending, which hosts and domains don't have."""
    ending = value.rpartition(".")[2].lower()
    return ending in _FILE_ENDINGS and FILE.fullmatch(value) is not None


def is_ip_list(value: str) -> bool:
    """Return whether a value is one IP address, or several between commas, spaces or bars."""
    parts = [part for part in _SEPARATORS.split(value.strip("[]{}()\"' ")) if part]
    return bool(parts) and all(is_ip(part.strip("'\"")) for part in parts)


def is_ip(value: str) -> bool:
    """Return whether a value is an IPv4 or IPv6 address, also with a prefix length or port."""
    if IPV4.fullmatch(value):
        return not NETMASK.fullmatch(value)
    return ":" in value and IPV6.fullmatch(value.strip("[]")) is not None


def is_valid_number(module: str, value: str) -> bool:
    """Return whether python-stdnum accepts a number of that country, check digits included."""
    return value.isascii() and bool(import_module(f"stdnum.{module}").is_valid(value))
