"""What a number can measure: values in base units, and the unit words of five languages."""

from __future__ import annotations

from typing import NamedTuple


class Value(NamedTuple):
    """One value of a statement.

    Attributes:
        dimension: what it measures ("mass", "money:eur", "clock", "date", "weekday", "of:guest", "plain", ...).
        amount: its size in the base unit; for dates (year, month, day) with 0 for unknown; for clocks (minute of the day, 1 if
            the half of the day is known else 0).
        item: key of what is counted or measured, "" if unknown.
        at: number of content keys read before it.
    """

    dimension: str
    amount: float | tuple[int, ...]
    item: str
    at: int


def _table(*lines: tuple[str, float, str]) -> dict[str, tuple[str, float]]:
    return {unit: (dimension, factor) for dimension, factor, units in lines for unit in units.split()}


UNITS: dict[str, tuple[str, float]] = _table(
    ("mass", 1e-3, "mg milligram milligrams miligramos 밀리그램"),
    ("mass", 1, "g gram grams gramm gramos gramas 그램"),
    ("mass", 1e3, "kg kilo kilos kilogram kilograms kilogramm kilogramos 킬로그램 킬로"),
    ("mass", 1e6, "tonne tonnes tonnen toneladas"),
    ("mass", 453.592, "lb lbs"),
    ("volume", 1e-3, "ml millilitre millilitres milliliter milliliters mililitros 밀리리터"),
    ("volume", 1e-2, "cl"),
    ("volume", 1, "l litre litres liter liters litro litros 리터"),
    ("length", 1e-3, "mm millimetres"),
    ("length", 1e-2, "cm centimetres centimeters zentimeter centímetros 센티미터"),
    ("length", 1, "m metre metres meter meters metro metros 미터"),
    ("length", 1e3, "km kilometre kilometres kilometer kilometers kilómetros quilômetros quilómetros 킬로미터 킬로"),
    ("length", 1609.344, "mile miles mi"),
    ("speed", 1, "km/h kmh kph"),
    ("speed", 1.609344, "mph"),
    ("duration", 1e-3, "ms millisecond milliseconds millisekunden"),
    ("duration", 1, "s sec secs second seconds sekunde sekunden segundo segundos 초"),
    ("duration", 60, "min mins minute minutes minuten minuto minutos 분"),
    ("duration", 3600, "h hr hrs hour hours stunde stunden hora horas 시간"),
    ("duration", 86400, "day days tag tage tagen día días dia dias 일"),
    ("duration", 604800, "week weeks woche wochen semana semanas 주"),
    ("months", 1, "month months monat monate monaten mes meses mês 개월"),
    ("months", 12, "year years jahr jahre jahren año años ano anos"),
    ("bytes", 1e3, "kb"),
    ("bytes", 1e6, "mb"),
    ("bytes", 1e9, "gb"),
    ("bytes", 1e12, "tb"),
    ("bytes", 1024, "kib"),
    ("bytes", 1024**2, "mib"),
    ("bytes", 1024**3, "gib"),
    ("bytes", 1024**4, "tib"),
    ("percent", 1, "% percent per_cent prozent porciento 퍼센트 프로"),
    ("temperature", 1, "° °c degrees grad grados graus 도"),
    ("money:eur", 1, "€ eur euro euros"),
    ("money:usd", 1, "$ usd dollar dollars dólares 달러"),
    ("money:gbp", 1, "£ gbp quid pounds"),
    ("money:krw", 1, "₩ krw won 원"),
    ("money:brl", 1, "reais real brl"),
    ("money:jpy", 1, "¥ jpy yen"),
    ("money:chf", 1, "chf franken"),
    ("money:mxn", 1, "pesos"),
    ("heart", 1, "bpm"),
    ("power", 1, "watt watts w"),
    ("power", 1e3, "kw"),
    ("energy", 1, "kwh"),
    ("energy_food", 1, "kcal calories"),
)
"""Unit word -> (dimension, factor to its base unit)."""
