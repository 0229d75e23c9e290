"""Enough of JSON Schema for our own documents."""

import re

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref"}
BOUNDS = {"minItems", "maxItems", "prefixItems", "minimum", "maximum", "pattern"}
HEADINGS = {"$schema", "$id", "title", "description", "$defs"}


def is_a(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def problems(value, schema, root, place="$"):
    """What of the value does not fit the schema; the root holds the definitions."""
    assert schema.keys() <= KEYWORDS | BOUNDS | HEADINGS
    if "$ref" in schema:
        return problems(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, place)
    if "anyOf" in schema:
        tried = [problems(value, option, root, place) for option in schema["anyOf"]]
        return [] if [] in tried else tried[0]
    if "const" in schema and value != schema["const"]:
        return [f"{place}: {value!r} is not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place}: {value!r} is not one of {schema['enum']}"]
    names = schema.get("type", list(TYPES))
    if not any(is_a(value, name) for name in ([names] if isinstance(names, str) else names)):
        return [f"{place}: {value!r} is not {names}"]
    found = []
    if isinstance(value, list) and not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        found.append(f"{place}: holds {len(value)}")
    if is_a(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{place}: {value} is out of bounds")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append(f"{place}: {value!r} does not match {schema['pattern']}")
    places = value if isinstance(value, list) else []
    for index, (item, wanted) in enumerate(zip(places, schema.get("prefixItems", ()), strict=False)):
        found += problems(item, wanted, root, f"{place}[{index}]")
    if isinstance(value, list) and schema.get("items"):
        for index, item in enumerate(value):
            found += problems(item, schema["items"], root, f"{place}[{index}]")
    if isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        found += [f"{place}.{name}: is missing" for name in schema.get("required", []) if name not in value]
        for name, item in value.items():
            if name in known or isinstance(others, dict):
                found += problems(item, known.get(name, others), root, f"{place}.{name}")
            elif others is False:
                found.append(f"{place}.{name}: is not in the schema")
    return found
