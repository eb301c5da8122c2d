// Reads a request collection with the library of Postman, and compares it with openapi.json: every operation is there once, with its
// method and path, and nothing that the library does not understand.
//
// usage: node collection_check.js COLLECTION OPENAPI_JSON

const { readFileSync } = require("node:fs");
const { isDeepStrictEqual } = require("node:util");
const { Collection } = require("postman-collection");

const [, , file, documentFile] = process.argv;
const written = JSON.parse(readFileSync(file, "utf8"));
const document = JSON.parse(readFileSync(documentFile, "utf8"));
const collection = new Collection(written);
const problems = [];

const wanted = new Map();
for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    wanted.set(operation.operationId, `${method.toUpperCase()} ${path.replace(/{(\w+)}/g, "{{$1}}")}`);
  }
}
const known = new Set(["baseUrl", "apiKey", "shopKey"]);
for (const [, name] of JSON.stringify(Object.keys(document.paths)).matchAll(/{(\w+)}/g)) {
  known.add(name);
}
const declared = new Set(written.variable.map(({ key }) => key));
if (!isDeepStrictEqual(declared, known)) {
  problems.push(`the variables are ${[...declared]}`);
}

collection.forEachItem((item) => {
  const { request } = item;
  // With the value of each `:name`, as it is sent.
  const seen = `${request.method} ${request.url.getPath()}`;
  if (wanted.get(item.id) !== seen) {
    problems.push(`${item.id} is ${seen}, not ${wanted.get(item.id)}`);
  }
  wanted.delete(item.id);
  if (request.url.getHost() !== "{{baseUrl}}") {
    problems.push(`${item.id}: the host is ${request.url.getHost()}`);
  }
  for (const [, name] of JSON.stringify(request.toJSON()).matchAll(/{{(\w*)}}/g)) {
    if (!known.has(name)) {
      problems.push(`${item.id}: there is no variable ${name}`);
    }
  }
  if (request.body?.mode === "raw") {
    JSON.parse(request.body.raw);
  }
});
problems.push(...[...wanted.keys()].map((id) => `${id} is missing`));

// What the library does not know is lost when it writes the collection again.
const folders = (items) => items.map(({ name, item }) => [name, item.map(({ id, name }) => [id, name])]);
if (!isDeepStrictEqual(folders(collection.toJSON().item), folders(written.item))) {
  problems.push("the library has other folders or requests");
}
for (const problem of problems.slice(0, 20)) {
  console.error(`${file}: ${problem}`);
}
process.exit(problems.length === 0 ? 0 : 1);
