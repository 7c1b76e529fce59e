"""What Spanish grammar asks of a number: "un", "una" or "uno" at its end."""

from __future__ import annotations

from appliance.speak.rules import word_list

_FEMININE_ENDINGS = ("a", "as", "ción", "sión", "ciones", "siones", "dad", "dades", "tud", "umbre", "umbres")
_FEMININE = frozenset(
    word_list(
        "noche noches tarde tardes mujer mujeres vez veces clase clases parte partes calle calles llave llaves leche"
        " nube nubes frase frases serie series imagen imágenes luz luces flor flores voz voces señal señales red redes"
    )
)
_MASCULINE = frozenset(
    word_list(
        "día días mapa mapas problema problemas programa programas sistema sistemas tema temas planeta planetas idioma"
        " idiomas clima climas sofá sofás poema poemas diagrama diagramas telegrama euro euros"
    )
)
#: No nouns: a number before these counts nothing that is named.
_NO_NOUNS = frozenset(
    word_list(
        "y e o u de del a al en por para con sin es son era fue que se no sí más menos hasta desde entre ni la las el"
        " los lo le les un una su sus mi mis tu tus está están hay pero como cuando coma punto igual mil"
    )
)


def form_of_one(noun: str) -> str:
    """How a number that ends in a one ends before ``noun``: "un", "una"; "uno" when it is no noun."""
    word = noun.lower()
    if not word or word in _NO_NOUNS:
        return "uno"
    if word in _MASCULINE:
        return "un"
    return "una" if word in _FEMININE or word.endswith(_FEMININE_ENDINGS) else "un"


def form_of_gender(gender: str) -> str:
    """The same, for a gender: "m", "f", or "x" for what is no noun."""
    return {"m": "un", "f": "una"}.get(gender, "uno")
