"""Word lists for values: names of persons, streets, companies, countries, currencies, languages."""

import re
from functools import cache
from importlib.resources import files


@cache
def given_names() -> frozenset[str]:
    """Common given names of some forty languages, lower case, without accents."""
    return _words("given_names.txt")


@cache
def surnames() -> frozenset[str]:
    """Common surnames of some forty languages, lower case, without accents."""
    return _words("surnames.txt")


def _words(name: str) -> frozenset[str]:
    text = (files(__package__) / "lexicons" / name).read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())


TITLES = frozenset(
    ["mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "dame", "lord", "lady", "rev", "fr", "sr", "sra", "srta", "srs", "don", "dona", "herr", "frau", "m", "mme", "mlle", "sig", "sigra", "dott", "ing", "hr", "fru", "dipl", "med", "jr", "snr", "ii", "iii", "iv", "md", "phd", "esq", "mag", "jun", "sen", "junior", "senior"]
)

PARTICLES = frozenset(
    ["de", "del", "della", "di", "da", "do", "dos", "das", "du", "des", "la", "le", "los", "las", "van", "von", "der", "den", "ten", "ter", "zu", "zum", "al", "el", "bin", "ibn", "abu", "ben", "bint", "y", "e", "i", "af", "av", "mac", "mc", "st", "san", "santa", "o", "d", "l"]
)

CHINESE_SURNAMES = frozenset(
    "王李张刘陈杨黄赵周吴徐孙朱马胡郭林何高梁郑罗宋谢唐韩曹许邓萧冯曾程蔡彭潘袁于董余苏叶吕魏蒋田杜丁沈姜范江傅钟卢汪戴崔任陆廖姚方金邱夏谭韦贾邹石熊孟秦阎薛侯雷白龙段郝孔邵史毛常万顾赖武康贺严尹钱施牛洪龚"
    "佐鈴高田伊渡山中小加吉斎松井木清阿森池橋藤김이박최정강조윤장임한오서신권황안송"
)

SLAVIC_ENDING = re.compile(r"(ов|ова|ев|ева|ёв|ин|ина|ский|ская|цкий|енко|вич|вна|чук|юк)$")

BUSINESS = re.compile(
    r"""(?:^|[\s,(])(?:inc|incorporated|llc|llp|ltd|limited|plc|corp|corporation|co|company|companies
    |gmbh|ag|kg|ohg|ug|e\.?v|mbh|sa|s\.a|sas|sarl|sl|s\.l|srl|s\.r\.l|spa|s\.p\.a|nv|bv|b\.v|ab|oy
    |as|aps|a/s|ltda|eireli|pty|pte|kft|zrt|doo|s\.?c|cie|group|gruppe|groupe|grupo|gruppo|holding|holdings
    |bank|banco|banque|store|stores|shop|market|markets|supermarket|restaurant|cafe|hotel|motel|inn
    |school|university|universidad|universitat|college|institute|academy|hospital|clinic|foundation
    |association|society|union|club|team|center|centre|services|service|solutions|systems
    |technologies|technology|tech|software|industries|international|global|partners|consulting
    |associates|enterprises|logistics|foods|media|studios?|records|press|publishing|books|airlines
    |airways|airport|station|park|street|avenue|road|museum|library|church|theatre|theater
    |department|office|agency|ministry|council|county|city|state|republic|island|islands|river|lake
    |mount|beach|the|and|for|band|orchestra|quartet|trio|ensemble|brothers|sons|music|film|company
    |motors|auto|cars|energy|capital|insurance|pharma|pharmacy|labs?|works|bros|garden|brewery|farm)
    (?:$|[\s.,)'])|&""",
    re.IGNORECASE | re.VERBOSE,
)

STREET_LINE = re.compile(
    r"""\d+[\w/-]*,?\s+(?:[^\W\d_][\w'’.-]*\s+){1,5}(?:street|st|avenue|ave?|av|road|rd|drive|dr|lane|ln
    |boulevard|blvd|court|ct|way|place|pl|square|sq|terrace|circle|cir|parkway|pkwy|highway|hwy|crescent
    |close|grove|gardens|hill|trail|alley|plaza|row|walk|mews|manor|loop|park)\.?(?:[\s,].*)?
    |\d+\s?(?:bis|ter|[a-d])?,?\s+(?:rue|avenue|av|bd|boulevard|chemin|place|allee|allée|impasse|quai
    |route|cours|square|passage|chaussee|chaussée)\s.+
    |[^\d]{2,40}(?:str(?:a(?:ss|ß)e)?|weg|platz|allee|gasse|ring|damm|ufer|straat|laan|plein|gracht|kade
    |gatan|vagen|vägen|gata|veien|vei|vej|gade|katu|tie)\.?\s+\d+\s?[a-zA-Z]?(?:[\s,].*)?
    |(?:calle|c/|avenida|avda\.?|av\.?|paseo|plaza|carrera|cra\.?|rua|travessa|praca|praça|alameda|estrada
    |rodovia|via|viale|corso|piazza|largo|vicolo|strada|ul\.|ulica|al\.)\s.{2,50}?\d+.*""",
    re.IGNORECASE | re.VERBOSE,
)

COUNTRIES = frozenset(
    ["afghanistan", "albania", "algeria", "andorra", "angola", "argentina", "armenia", "australia", "austria", "azerbaijan", "bahamas", "bahrain", "bangladesh", "barbados", "belarus", "belgium", "belize", "benin", "bhutan", "bolivia", "botswana", "brazil", "bulgaria", "cambodia", "cameroon", "canada", "chad", "chile", "china", "colombia", "croatia", "cuba", "cyprus", "denmark", "ecuador", "egypt", "estonia", "ethiopia", "fiji", "finland", "france", "gabon", "georgia", "germany", "ghana", "greece", "guatemala", "guinea", "guyana", "haiti", "honduras", "hungary", "iceland", "india", "indonesia", "iran", "iraq", "ireland", "israel", "italy", "jamaica", "japan", "jordan", "kazakhstan", "kenya", "kuwait", "laos", "latvia", "lebanon", "liberia", "libya", "liechtenstein", "lithuania", "luxembourg", "madagascar", "malawi", "malaysia", "maldives", "mali", "malta", "mauritius", "mexico", "moldova", "monaco", "mongolia", "montenegro", "morocco", "mozambique", "myanmar", "namibia", "nepal", "netherlands", "nicaragua", "niger", "nigeria", "norway", "oman", "pakistan", "panama", "paraguay", "peru", "philippines", "poland", "portugal", "qatar", "romania", "russia", "rwanda", "senegal", "serbia", "singapore", "slovakia", "slovenia", "somalia", "spain", "sudan", "suriname", "sweden", "switzerland", "syria", "taiwan", "tajikistan", "tanzania", "thailand", "togo", "tunisia", "turkey", "turkmenistan", "uganda", "ukraine", "uruguay", "usa", "uk", "uzbekistan", "venezuela", "vietnam", "yemen", "zambia", "zimbabwe", "deutschland", "frankreich", "spanien", "italien", "osterreich", "schweiz", "belgien", "niederlande", "polen", "danemark", "schweden", "norwegen", "finnland", "griechenland", "ungarn", "turkei", "russland", "allemagne", "espagne", "italie", "autriche", "suisse", "belgique", "espana", "alemania", "francia", "italia", "portogallo", "brasil", "mexique", "germania", "svizzera", "frankrijk", "duitsland", "spanje"]
) | {
    "united states",
    "united kingdom",
    "united states of america",
    "south korea",
    "south africa",
    "saudi arabia",
    "new zealand",
    "czech republic",
    "united arab emirates",
    "great britain",
    "costa rica",
    "dominican republic",
    "el salvador",
    "sri lanka",
    "hong kong",
}

CURRENCIES = frozenset(
    ["aed", "ars", "aud", "bdt", "bgn", "bhd", "brl", "cad", "chf", "clp", "cny", "cop", "czk", "dkk", "egp", "eur", "gbp", "ghs", "hkd", "hrk", "huf", "idr", "ils", "inr", "isk", "jpy", "kes", "krw", "kwd", "kzt", "lkr", "mad", "mxn", "myr", "ngn", "nok", "nzd", "omr", "pen", "php", "pkr", "pln", "qar", "ron", "rsd", "rub", "sar", "sek", "sgd", "thb", "tnd", "try", "twd", "tzs", "uah", "ugx", "usd", "uyu", "vnd", "zar"]
)

LANGUAGES = frozenset(
    ["ar", "bg", "bn", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr", "hu", "id", "it", "ja", "ko", "lt", "lv", "ms", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "sw", "ta", "th", "tr", "uk", "ur", "vi", "zh"]
)

COLORS = frozenset(
    ["black", "white", "red", "green", "blue", "yellow", "orange", "purple", "pink", "brown", "grey", "gray", "silver", "gold", "beige", "navy", "teal", "cyan", "magenta", "violet", "maroon", "olive", "turquoise", "ivory", "cream", "multi", "schwarz", "weiss", "rot", "grun", "blau", "gelb", "braun", "grau", "rosa", "lila", "noir", "blanc", "rouge", "vert", "bleu", "jaune", "gris", "marron", "negro", "blanco", "rojo", "verde", "azul", "amarillo", "nero", "bianco", "rosso", "giallo"]
)

GENDERS = frozenset(
    ["m", "f", "w", "d", "x", "u", "o", "male", "female", "man", "woman", "boy", "girl", "other", "others", "unknown", "nonbinary", "mannlich", "weiblich", "divers", "mann", "frau", "homme", "femme", "hombre", "mujer", "maschio", "femmina", "masculino", "feminino", "femenino", "masculin", "feminin", "maennlich", "h", "0", "1", "2"]
)
