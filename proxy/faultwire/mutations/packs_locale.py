"""The packs of locales: a sentence of the language around the prompt, and numbers and dates as people write
them there (Unicode CLDR 45: decimal and grouping signs, short dates, default digits)."""

from __future__ import annotations

from faultwire.mutations._packs import Format, Pack, packed

DE = Pack(
    "locale_de",
    "1",
    "locale",
    "German around it; 12.345,50 and 01.03.2026",
    (
        "Guten Tag, {prompt} Bitte antworten Sie auf Deutsch. Viele Grüße aus {city}, {name}",
        "Eine Frage zu meiner Bestellung bei {firm}: {prompt}",
        "{prompt} Das eilt, die Frist endet am {date}.",
        "Laut Rechnung sind es {amount}. {prompt}",
        "{prompt} (Anschrift: Größenstraße 7, {city})",
    ),
    {
        "city": ("Köln", "München", "Görlitz", "Weißenfels"),
        "name": ("Jürgen", "Käthe", "Sören", "Anneliese"),
        "firm": ("Musterhandel GmbH", "Beispielwerke AG", "Café Übermut"),
        "date": ("01.03.2026", "31.12.2026", "5.6.2026"),
        "amount": ("1.234,50 €", "0,99 €", "12.000,00 €"),
    },
    Format(",", ".", "{d}.{m}.{y}"),
)
FR = Pack(
    "locale_fr",
    "1",
    "locale",
    "French around it; 12 345,50 and 01/03/2026",
    (
        "Bonjour, {prompt} Merci de répondre en français. {name}, {city}",
        "Au sujet de ma commande chez {firm}\u00a0: {prompt}",
        "{prompt} C’est urgent, le délai expire le {date}.",
        "La facture indique {amount}. {prompt}",
        "{prompt} Est-ce bien cela\u00a0?",
    ),
    {
        "city": ("Besançon", "Nîmes", "Orléans", "Saint-Étienne"),
        "name": ("Zoé", "François", "Hélène", "Loïc"),
        "firm": ("Société Exemple SARL", "Les Établis réunis", "Maison Témoin"),
        "date": ("01/03/2026", "31/12/2026"),
        "amount": ("1\u202f234,50\u00a0€", "0,99\u00a0€", "12\u202f000,00\u00a0€"),
    },
    Format(",", "\u202f", "{d}/{m}/{y}"),
)
ES = Pack(
    "locale_es",
    "1",
    "locale",
    "Spanish around it; 12.345,50 and 1/3/2026",
    (
        "Buenos días: {prompt} Responda en español, por favor. {name}, {city}",
        "Sobre mi pedido a {firm}: {prompt}",
        "{prompt} Es urgente, el plazo vence el {date}.",
        "Según la factura son {amount}. {prompt}",
        "¡Hola! {prompt} ¿Es correcto?",
    ),
    {
        "city": ("Cádiz", "Logroño", "Málaga", "A Coruña"),
        "name": ("Íñigo", "Begoña", "Ángel", "Lucía"),
        "firm": ("Ejemplo y Compañía, S. L.", "Almacenes Muestra", "Cafetería El Ñandú"),
        "date": ("1/3/2026", "31/12/2026"),
        "amount": ("1234,50 €", "0,99 €", "12.000,00 €"),
    },
    Format(",", ".", "{D}/{M}/{y}"),
)
JA = Pack(
    "locale_ja",
    "1",
    "locale",
    "Japanese around it; 12,345.5 and 2026/03/01",
    (
        "お世話になっております。{prompt} 日本語でお答えください。{city}の{name}より",
        "{firm}の注文について:{prompt}",
        "{prompt} 至急お願いします。期限は{date}です。",
        "請求書では{amount}となっています。{prompt}",
        "「{prompt}」とのことですが、正しいでしょうか。",
    ),
    {
        "city": ("札幌", "京都", "那覇", "いわき"),
        "name": ("さくら", "健太", "ユウキ", "美咲"),
        "firm": ("見本商事株式会社", "サンプル製作所", "喫茶れいめい"),
        "date": ("2026年3月1日", "令和8年3月1日", "2026/12/31"),
        "amount": ("¥1,234", "¥98", "12万円"),
    },
    Format(".", ",", "{y}/{m}/{d}"),
)
AR = Pack(
    "locale_ar",
    "1",
    "locale",
    "Arabic around it, from right to left, with direction marks and Arabic digits",
    (
        "السلام عليكم، \u2068{prompt}\u2069 أرجو الرد باللغة العربية. {name}، {city}",
        "بخصوص طلبي من {firm}: \u2068{prompt}\u2069",
        "\u2068{prompt}\u2069 الأمر عاجل، وتنتهي المهلة في {date}.",
        "تذكر الفاتورة {amount}. \u2068{prompt}\u2069",
        "هل هذا صحيح؟ \u2068{prompt}\u2069",
    ),
    {
        "city": ("القاهرة", "عمّان", "الرباط", "مسقط"),
        "name": ("ليلى", "يوسف", "نور", "سامي"),
        "firm": ("شركة النموذج", "متجر المثال", "مقهى الواحة"),
        "date": ("١\u200f/٣\u200f/٢٠٢٦", "٣١\u200f/١٢\u200f/٢٠٢٦"),
        "amount": ("١٬٢٣٤٫٥٠ درهمًا", "٩٩ ريالًا", "١٢٬٠٠٠ جنيه"),
    },
    Format("٫", "٬", "{D}\u200f/{M}\u200f/{y}", "٠١٢٣٤٥٦٧٨٩"),
    rtl=True,
)
HI = Pack(
    "locale_hi",
    "1",
    "locale",
    "Hindi around it; 12,34,567.5 and 1/3/2026",
    (
        "नमस्ते, {prompt} कृपया हिंदी में उत्तर दें। {name}, {city}",
        "{firm} के मेरे ऑर्डर के बारे में: {prompt}",
        "{prompt} यह ज़रूरी है, अंतिम तिथि {date} है।",
        "बिल में {amount} लिखा है। {prompt}",
        "{prompt} क्या यह सही है?",
    ),
    {
        "city": ("जयपुर", "पुणे", "लखनऊ", "इंदौर"),
        "name": ("आशा", "रवि", "मीरा", "अर्जुन"),
        "firm": ("नमूना ट्रेडर्स", "उदाहरण स्टोर", "चाय घर"),
        "date": ("1/3/2026", "1 मार्च 2026", "३१/१२/२०२६"),
        "amount": ("₹1,23,456.50", "₹99", "₹१,२०,०००"),
    },
    Format(".", ",", "{D}/{M}/{y}", indian=True),
)
PACKS = tuple(map(packed, (DE, FR, ES, JA, AR, HI)))
