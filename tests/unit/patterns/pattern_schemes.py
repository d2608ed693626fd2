"""Independent generators of national identifiers, written from each scheme's published rule.

Nothing here reads the engine's code or data: `SCHEMES[id](random)` gives (text with a valid value, text
with a broken check), both in a sentence as people write them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Maker = Callable[[Random], tuple[str, str]]
SCHEMES: dict[str, tuple[str, str, Maker]] = {}


def scheme(name: str, country: str, context: str) -> Callable[[Callable[[Random], list[str]]], None]:
    """Registers a generator that gives [body, right check, ...]; the wrong check differs in one sign."""

    def register(make: Callable[[Random], list[str]]) -> None:
        def both(random: Random) -> tuple[str, str]:
            good, bad = make(random)
            lead = f"{context} " if context else ""
            shape = random.choice(["{}{}.", "Customer wrote: {}{}", "{}{}, thanks", '{{"note": "{}{}"}}'])
            return shape.format(lead, good), shape.format(lead, bad)

        SCHEMES[name] = (country, context, both)

    return register


def digits(random: Random, count: int, first: str = "0123456789") -> str:
    return random.choice(first) + "".join(random.choice("0123456789") for _ in range(count - 1))


def total(text: str, weights: list[int]) -> int:
    return sum(int(c) * w for c, w in zip(text, weights, strict=True))


def other(check: str, alphabet: str = "0123456789") -> str:
    return alphabet[(alphabet.index(check) + 1) % len(alphabet)]


def luhn(body: str) -> str:
    sums = 0
    for place, c in enumerate(reversed(body)):
        value = int(c) * (2 if place % 2 == 0 else 1)
        sums += value - 9 if value > 9 else value
    return str(-sums % 10)


def date(random: Random, form: str = "ymd") -> str:
    parts = {
        "y": f"{random.randint(40, 99):02}",
        "m": f"{random.randint(1, 12):02}",
        "d": f"{random.randint(1, 28):02}",
    }
    return "".join(parts[c] for c in form)


def put(form: str, text: str) -> str:
    """Fills the `#` of a form."""
    letters = iter(text)
    return "".join(next(letters) if c == "#" else c for c in form)


def checked(form: str, body: str, check: str, alphabet: str = "0123456789") -> list[str]:
    return [put(form, body + check), put(form, body + other(check, alphabet))]


@scheme("card", "US", "")
def _(r: Random) -> list[str]:
    start, length = r.choice(
        [
            ("4", 16),
            ("51", 16),
            ("55", 16),
            ("2223", 16),
            ("34", 15),
            ("37", 15),
            ("6011", 16),
            ("3530", 16),
            ("36", 14),
        ]
    )
    body = start + digits(r, length - 1 - len(start))
    check = luhn(body)
    form = r.choice(["#" * length, "#### #### #### ####" if length == 16 else "#" * length])
    return checked(form, body, check)


@scheme("iban", "DE", "")
def _(r: Random) -> list[str]:
    country, length = r.choice(
        [
            ("DE", 22),
            ("FR", 27),
            ("ES", 24),
            ("NO", 15),
            ("NL", 18),
            ("GB", 22),
            ("PL", 28),
            ("MT", 31),
            ("SA", 24),
        ]
    )
    body = "".join(r.choice("ABCDEFGH") for _ in range(4)) if country in ("GB", "NL", "MT") else ""
    body += digits(r, length - 4 - len(body))
    number = int("".join(str(int(c, 36)) for c in body + country + "00"))
    check = f"{98 - number % 97:02}"
    wrong = f"{(98 - number % 97) % 96 + 2:02}"
    wrong = wrong if wrong != check else f"{int(check) - 1:02}"
    grouped = r.random() < 0.5
    shape = lambda t: " ".join(t[i : i + 4] for i in range(0, len(t), 4)) if grouped else t  # noqa: E731
    return [shape(country + check + body), shape(country + wrong + body)]


@scheme("br-cpf", "BR", "")
def _(r: Random) -> list[str]:
    body = digits(r, 9)
    for length in (9, 10):
        body += str(total(body, list(range(length + 1, 1, -1))) * 10 % 11 % 10)
    return [put("###.###.###-##", body), put("###.###.###-##", body[:10] + other(body[10]))]


@scheme("br-cnpj", "BR", "")
def _(r: Random) -> list[str]:
    body = digits(r, 8) + "0001"
    for weights in ([5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2], [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]):
        rest = total(body, weights) % 11
        body += str(0 if rest < 2 else 11 - rest)
    return [put("##.###.###/####-##", body), put("##.###.###/####-##", body[:13] + other(body[13]))]


@scheme("us-ssn", "US", "")
def _(r: Random) -> list[str]:
    area = r.choice([n for n in range(1, 900) if n != 666])
    tail = f"{r.randint(1, 99):02}-{r.randint(1, 9999):04}"
    return [f"{area:03}-{tail}", f"{r.choice([0, 666, 900, 999]):03}-{r.randint(1, 44):02}-{tail[3:]}"]


@scheme("ca-sin", "CA", "SIN")
def _(r: Random) -> list[str]:
    body = digits(r, 8, "1234567")
    return checked("### ### ###", body, luhn(body))


@scheme("nl-bsn", "NL", "BSN")
def _(r: Random) -> list[str]:
    while True:
        body = digits(r, 8, "123456789")
        check = total(body, [9, 8, 7, 6, 5, 4, 3, 2]) % 11
        if check < 10:
            return checked("#########", body, str(check))


@scheme("fr-nir", "FR", "")
def _(r: Random) -> list[str]:
    body = r.choice("12") + f"{r.randint(30, 99)}{r.randint(1, 12):02}{r.randint(1, 95):02}{digits(r, 6)}"
    check = 97 - int(body) % 97
    form = "# ## ## ## ### ### ##"
    return [put(form, body + f"{check:02}"), put(form, body + f"{check % 97 + 1:02}")]


@scheme("be-nrn", "BE", "")
def _(r: Random) -> list[str]:
    body = date(r) + f"{r.randint(1, 997):03}"
    check = 97 - int(body) % 97
    wrong = next(c for c in range(1, 98) if c != check and c != 97 - int("2" + body) % 97)
    return [put("##.##.##-###.##", body + f"{check:02}"), put("##.##.##-###.##", body + f"{wrong:02}")]


@scheme("de-idnr", "DE", "Steuer-ID")
def _(r: Random) -> list[str]:
    while True:
        ten = r.sample("0123456789", 9)
        ten.insert(r.randint(0, 9), r.choice(ten))
        if ten[0] != "0":
            break
    product = 10
    for c in ten:
        sums = (int(c) + product) % 10 or 10
        product = sums * 2 % 11
    return checked("## ### ### ###", "".join(ten), str((11 - product) % 10))


@scheme("hr-oib", "HR", "OIB")
def _(r: Random) -> list[str]:
    body = digits(r, 10)
    product = 10
    for c in body:
        product = ((int(c) + product) % 10 or 10) * 2 % 11
    return checked("###########", body, str((11 - product) % 10))


@scheme("de-rvnr", "DE", "Rentenversicherungsnummer")
def _(r: Random) -> list[str]:
    letter = r.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    head, serial = f"{r.randint(2, 89):02}" + date(r, "dmy"), f"{r.randint(0, 99):02}"
    spelt = head + f"{ord(letter) - 64:02}" + serial
    sums = sum(
        sum(map(int, str(int(c) * w)))
        for c, w in zip(spelt, [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1], strict=True)
    )
    return [head + letter + serial + str(sums % 10), head + letter + serial + str((sums + 1) % 10)]


@scheme("at-svnr", "AT", "SVNR")
def _(r: Random) -> list[str]:
    while True:
        serial, born = digits(r, 3, "123456789"), date(r, "dmy")
        check = total(serial + born, [3, 7, 9, 5, 8, 4, 2, 1, 6]) % 11
        if check < 10:
            return [f"{serial}{check} {born}", f"{serial}{(check + 1) % 10} {born}"]


@scheme("ch-ahv", "CH", "")
def _(r: Random) -> list[str]:
    body = "756" + digits(r, 9)
    check = -total(body, [1, 3] * 6) % 10
    return checked("###.####.####.##", body, str(check))


@scheme("es-dni", "ES", "")
def _(r: Random) -> list[str]:
    body = digits(r, 8)
    letters = "TRWAGMYFPDXBNJZSQVHLCKE"
    check = letters[int(body) % 23]
    return [body + check, body + other(check, letters)]


@scheme("es-nie", "ES", "")
def _(r: Random) -> list[str]:
    letters = "TRWAGMYFPDXBNJZSQVHLCKE"
    first, body = r.randint(0, 2), digits(r, 7)
    check = letters[int(f"{first}{body}") % 23]
    return ["XYZ"[first] + body + check, "XYZ"[first] + body + other(check, letters)]


@scheme("pt-nif", "PT", "NIF")
def _(r: Random) -> list[str]:
    body = digits(r, 8, "12356789")
    rest = total(body, [9, 8, 7, 6, 5, 4, 3, 2]) % 11
    return checked("### ### ###", body, str(0 if rest < 2 else 11 - rest))


@scheme("it-cf", "IT", "")
def _(r: Random) -> list[str]:
    odd = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]
    name = "".join(r.choice("BCDFGLMNPRSTVZ") for _ in range(6))
    body = (
        name
        + f"{r.randint(0, 99):02}"
        + r.choice("ABCDEHLMPRST")
        + f"{r.randint(1, 28):02}"
        + r.choice("ABCDEFGHIL")
        + digits(r, 3)
    )
    value = lambda c: int(c) if c.isdigit() else ord(c) - 65  # noqa: E731
    sums = sum(odd[value(c)] if i % 2 == 0 else value(c) for i, c in enumerate(body))
    return [body + chr(65 + sums % 26), body + chr(65 + (sums + 1) % 26)]


@scheme("it-piva", "IT", "partita IVA")
def _(r: Random) -> list[str]:
    body = digits(r, 10)
    return checked("###########", body, luhn(body))


@scheme("uk-nhs", "GB", "NHS number")
def _(r: Random) -> list[str]:
    while True:
        body = digits(r, 9, "456789")
        check = (11 - total(body, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11
        if check < 10:
            return checked("### ### ####", body, str(check))


@scheme("uk-nino", "GB", "")
def _(r: Random) -> list[str]:
    first, second = r.choice("ABCEHJLMNPRSWXYZ"), r.choice("ABCEHJLMPRSWXYZ")
    body = digits(r, 6)
    return [
        f"{first}{second} {body[:2]} {body[2:4]} {body[4:]} {r.choice('ABCD')}",
        f"{r.choice('DFIQUV')}{second} {body[:2]} {body[2:4]} {body[4:]} A",
    ]


@scheme("uk-utr", "GB", "UTR")
def _(r: Random) -> list[str]:
    body = digits(r, 9)
    check = "21987654321"[total(body, [6, 7, 8, 9, 10, 5, 4, 3, 2]) % 11]
    return [check + body, other(check) + body if other(check) != "0" else "0" + body]


@scheme("ie-pps", "IE", "")
def _(r: Random) -> list[str]:
    body, letters = digits(r, 7), "WABCDEFGHIJKLMNOPQRSTUV"
    check = letters[total(body, [8, 7, 6, 5, 4, 3, 2]) % 23]
    return [body + check, body + other(check, letters)]


@scheme("no-fnr", "NO", "fødselsnummer")
def _(r: Random) -> list[str]:
    while True:
        body = date(r, "dmy") + digits(r, 3)
        one = (11 - total(body, [3, 7, 6, 1, 8, 9, 4, 5, 2]) % 11) % 11
        two = (11 - total(body + str(one)[-1], [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11
        if one < 10 and two < 10:
            return checked("###########", body + str(one), str(two))


@scheme("se-pnr", "SE", "")
def _(r: Random) -> list[str]:
    body = date(r) + digits(r, 3)
    return checked("######-####", body, luhn(body))


@scheme("fi-hetu", "FI", "")
def _(r: Random) -> list[str]:
    born, serial, letters = date(r, "dmy"), f"{r.randint(2, 899):03}", "0123456789ABCDEFHJKLMNPRSTUVWXY"
    check = letters[int(born + serial) % 31]
    mark = r.choice("-A")
    return [born + mark + serial + check, born + mark + serial + other(check, letters)]


@scheme("dk-cpr", "DK", "")
def _(r: Random) -> list[str]:
    tail = digits(r, 4)
    return [f"{date(r, 'dmy')}-{tail}", f"{r.randint(32, 99)}{r.randint(13, 99)}{r.randint(10, 99)}-{tail}"]


@scheme("is-kt", "IS", "kennitala")
def _(r: Random) -> list[str]:
    while True:
        body = date(r, "dmy") + digits(r, 2)
        check = (11 - total(body, [3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11
        if check < 10:
            return [
                put("######-####", body + str(check) + "9"),
                put("######-####", body + other(str(check)) + "9"),
            ]


@scheme("ee-ik", "EE", "isikukood")
def _(r: Random) -> list[str]:
    body = r.choice("3456") + date(r) + digits(r, 3)
    check = total(body, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11
    if check == 10:
        check = total(body, [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11 % 10
    return checked("###########", body, str(check))


@scheme("pl-pesel", "PL", "PESEL")
def _(r: Random) -> list[str]:
    body = date(r) + digits(r, 4)
    return checked("###########", body, str(-total(body, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10))


@scheme("pl-nip", "PL", "NIP")
def _(r: Random) -> list[str]:
    while True:
        body = digits(r, 9, "123456789")
        check = total(body, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11
        if check < 10:
            return checked("###-###-##-##", body, str(check))


@scheme("cz-rc", "CZ", "")
def _(r: Random) -> list[str]:
    while True:
        body = (
            f"{r.randint(54, 99)}{r.choice([0, 50]) + r.randint(1, 12):02}{r.randint(1, 28):02}{digits(r, 3)}"
        )
        check = int(body) % 11
        if check < 10:
            good = (
                next(c for c in range(10) if int(body + str(c)) % 11 == 0)
                if any(int(body + str(c)) % 11 == 0 for c in range(10))
                else None
            )
            if good is not None:
                return checked("######/####", body, str(good))


@scheme("ro-cnp", "RO", "CNP")
def _(r: Random) -> list[str]:
    body = r.choice("12") + date(r) + f"{r.randint(1, 46):02}" + digits(r, 3)
    check = total(body, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11
    return checked("#############", body, str(1 if check == 10 else check))


@scheme("bg-egn", "BG", "ЕГН")
def _(r: Random) -> list[str]:
    body = date(r) + digits(r, 3)
    return checked("##########", body, str(total(body, [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10))


@scheme("jmbg", "RS", "JMBG")
def _(r: Random) -> list[str]:
    while True:
        body = f"{r.randint(1, 28):02}{r.randint(1, 12):02}9{r.randint(40, 99)}{digits(r, 5)}"
        rest = total(body, [7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11
        if rest != 1:
            return checked("#############", body, str(0 if rest == 0 else 11 - rest))


@scheme("ru-inn", "RU", "ИНН")
def _(r: Random) -> list[str]:
    body = digits(r, 10)
    body += str(total(body, [7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10)
    return checked("############", body, str(total(body, [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10))


@scheme("ru-snils", "RU", "")
def _(r: Random) -> list[str]:
    body = digits(r, 9, "123456789")
    check = total(body, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101 % 100
    return [
        put("###-###-### ##", body + f"{check:02}"),
        put("###-###-### ##", body + f"{(check + 1) % 100:02}"),
    ]


@scheme("ua-tin", "UA", "РНОКПП")
def _(r: Random) -> list[str]:
    body = digits(r, 9, "123456789")
    return checked("##########", body, str(total(body, [-1, 5, 7, 9, 4, 6, 10, 5, 7]) % 11 % 10))


@scheme("tr-id", "TR", "TC kimlik")
def _(r: Random) -> list[str]:
    body = digits(r, 9, "123456789")
    ten = (sum(map(int, body[::2])) * 7 - sum(map(int, body[1::2]))) % 10
    eleven = (sum(map(int, body)) + ten) % 10
    return checked("###########", body + str(ten), str(eleven))


@scheme("cn-id", "CN", "")
def _(r: Random) -> list[str]:
    body = r.choice(["110105", "310101", "440305"]) + f"{r.randint(1950, 2005)}{date(r, 'md')}{digits(r, 3)}"
    check = "10X98765432"[sum(int(c) * (2 ** (17 - i) % 11) for i, c in enumerate(body)) % 11]
    return [body + check, body + other(check, "0123456789X")]


@scheme("kr-rrn", "KR", "")
def _(r: Random) -> list[str]:
    body = date(r) + r.choice("12") + digits(r, 5)
    check = (11 - total(body, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11) % 10
    return checked("######-#######", body, str(check))


@scheme("jp-mynumber", "JP", "マイナンバー")
def _(r: Random) -> list[str]:
    body = digits(r, 11)
    rest = sum(int(c) * (n + 1 if n <= 6 else n - 5) for n, c in enumerate(reversed(body), 1)) % 11
    return checked("#### #### ####", body, str(0 if rest <= 1 else 11 - rest))


@scheme("in-aadhaar", "IN", "Aadhaar")
def _(r: Random) -> list[str]:
    # Verhoeff by composition of permutations of the pentagon's symmetries, by brute force over the check
    body = digits(r, 11, "23456789")
    check = next(c for c in "0123456789" if verhoeff(body + c))
    return checked("#### #### ####", body, check)


def verhoeff(text: str) -> bool:
    turn = {"0": 1, "1": 5, "2": 7, "3": 6, "4": 2, "5": 8, "6": 3, "7": 0, "8": 9, "9": 4}
    corners = list(range(5))

    def act(element: int) -> list[int]:
        return (
            [(element + c) % 5 for c in corners] if element < 5 else [(element - 5 - c) % 5 for c in corners]
        )

    state = corners
    for place, c in enumerate(reversed(text)):
        value = int(c)
        for _ in range(place % 8):
            value = turn[str(value)]
        move = act(value)
        state = [state[m] for m in move]
    return state == corners


@scheme("in-gstin", "IN", "")
def _(r: Random) -> list[str]:
    alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    letters = lambda n: "".join(r.choice("ABCDEFGHJKLMNPRSTUV") for _ in range(n))  # noqa: E731
    body = f"{r.randint(1, 37):02}{letters(5)}{digits(r, 4)}{letters(1)}1Z"
    sums = sum(sum(divmod(alphabet.index(c) * (1 + i % 2), 36)) for i, c in enumerate(body))
    check = alphabet[-sums % 36]
    return [body + check, body + other(check, alphabet)]


@scheme("sg-nric", "SG", "")
def _(r: Random) -> list[str]:
    first, body = r.choice("STFG"), digits(r, 7)
    sums = total(body, [2, 7, 6, 5, 4, 3, 2]) + (4 if first in "TG" else 0)
    letters = "JZIHGFEDCBA" if first in "ST" else "XWUTRQPNMLK"
    return [first + body + letters[sums % 11], first + body + letters[(sums + 1) % 11]]


@scheme("hk-id", "HK", "")
def _(r: Random) -> list[str]:
    letter, body = r.choice("ABCDEGHKMPRSVYZ"), digits(r, 6)
    sums = 36 * 9 + (ord(letter) - 55) * 8 + total(body, [7, 6, 5, 4, 3, 2])
    check = "0123456789A"[-sums % 11]
    return [f"{letter}{body}({check})", f"{letter}{body}({other(check, '0123456789A')})"]


@scheme("tw-id", "TW", "身分證")
def _(r: Random) -> list[str]:
    letter, body = r.choice("ABCDEFGH"), r.choice("12") + digits(r, 7)
    county = ord(letter) - 55
    sums = county // 10 + county % 10 * 9 + total(body, [8, 7, 6, 5, 4, 3, 2, 1])
    return checked("##########", letter + body, str(-sums % 10))


@scheme("th-id", "TH", "")
def _(r: Random) -> list[str]:
    body = digits(r, 12, "12345678")
    return checked("#-####-#####-##-#", body, str((11 - total(body, list(range(13, 1, -1))) % 11) % 10))


@scheme("il-id", "IL", "teudat zehut")
def _(r: Random) -> list[str]:
    body = digits(r, 8)
    return checked("#########", body, luhn(body))


@scheme("za-id", "ZA", "ID number")
def _(r: Random) -> list[str]:
    body = date(r) + digits(r, 4) + r.choice("01") + "8"
    return checked("#############", body, luhn(body))


@scheme("ae-id", "AE", "")
def _(r: Random) -> list[str]:
    body = "784" + str(r.randint(1950, 2010)) + digits(r, 7)
    return checked("###-####-#######-#", body, luhn(body))


@scheme("au-tfn", "AU", "TFN")
def _(r: Random) -> list[str]:
    while True:
        body = digits(r, 8, "123456789")
        good = [c for c in "0123456789" if total(body + c, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 == 0]
        if good:
            return checked("### ### ###", body, good[0])


@scheme("au-abn", "AU", "")
def _(r: Random) -> list[str]:
    while True:
        body = digits(r, 10, "123456789")
        good = [
            c
            for c in "0123456789"
            if (total(body + c, [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) - 10) % 89 == 0
        ]
        if good:
            return checked("## ### ### ###", body, good[0])


@scheme("nz-ird", "NZ", "IRD")
def _(r: Random) -> list[str]:
    while True:
        body = f"{r.randint(10_000_00, 14_999_999):08}"
        check = -total(body, [3, 2, 7, 6, 5, 4, 3, 2]) % 11
        if check == 10:
            check = -total(body, [7, 4, 3, 2, 5, 2, 7, 6]) % 11
        if check < 10 and int(body) > 1_000_000:
            return checked("###-###-###", body, str(check))


@scheme("mx-curp", "MX", "")
def _(r: Random) -> list[str]:
    alphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
    letters = lambda n: "".join(r.choice("BCDFGLMNPRSTV") for _ in range(n))  # noqa: E731
    body = letters(4) + date(r) + r.choice("HM") + "DF" + letters(3) + "0"
    sums = sum(alphabet.index(c) * w for c, w in zip(body, range(18, 1, -1), strict=True))
    return [body + str(-sums % 10), body + str((1 - sums) % 10)]


@scheme("ar-cuit", "AR", "")
def _(r: Random) -> list[str]:
    while True:
        body = r.choice(["20", "27", "23", "30"]) + digits(r, 8)
        check = (11 - total(body, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11
        if check < 9:
            return checked("##-########-#", body, str(check))


@scheme("cl-rut", "CL", "RUT")
def _(r: Random) -> list[str]:
    body = digits(r, 8, "12")
    sums = sum(int(c) * w for c, w in zip(reversed(body), [2, 3, 4, 5, 6, 7, 2, 3], strict=True))
    check = "0123456789K"[-sums % 11]
    return [put("##.###.###-#", body + check), put("##.###.###-#", body + other(check, "0123456789K"))]


@scheme("co-nit", "CO", "")
def _(r: Random) -> list[str]:
    body = digits(r, 9, "89")
    rest = total(body, [41, 37, 29, 23, 19, 17, 13, 7, 3]) % 11
    return checked("###.###.###-#", body, str(rest if rest < 2 else 11 - rest))


@scheme("ec-ci", "EC", "cédula")
def _(r: Random) -> list[str]:
    body = f"{r.randint(1, 24):02}{r.randint(0, 5)}{digits(r, 6)}"
    return checked("##########", body, luhn(body))


@scheme("uy-ci", "UY", "")
def _(r: Random) -> list[str]:
    body = digits(r, 7, "12345")
    return checked("#.###.###-#", body, str(-total(body, [2, 9, 8, 7, 6, 3, 4]) % 10))


@scheme("lu-ccss", "LU", "matricule")
def _(r: Random) -> list[str]:
    body = f"{r.randint(1940, 2010)}{date(r, 'md')}{digits(r, 3)}"
    one = luhn(body)
    two = next(c for c in "0123456789" if verhoeff(body + c))
    return checked("#############", body + one, two)


@scheme("gr-amka", "GR", "AMKA")
def _(r: Random) -> list[str]:
    body = date(r, "dmy") + digits(r, 4)
    return checked("###########", body, luhn(body))


@scheme("gr-afm", "GR", "AFM")
def _(r: Random) -> list[str]:
    body = digits(r, 8)
    return checked("#########", body, str(sum(int(c) * 2 ** (8 - i) for i, c in enumerate(body)) % 11 % 10))


@scheme("hu-taj", "HU", "TAJ")
def _(r: Random) -> list[str]:
    body = digits(r, 8)
    return checked("### ### ###", body, str(total(body, [3, 7] * 4) % 10))


@scheme("kz-iin", "KZ", "ИИН")
def _(r: Random) -> list[str]:
    while True:
        body = date(r) + r.choice("3456") + digits(r, 4)
        check = total(body, list(range(1, 12))) % 11
        if check == 10:
            check = total(body, [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2]) % 11
        if check < 10:
            return checked("############", body, str(check))


@scheme("us-routing", "US", "routing number")
def _(r: Random) -> list[str]:
    body = f"{r.randint(1, 12):02}{digits(r, 6)}"
    return checked("#########", body, str(-total(body, [3, 7, 1, 3, 7, 1, 3, 7]) % 10))


@scheme("us-npi", "US", "NPI")
def _(r: Random) -> list[str]:
    body = r.choice("12") + digits(r, 8)
    return checked("##########", body, luhn("80840" + body))


@scheme("imei", "US", "IMEI")
def _(r: Random) -> list[str]:
    body = digits(r, 14, "3")
    return checked("###############", body, luhn(body))


@scheme("fr-siret", "FR", "SIRET")
def _(r: Random) -> list[str]:
    siren = digits(r, 8, "3456789")
    body = siren + luhn(siren) + "0001"
    return checked("### ### ### #####", body, luhn(body))


@scheme("lv-pk", "LV", "personas kods")
def _(r: Random) -> list[str]:
    body = date(r, "dmy") + r.choice("12") + digits(r, 3)
    sums = (1 + total(body, [10, 5, 8, 4, 2, 1, 6, 3, 7, 9])) % 11 % 10
    return checked("######-#####", body, str(sums))


@scheme("do-cedula", "DO", "")
def _(r: Random) -> list[str]:
    body = digits(r, 10, "0")
    return checked("###-#######-#", body, luhn(body))
