"""The packs of domains: how people in finance, health, support and software ask."""

from __future__ import annotations

from faultwire.mutations._packs import Pack, packed

FINANCE = Pack(
    "finance",
    "1",
    "domain",
    "asked as in finance: accounts, amounts, deadlines, approvals",
    (
        "For the {close} of account {account}: {prompt} Amounts in {currency}, {rounding}.",
        "{prompt} Please reconcile it with ledger {account}, there is a difference of {amount} {currency}.",
        "Our auditor {name} asks: {prompt} State the value date and the booking date.",
        "{prompt} Treat {amount} {currency} as a reversal, not as a second payment.",
        "Cost centre {account}, budget {amount} {currency}, four-eyes approval by {name} pending. {prompt}",
        "{prompt} If the rate of {currency} is older than today, say so before you convert.",
    ),
    {
        "close": ("month-end close", "quarterly closing", "year-end accruals", "intercompany reconciliation"),
        "account": ("4400-01", "1200", "8125.EUR", "GL 0070"),
        "currency": ("EUR", "USD", "JPY", "CHF", "KWD"),
        "rounding": ("half-even rounding", "no rounding", "rounded to whole units", "three decimal places"),
        "amount": ("0.01", "-1,250.00", "99,999.995", "1e6", "12.50"),
        "name": ("Ines", "Tomo", "Ravi", "Klara"),
    },
)
HEALTH = Pack(
    "health",
    "1",
    "domain",
    "asked as in health care: doses, units, intervals, consent",
    (
        "For the patient in bed {bed}: {prompt} Give doses in {unit}, and name what you are not sure of.",
        "{prompt} Known: {finding}. Allergies: {allergy}.",
        "Handover note by {name}, {shift} shift. {prompt} Last dose {interval} ago.",
        "{prompt} The lab reports {value} {unit}; say whether that is the unit you expect.",
        "Consent for sharing is {consent}. {prompt}",
        "Ward round, {finding}: {prompt} Do not guess where the chart is silent.",
    ),
    {
        "bed": ("12B", "4", "07-W", "ICU 3"),
        "unit": ("mg", "micrograms", "mmol/L", "mg/dL", "IU"),
        "finding": ("suspected dehydration", "blood pressure 85/50", "no fever", "weight 4.2 kg"),
        "allergy": ("none recorded", "penicillin (unconfirmed)", "latex", "not asked"),
        "name": ("nurse Aiko", "Dr. Lena", "midwife Sara", "Dr. Omar"),
        "shift": ("night", "early", "late"),
        "interval": ("30 min", "6 h", "about a day", "an unknown time"),
        "value": ("0.9", "<0.01", "180", "7.35"),
        "consent": ("given", "withdrawn", "not documented", "given by a relative"),
    },
)
SUPPORT = Pack(
    "support",
    "1",
    "domain",
    "asked as customers of support do: tickets, orders, refunds, complaints",
    (
        "Ticket {ticket}, {channel}: {prompt} This is the {nth} time I write.",
        "{prompt} My order is {order}, but the mail says {other}.",
        "Hi, {name} here. {prompt} Your colleague promised me {promise}.",
        "{prompt} If not, I want {promise}. You can reach me at {name}@example.com.",
        "Re: Re: Fwd: your message\n> {prompt}\nSee above!! Order {order}.",
        "{prompt} (sent from my phone, the app shows {error})",
    ),
    {
        "ticket": ("#10442", "CASE-7", "2026/003", "INC0000001"),
        "channel": ("by chat", "by mail", "from the app", "after a call"),
        "nth": ("second", "fourth", "last"),
        "order": ("7", "A-1009", "ord_00x7", "100-0000007"),
        "other": ("8", "A-1010", "cancelled", "two parcels"),
        "name": ("jo", "maria", "sven", "amina"),
        "promise": ("a refund", "free shipping", "a replacement by Friday", "20 % off"),
        "error": ("error 418", "a white page", "'undefined'", "somebody else's order"),
    },
)
CODE = Pack(
    "code",
    "1",
    "domain",
    "asked as by developers: logs, diffs, versions, paths",
    (
        "{prompt}\n\n```text\n{log}\n```",
        "In {file} on branch {branch}: {prompt} Do not touch the tests.",
        "{prompt} It has to work with {version} too.",
        "```diff\n- {old}\n+ {new}\n```\n{prompt} Is that what this change does?",
        "TODO({name}): {prompt}",
        "CI is red since commit {commit}: `{log}`. {prompt}",
    ),
    {
        "log": (
            "Traceback (most recent call last): KeyError: 'total'",
            "panic: runtime error: index out of range [3] with length 3",
            "npm ERR! code ERESOLVE",
            "Segmentation fault (core dumped)",
        ),
        "file": ("src/cart/total.py", "pkg/api/v2/order_test.go", "index.tsx", "Makefile"),
        "branch": ("main", "release/2.x", "fix/rounding", "detached HEAD"),
        "version": ("Python 3.9", "Node 16", "Go 1.20", "glibc 2.28"),
        "old": ("return a + b", "timeout = 30", "if x == None:"),
        "new": ("return a - b", "timeout = 30_000", "if x is None:"),
        "name": ("mika", "jun", "ana"),
        "commit": ("0000abc", "deadbee", "1f2e3d4"),
    },
)
PACKS = tuple(map(packed, (FINANCE, HEALTH, SUPPORT, CODE)))
