"""Holds the admin API's document to OpenAPI, and answers to the document.

Standard input is {"document": ..., "answers": [{"method", "path", "status", "body"}, ...]}. Every mistake is a line of
standard output; nothing is printed when there is none.
"""

import json
import sys

from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator


def closed(schema):
    """Objects as closed as they are written: an answer has no key that the document lacks."""
    if isinstance(schema, dict):
        told = {key: closed(value) for key, value in schema.items()}
        if "properties" in told and "additionalProperties" not in told:
            told["additionalProperties"] = False
        return told
    return [closed(item) for item in schema] if isinstance(schema, list) else schema


def schema_of(document, method, path, status):
    responses = document["paths"][path][method.lower()]["responses"]
    response = responses.get(str(status)) or responses[f"{str(status)[0]}XX"]
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    return next(iter(response["content"].values()))["schema"]


def main():
    asked = json.load(sys.stdin)
    document = asked["document"]
    for error in OpenAPIV31SpecValidator(document).iter_errors():
        print(f"document: {error.json_path}: {error.message}")
    components = {"schemas": closed(document["components"]["schemas"])}
    for answer in asked["answers"]:
        place = f"{answer['method']} {answer['path']} {answer['status']}"
        schema = schema_of(document, answer["method"], answer["path"], answer["status"])
        schema = {"components": components, "allOf": [schema]}
        for error in Draft202012Validator(schema).iter_errors(answer["body"]):
            print(f"{place}: {error.json_path}: {error.message}")


main()
