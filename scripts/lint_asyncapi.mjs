// The checks of scripts/lint-asyncapi.

import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";
import Ajv from "ajv";
import addFormats from "ajv-formats";

const ERROR_AND_WARNING = 1;

const text = readFileSync(process.argv[2], "utf8");
const { document, diagnostics } = await new Parser().parse(text);
const problems = diagnostics
  .filter(({ severity }) => severity <= ERROR_AND_WARNING)
  .map(({ code, message, path }) => `${path.join(".")}: ${message} (${code})`);
if (document === undefined) {
  problems.push("it is not an AsyncAPI document");
}

// The parser only warns of some examples that do not match, so they are checked here.
const whole = JSON.parse(text);
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
// Formats of numbers say how large they may be; JavaScript cannot check that.
for (const format of ["int32", "int64", "double", "float"]) {
  ajv.addFormat(format, true);
}
ajv.addSchema({ $id: "document", components: whole.components });
let examples = 0;
for (const [id, message] of Object.entries(whole.components.messages)) {
  for (const part of ["headers", "payload"]) {
    const pointer = `document#/components/messages/${id}/${part}`;
    const validate = ajv.compile({ $ref: pointer });
    for (const example of message.examples) {
      examples += 1;
      if (!validate(example[part])) {
        problems.push(`${id}: ${ajv.errorsText(validate.errors, { dataVar: part })}`);
      }
      // An example without a required field has to fail, or nothing was checked.
      if (validate({})) {
        problems.push(`${id}: its ${part} may be empty`);
      }
    }
  }
}
for (const problem of problems) {
  console.error(problem);
}
if (problems.length > 0 || examples === 0) {
  console.error(`${process.argv[2]}: ${problems.length} problems, ${examples} examples`);
  process.exit(1);
}
console.log(`${process.argv[2]} is valid: ${document.allMessages().length} messages, ${examples} examples`);
