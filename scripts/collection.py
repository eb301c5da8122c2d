"""Makes the request collection (Postman format 2.1) of openapi.json, and prints it.

usage: collection.py OPENAPI_JSON
"""

import json
import re
import sys
from pathlib import Path

FORMAT = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
# Values with which the examples in the document fit together. Other variables are empty.
VALUES = {
    "baseUrl": "http://127.0.0.1:8080",
    "shopKey": "a-long-secret",
    "provider": "direct",
    "providerOrderId": "WEB-1",
}
ABOUT = {
    "baseUrl": "Address of the service",
    "apiKey": "An API key of the account",
    "shopKey": "The `inboundKey` of the shop's integration",
}
# What operations create under another path than their own: variables, and the fields of the answer.
CREATED = {"place_order": {"orderId": "orderId"}}


def variable(name):
    return "{{" + name + "}}"


class Collection:
    def __init__(self, document):
        self.document = document
        self.paths = document["paths"]
        # In the order in which they are met; a dictionary keeps it.
        self.names = dict.fromkeys(name for path in self.paths for name in re.findall(r"{(\w+)}", path))

    def resolve(self, part):
        while "$ref" in part:
            found = self.document
            for step in part["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            part = found
        return part

    def whole(self):
        folders = {tag["name"]: {"name": tag["name"], "description": tag["description"], "item": []} for tag in self.document["tags"]}
        for path, methods in self.paths.items():
            for method, operation in methods.items():
                folders[operation["tags"][0]]["item"].append(self.item(path, method, operation))
        names = ["baseUrl", "apiKey", "shopKey", *self.names]
        info = self.document["info"]
        return {
            "info": {
                "name": info["title"],
                "description": info["description"],
                "schema": FORMAT,
            },
            "auth": {"type": "bearer", "bearer": [{"key": "token", "value": variable("apiKey"), "type": "string"}]},
            "variable": [self.declared(name) for name in names],
            "item": list(folders.values()),
        }

    def declared(self, name):
        described = {"key": name, "value": VALUES.get(name, ""), "type": "string"}
        return described | ({"description": ABOUT[name]} if name in ABOUT else {})

    def item(self, path, method, operation):
        request = {
            "method": method.upper(),
            "header": [header for parameter in operation.get("parameters", []) for header in self.header(parameter)],
            "url": self.url(path, operation),
            "description": operation["description"],
        }
        if operation.get("security") == [{"shopKey": []}]:
            request["auth"] = self.shop_key()
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body:
            request["header"].insert(0, {"key": "Content-Type", "value": "application/json"})
            request["body"] = {
                "mode": "raw",
                "raw": json.dumps(self.filled(body["example"]), indent=2, ensure_ascii=False),
                "options": {"raw": {"language": "json"}},
            }
        item = {"id": operation["operationId"], "name": operation["summary"].rstrip("."), "request": request, "response": []}
        script = self.script(path, method, operation)
        if script:
            item["event"] = [{"listen": "test", "script": {"type": "text/javascript", "exec": script}}]
        return item

    def shop_key(self):
        scheme = self.document["components"]["securitySchemes"]["shopKey"]
        parts = {"key": scheme["name"], "value": variable("shopKey"), "in": scheme["in"]}
        return {"type": "apikey", "apikey": [{"key": key, "value": value, "type": "string"} for key, value in parts.items()]}

    def url(self, path, operation):
        # `{name}` is `:name` here, with a value of its own.
        steps = [re.sub(r"^{(\w+)}$", r":\1", step) for step in path.strip("/").split("/")]
        parameters = operation.get("parameters", [])
        return {
            "raw": f"{variable('baseUrl')}/{'/'.join(steps)}",
            "host": [variable("baseUrl")],
            "path": steps,
            "query": [self.query(it) for it in parameters if it["in"] == "query"],
            "variable": [
                self.described(it, {"key": it["name"], "value": variable(it["name"])}) for it in parameters if it["in"] == "path"
            ],
        }

    def described(self, parameter, entry):
        return entry | ({"description": parameter["description"]} if parameter.get("description") else {})

    def query(self, parameter):
        schema = self.resolve(parameter.get("schema", {}))
        value = schema.get("default", next(iter(schema.get("enum", [])), ""))
        needed = parameter.get("required", False)
        entry = {"key": parameter["name"], "value": value if isinstance(value, str) else json.dumps(value)}
        return self.described(parameter, entry if needed else entry | {"disabled": True})

    def header(self, parameter):
        if parameter["in"] == "header":
            yield self.described(parameter, {"key": parameter["name"], "value": "", "disabled": not parameter.get("required", False)})

    def filled(self, example):
        """An example with variables for ids that paths take, too."""
        if isinstance(example, list):
            return [self.filled(part) for part in example]
        if not isinstance(example, dict):
            return example

        def value(name, part):
            if name in self.names and isinstance(part, str):
                return variable(name)
            if name.removesuffix("s") in self.names and isinstance(part, list):
                return [variable(name.removesuffix("s"))]
            return self.filled(part)

        return {name: value(name, part) for name, part in example.items()}

    def fields(self, schema):
        """The properties of an object, with those of its parts."""
        schema = self.resolve(schema)
        found = dict(schema.get("properties", {}))
        for part in schema.get("allOf", []):
            found |= self.fields(part)
        return found

    def script(self, path, method, operation):
        """Keeps the id of what was created, for the requests that follow."""
        if method != "post":
            return []
        content = self.resolve(operation["responses"]["200"]).get("content", {}).get("application/json", {})
        fields = self.fields(self.fields(content.get("schema", {})).get("data", {}))
        below = [name for name in self.names if f"{path}/{{{name}}}" in self.paths]
        kept = {below[0]: "id"} if len(below) == 1 and "id" in fields else {}
        kept |= CREATED.get(operation["operationId"], {})
        if not kept:
            return []
        sets = [f"    pm.collectionVariables.set({json.dumps(name)}, data.{field});" for name, field in kept.items()]
        return ["if (pm.response.code === 200) {", "    const { data } = pm.response.json();", *sets, "}"]


def main():
    document = json.loads(Path(sys.argv[1]).read_text())
    print(json.dumps(Collection(document).whole(), indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
