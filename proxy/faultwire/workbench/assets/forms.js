// Forms made from JSON Schemas: one field for each member. What no field can say is typed as JSON.

import { el } from "/dom.js";

let fields = 0;

/** The parts of a schema that say of which type a value is; `null` among several means that it may be left out. */
function typed(schema, definitions) {
  let found = schema || {};
  if (found.$ref) found = definitions[found.$ref.split("/").pop()] || {};
  const choices = (found.anyOf || found.oneOf || []).map((one) => typed(one, definitions));
  if (!choices.length) return found;
  const real = choices.filter((one) => one.type !== "null");
  return real.length === 1 ? { ...real[0], default: found.default, description: found.description } : { description: found.description };
}

/** A form for the members of a schema. `values` gives its JSON, or throws with what is wrong. */
export class Form {
  constructor(properties, { values = {}, required = [], definitions = {} } = {}) {
    this.fields = [];
    const names = [...new Set([...Object.keys(properties || {}), ...Object.keys(values)])];
    this.node = el("div", { class: "fields" }, ...names.map((name) =>
      this.#field(name, typed((properties || {})[name], definitions), values[name], required.includes(name))));
  }

  #field(name, schema, value, required) {
    const id = `field-${(fields += 1)}`;
    const given = value === undefined ? schema.default : value;
    const { input, read } = widget(id, schema, given);
    if (schema.description) input.setAttribute("aria-describedby", `${id}-about`);
    this.fields.push({ name, read, input, required, was: value });
    return el("div", { class: "field" }, el("label", { for: id }, name, required ? el("span", { class: "dim" }, " (needed)") : ""),
      input, schema.description ? el("small", { id: `${id}-about`, class: "dim" }, schema.description) : null);
  }

  values() {
    const found = {};
    for (const { name, read, input, required } of this.fields) {
      let value;
      try {
        value = read();
        input.removeAttribute("aria-invalid");
      } catch (error) {
        input.setAttribute("aria-invalid", "true");
        input.focus();
        throw new Error(`${name}: ${error.message}`);
      }
      if (value === undefined && required) {
        input.setAttribute("aria-invalid", "true");
        input.focus();
        throw new Error(`${name} is needed`);
      }
      if (value !== undefined) found[name] = value;
    }
    return found;
  }
}

function widget(id, schema, value) {
  if (schema.enum || schema.const !== undefined) return choice(id, schema.enum || [schema.const], value);
  if (schema.type === "boolean") {
    const input = el("input", { id, type: "checkbox" });
    input.checked = value === true;
    return { input, read: () => (input.checked || value !== undefined ? input.checked : undefined) };
  }
  if ((schema.type === "integer" || schema.type === "number") && (value === undefined || value === null || typeof value === "number")) {
    const input = el("input", { id, type: "number", step: schema.type === "integer" ? 1 : "any", min: schema.minimum, max: schema.maximum, value: value ?? "" });
    return { input, read: () => {
      if (input.validity.badInput) throw new Error("expected a number");
      if (input.value === "") return undefined;
      if (!input.checkValidity()) throw new Error(input.validationMessage);
      return Number(input.value);
    } };
  }
  const isText = typeof value === "string" || (schema.type === "string" && (value === undefined || value === null));
  if (isText) {
    const input = area(id, value ?? "");
    return { input, read: () => (input.value === "" && (value === undefined || value === null) ? undefined : input.value) };
  }
  const input = area(id, value === undefined || value === null ? "" : JSON.stringify(value));
  input.placeholder = "JSON";
  return { input, read: () => {
    if (input.value.trim() === "") return undefined;
    try {
      return JSON.parse(input.value);
    } catch {
      if (!schema.type) return input.value;
      throw new Error("expected JSON");
    }
  } };
}

function choice(id, values, value) {
  const input = el("select", { id }, el("option", { value: "" }, "—"),
    ...values.map((one) => el("option", { value: JSON.stringify(one), selected: one === value }, String(one))));
  return { input, read: () => (input.value === "" ? undefined : JSON.parse(input.value)) };
}

/** A text field that grows with what is in it. */
export function area(id, text, rows = null) {
  const input = el("textarea", { id, rows: rows || Math.min(12, Math.max(1, text.split("\n").length + (text.length > 90 ? 1 : 0))), spellcheck: "false", autocomplete: "off", autocapitalize: "off" });
  input.value = text;
  return input;
}
