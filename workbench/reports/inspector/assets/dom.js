// Building blocks. Text reaches the page only as text nodes and attributes; nothing is ever parsed as markup.
let instances = 0;

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, part] of Object.entries(value)) element.style.setProperty(key, part);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined).map(asNode));
  return element;
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined).map(asNode));
  return element;
}

function said(text, tag = "span", attributes = {}) {
  // what a user wrote may run in either direction
  return h(tag, { dir: "auto", ...attributes }, text);
}

function fixed(value, digits) {
  return value === null || value === undefined ? "–" : Number(value).toFixed(digits);
}

function counted(n, one, many = one + "s") {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

function words(name) {
  return name.replaceAll("_", " ");
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // pages opened from a file or over plain HTTP have no clipboard object
    const area = h("textarea", { readonly: true, class: "wb-offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function copyButton(label, text, announce) {
  return h("button", {
    type: "button",
    onclick: async (event) => {
      const button = event.currentTarget;
      const done = await copyText(text());
      announce(done ? `${label}: copied` : `${label}: the browser refused`);
      button.focus();
    },
  }, label);
}
