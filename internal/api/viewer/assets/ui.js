// Components, the router, what is asked and shown. Text reaches the page as text nodes and attributes alone.

import { h, render } from "./vendor/preact.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
import htm from "./vendor/htm.js";
import { address, ask, door, live } from "./net.js";
import { count, cut, full, line, show, when } from "./text.js";

export const html = htm.bind(h);
export { address, render, useEffect, useLayoutEffect, useMemo, useRef, useState };

// ---- the address: every view is one

export const place = { path: "", query: {}, heard: new Set() };

function readPlace() {
  place.path = location.pathname;
  place.query = Object.fromEntries(new URLSearchParams(location.search));
  for (const f of place.heard) f();
}

// to is the address of a view. It stays in the project.
export const to = (path, query = {}) => address(path, { project: place.query.project, ...query });

export function go(href, replace = false) {
  if (href === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", href);
  readPlace();
  if (!replace) scrollTo(0, 0);
}

// turn changes parameters of the view at hand.
export const turn = (to, replace = true) => go(address(place.path, { ...place.query, ...to }), replace);

// watchPlace keeps links inside the page, and follows Back.
export function watchPlace() {
  addEventListener("popstate", readPlace);
  document.addEventListener("click", (e) => {
    const a = e.target.closest?.("a[href^='/ui/']");
    if (!a || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    go(a.getAttribute("href"));
  });
  readPlace();
}

// useHeard draws anew whenever one of a set's listeners is called.
function useHeard(set) {
  const [, again] = useState(0);
  useLayoutEffect(() => {
    const f = () => again((n) => n + 1);
    set.add(f);
    return () => set.delete(f);
  }, [set]);
}

export const usePlace = () => (useHeard(place.heard), place);
export const useLive = () => (useHeard(live.watched), live);

// useRecords calls f with records as they come, and with undefined where some were passed over.
export function useRecords(f, needs) {
  useEffect(() => live.listen(f), needs);
}

// ---- what is asked: an answer stands until the next one is there

const erased = (r) => r.kind === "memory_forgotten";

// useGet asks for a path of /v1 and asks again when it changes, or when something was erased: where no answer
// comes then, the one before stands no more. It returns { data, error, again, url }.
export function useGet(path, query) {
  const url = path && address(path, query);
  const [state, put] = useState({});
  const [round, setRound] = useState(0);
  const old = useRef(false);
  const again = () => setRound((n) => n + 1);
  useRecords((slice) => {
    if (slice && !slice.some(erased)) return;
    old.current = true;
    setTimeout(again, 500);
  }, []);
  useEffect(() => {
    if (!url) return undefined;
    const stop = new AbortController();
    put((s) => (s.path === path ? s : { path }));
    ask("GET", url, undefined, { signal: stop.signal }).then((data) => {
      old.current = false;
      live.knew(data.position);
      put({ data, path });
    }, (error) => {
      if (error.name === "AbortError") return;
      put((s) => ({ path, data: old.current ? undefined : s.data, error }));
    });
    return () => stop.abort();
  }, [url, round]);
  return { ...state, again, url };
}

// useSlow is a function that calls f at once, and within ms of that once more, with what it was given last.
export function useSlow(f, ms) {
  const { current: held } = useRef({ next: 0 });
  return (...args) => {
    clearTimeout(held.due);
    const act = () => { held.next = performance.now() + ms; f(...args); };
    held.due = setTimeout(act, Math.min(ms, held.next - performance.now()));
  };
}

// ---- small components

const maxShown = 4000; // characters of a text, until all of it is asked for

// Said is captured text, in lines.
export function Said({ text, most = maxShown, class: c = "" }) {
  const [all, setAll] = useState(false);
  const whole = String(text ?? "");
  const cutted = !all && whole.length > most;
  return html`<span class="said ${c}" dir="auto">${show(cutted ? cut(whole, most) : whole)}</span>${cutted &&
    html` <button class="plain" onClick=${() => setAll(true)}>show
      all ${count(whole.length)} characters</button>`}`;
}

// Line is captured text on one line.
export const Line = ({ text, most = 300, class: c = "" }) =>
  html`<span class="line ${c}" dir="auto" title=${text?.length > most ? line(cut(text, 2000)) :
    undefined}>${line(cut(text ?? "", most))}</span>`;

export const Time = ({ at }) => html`<time datetime=${at} title=${full(at)}>${when(at)}</time>`;
// Verb is a button that a key presses too, wherever its row or the page has the focus.
export const Verb = ({ name, keys, act, off, children, class: c = "", about }) => html`<button class=${c}
  data-key=${keys} data-help=${name} disabled=${off} title=${about ?? (keys ? `${name} (${keys})` : name)}
    onClick=${act}>${children ?? name}</button>`;

// Trouble is a problem in the daemon's own words.
export const Trouble = ({ error, again }) => html`<div class="box bad-box" role="alert">
  <b>${error.title ?? "That did not work"}</b>
  ${error.message !== error.title && html`<p>${show(error.message)}</p>`}
  ${error.errors?.length > 0 &&
    html`<ul>${error.errors.map((e) => html`<li><code>${show(e.pointer || "the body")}</code> ${
      show(e.detail)}</li>`)}</ul>`}
  <p class="soft">${error.status >= 500 && html`What stands behind it: <code>cmemd logs</code>. `}${again &&
    html`<button onClick=${again}>Try again</button>`}</p></div>`;

// Nothing says what would fill a view.
export const Nothing = ({ title, children, command }) => html`<div class="box nothing"><b>${title}</b>
  ${children && html`<p>${children}</p>`}${command && html`<p><${Command} words=${command} /></p>`}</div>`;

// Asked draws children with an answer: until it is there a skeleton, and where there is none, why.
export function Asked({ of, children, lines = 6 }) {
  if (of.error && !of.data) return html`<${Trouble} error=${of.error} again=${of.again} />`;
  if (!of.data) {
    return html`<div class="skeleton" role="status" aria-label="loading">${Array.from({ length: lines }, () =>
      html`<i />`)}</div>`;
  }
  return html`${of.error && html`<${Trouble} error=${of.error} again=${of.again} />`}${children(of.data)}`;
}

// Command is a command of words that a click copies, as it is shown.
export function Command({ words }) {
  const text = shell(...words);
  const [said, say] = useState("");
  const copy = () => navigator.clipboard.writeText(text).then(() => say("copied"), () => say("select it"));
  return html`<code class="command">${text}</code><button class="plain" onClick=${copy}
    aria-label="copy: ${text}">${said || "copy"}</button>`;
}

// quote writes a word for a shell. What line shows as an escape is one there too: bash and zsh have $'...'.
function quote(w) {
  const s = String(w);
  if (/^[\w./:@=,-]+$/.test(s)) return s;
  if (line(s) === s) return "'" + s.replaceAll("'", "'\\''") + "'";
  return "$'" + show(s.replace(/[\\']/g, "\\$&")).replaceAll("\n", "\\n").replaceAll("\t", "\\t") + "'";
}

// shell is a command line of words; those that are nothing are left out.
const shell = (...words) => words.flat(2).filter((w) => w || w === 0).map(quote).join(" ");

// given are words that a person or an agent gave: they are no flags.
export const given = (...words) => (words.some((w) => w?.startsWith("-")) ? ["--", ...words] : words);

export const home = { at: "" }; // of the daemon, once its status is known

// curl is how url is asked for without the page; with a body it is posted.
const curl = (url, body) => ["curl", "--unix-socket", home.at + "/run/cmemd.sock",
  ...(body ? ["-d", JSON.stringify(body)] : []), "http://cmemd" + url];

// Same is how the same is asked for without the page.
export const Same = ({ command, url, body }) => html`<details class="same"><summary>The same as a
  command</summary>
  ${command && html`<p><${Command} words=${command} /></p>`}
  ${url && home.at && html`<p><${Command} words=${curl(url, body)} /></p>`}</details>`;

// View is a page's frame: its title is the document's.
export function View({ title, about, children, verbs, ...same }) {
  useEffect(() => { document.title = title + " · cmemd"; }, [title]);
  return html`<header class="head"><h1 tabindex="-1">${line(title)}</h1>${about &&
    html`<p class="soft">${about}</p>`}
    <span class="verbs">${verbs}</span></header>${children}<${Same} ...${same} />`;
}

// Tabs are views of one parameter. list is [value, label, number].
export const Tabs = ({ name, list, label }) => html`<nav class="tabs"
  aria-label=${label}>${list.map(([value, text, n]) => html`<a
  href=${address(place.path, { ...place.query, [name]: value })} aria-current=${(place.query[name] ?? "") ===
    value ? "true" : undefined}>${text}${
  n !== undefined && html` <span class="n">${count(n)}</span>`}</a>`)}</nav>`;

// Chips are those of the view's parameters that are set, each to be taken away.
export const Chips = ({ names }) => html`<p class="chips">${names.filter((f) => place.query[f]).map((f) =>
  html`<a class="chip" href=${address(place.path, { ...place.query, [f]: undefined, before: undefined })}
    title="take this filter away">${f}: <${Line} most=${50} text=${/^\d{4}-\d\d-\d\dT/.test(place.query[f]) ?
    when(place.query[f]) : place.query[f]} /> ✕</a>`)}</p>`;

// Dialog is a modal one: the browser keeps the focus in it, and Escape calls close, which may leave it open.
// Opened after it is shown, it would take the focus from who types already: so it is a layout effect.
export function Dialog({ title, close, children }) {
  const at = useRef();
  useLayoutEffect(() => {
    at.current.showModal();
    return () => at.current?.close();
  }, []);
  const escape = (e) => { e.preventDefault(); close(); };
  return html`<dialog ref=${at} aria-label=${title} onCancel=${escape}
    onKeyDown=${(e) => e.key === "Escape" && escape(e)}>
    <h2>${title}</h2>${children}<button class="plain close" aria-label="close"
      onClick=${close}>✕</button></dialog>`;
}

// Progress is how far work is.
export const Progress = ({ of, label }) => html`<p role="status"><progress max=${of?.total || undefined}
  value=${of?.total ? of.done : undefined} /> ${
  label} ${of?.total ? `${count(of.done)} of ${count(of.total)}` : ""}</p>`;

// notes are said once, below the page; an act that can be taken back says how.
export const notes = { list: [], heard: new Set() };

export function note(text, undo) {
  const n = { text, undo, id: Math.random() };
  const gone = () => {
    notes.list = notes.list.filter((m) => m !== n);
    for (const f of notes.heard) f();
  };
  notes.list = [...notes.list.slice(-2), n];
  for (const f of notes.heard) f();
  setTimeout(gone, 12_000);
}

export function Notes() {
  useHeard(notes.heard);
  return html`<div class="notes" role="status" aria-live="polite">${notes.list.map((n) =>
    html`<p key=${n.id}>${show(n.text)} ${
    n.undo && html`<${Verb} name="undo" keys="u" act=${n.undo} />`}</p>`)}</div>`;
}

export const mayEdit = () => door.scope === "edit";
// titled is what stands for a row in a line.
export const titled = (r) => r.title || r.request || r.text || r.kind;

// what a row is called in a word, and who says it where a reader is to know, as the commands have it.
export const what = (r) => (r.kind === "observation" && r.type ? line(r.type) : r.kind);

export function by(r) {
  const on = String(r.handle ?? "").split(":").slice(0, -1).join(); // of laptop:m41
  const who = r.kind !== "memory" || r.writer === "person" ? "" : `by an ${r.writer === "agent" ? "agent" :
    "unknown writer"}`;
  return [on, r.outside === true || r.outside?.length ? "outside" : who].filter(Boolean).map(line).join(", ");
}
