// The shell: rail, project, search, health, keys.

import { door, enrol, enter, leave, live } from "./net.js";
import { line, many } from "./text.js";
import { Dialog, Nothing, Notes, Trouble, Verb, address, go, home, html, note, place, render, to, turn,
  useEffect, useGet, useLayoutEffect, useLive, usePlace, useRecords, useRef, useSlow, useState, watchPlace }
  from "./ui.js";

// pages are the views: the path below /ui/, the letter that leads there after g, the module that draws it.
const pages = [
  { path: "", name: "Now", letter: "n", load: () => import("./now.js") },
  { path: "memory", name: "Memory", letter: "m", load: () => import("./memory.js") },
  { path: "losses", name: "Losses", letter: "l", load: () => import("./losses.js") },
  { path: "log", name: "Log", letter: "o", load: () => import("./log.js") },
  { path: "replay", name: "Replay", letter: "r", load: () => import("./replay.js") },
  { path: "decide", name: "To decide", letter: "d", load: () => import("./decide.js") },
];
const why = { path: "memory/", name: "Why", load: () => import("./why.js") };

// loadAll has the browser keep every page, so that they can say what is wrong while the daemon is away.
const loadAll = () => Promise.allSettled([...pages, why].map((p) => p.load()));

const unloaded = { title: "The page could not be loaded", message: "`cmemd start` starts cmemd." };

function pageOf(path) {
  const rest = path.replace(/^\/ui\//, "").replace(/\/$/, "");
  try {
    if (rest.startsWith("memory/")) return { page: why, id: decodeURIComponent(rest.slice(7)) };
  } catch { return {}; } // a malformed escape
  return { page: pages.find((p) => p.path === rest) };
}

// useModule is a page's component, once it is there.
function useModule(page) {
  const [loaded, put] = useState({});
  useEffect(() => {
    let gone = false;
    page?.load().then((m) => !gone && put({ page, draw: m.default }), (error) => !gone &&
      put({ page, error }));
    return () => { gone = true; };
  }, [page]);
  return loaded.page === page ? loaded : {};
}

function Body({ status }) {
  const { path } = usePlace();
  const { page, id } = pageOf(path);
  const { draw: Draw, error } = useModule(page);
  if (!page) return html`<${Nothing} title="There is no such page"><a href="/ui/">Now</a><//>`;
  if (error) return html`<${Trouble} error=${unloaded} again=${() => location.reload()} />`;
  return Draw ? html`<${Draw} id=${id} status=${status} key=${page.name + (id ?? "")} />` : null;
}

// Shut is shown to a browser that is not let in. A code can be pasted where the link was opened elsewhere.
function Shut() {
  const [code, setCode] = useState("");
  const submit = (e) => {
    e.preventDefault();
    enrol(code.replace(/^.*#c=/, ""));
  };
  return html`<main class="shut"><h1>cmemd</h1>
    ${door.why && html`<p class="bad">${line(door.why)}</p>`}
    ${door.soon ? html`<p>It is tried again.</p>` : html`<p>This browser is not let in. Run <code>cmemd ui
      </code> in a terminal: it opens this page by a link that works once.</p>`}
    <form onSubmit=${submit}><label>Or paste the link that <code>cmemd ui --print</code> shows
      <input value=${code} onInput=${(e) => setCode(e.target.value)} autocomplete="off" spellcheck="false"
        /></label>
      <button disabled=${!code}>Open</button></form></main>`;
}

const liveWords = { live: "live", catching: "catching up", paused: "paused", off: "no connection" };

function LiveDot() {
  const { state } = useLive();
  return html`<span class="dot is-${state}" role="status" title="records as they are written">${
    liveWords[state]}</span>`;
}

// Health is the worst finding, in words.
function Health({ status }) {
  const { data, error } = status;
  if (error) {
    const why = error.status ? "cannot be told" : "cmemd does not answer";
    return html`<a class="dot is-off" href=${to("/ui/")} title=${line(error.message)}>${why}</a>`;
  }
  if (!data) return html`<span class="dot">…</span>`;
  const now = to("/ui/");
  if (!data.ready) return html`<a class="dot is-catching" href=${now}>starting: ${line(data.phase)}</a>`;
  const worst = data.findings.find((f) => f.degraded) ?? data.findings[0];
  if (!worst) return html`<a class="dot is-live" href=${now}>all is well</a>`;
  return html`<a class="dot ${worst.degraded ? "is-off" : "is-catching"}" href=${now}
    title=${line(worst.says)}>${many(data.findings.length, "finding")}</a>`;
}

function Projects({ after }) {
  const { query } = usePlace();
  const { data } = useGet(after && "/v1/projects");
  const names = [...new Set((data?.projects ?? []).map((p) => p.name))];
  if (query.project && !names.includes(query.project)) names.unshift(query.project);
  return html`<select aria-label="project" value=${query.project ?? ""} onChange=${(e) =>
    turn({ project: e.target.value }, false)}>
    <option value="">all projects</option>${names.map((n) => html`<option
      value=${n}>${line(n)}</option>`)}</select>`;
}

function Search() {
  const { path, query } = usePlace();
  const [text, setText] = useState(query.q ?? "");
  const { current: own } = useRef({}); // what was asked for here: keys that were pressed since stay
  useEffect(() => {
    const q = place.path.startsWith("/ui/memory") ? place.query.q ?? "" : "";
    if (own.q !== q) setText(own.q = q);
  }, [path, query.q]);
  const ask = useSlow((q) => {
    own.q = q;
    place.path === "/ui/memory" ? turn({ q }) : go(to("/ui/memory", { q }));
  }, 80);
  return html`<input type="search" class="search" aria-label="search memory" placeholder="Search memory  /"
    value=${text} onInput=${(e) => { setText(e.target.value); ask(e.target.value); }} data-search />`;
}

const themes = ["system", "light", "dark"];

function useTheme() {
  const read = () => { try { return localStorage.getItem("theme") ?? "system"; } catch { return "system"; } };
  const [theme, put] = useState(read);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("theme", theme); } catch { /* it holds for this tab */ }
  }, [theme]);
  return [theme, () => put(themes[(themes.indexOf(theme) + 1) % 3])];
}

const fixedKeys = [
  ["j k", "next, previous row"], ["Enter", "open"], ["Esc", "close"], ["/", "search"], ["?", "this list"],
  ...pages.map((p) => ["g " + p.letter, p.name]),
];

function Help({ close }) {
  const verbs = new Map([...document.querySelectorAll("[data-key]")].map((b) => [b.dataset.key,
    b.dataset.help]));
  return html`<${Dialog} title="Keys" close=${close}><dl class="keys">${[...fixedKeys,
    ...verbs].map(([k, text]) => html`<dt><kbd>${k}</kbd></dt><dd>${text}</dd>`)}</dl>
    <label><input type="checkbox" checked=${keys.on} onChange=${(e) => keys.set(e.target.checked)} /> single
      keys do something</label><//>`;
}

// keys are single keys, which can be switched off. A key presses the button of the row at hand that names it,
// else the page's.
const keys = {
  on: true, led: false, help: () => {},
  set(on) {
    this.on = on;
    try { localStorage.setItem("keys", on ? "on" : "off"); } catch { /* it holds for this tab */ }
  },
  start() {
    try { this.on = localStorage.getItem("keys") !== "off"; } catch { /* they are on */ }
    document.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.type !== "checkbox";
      if (e.key === "Escape" && typing) e.target.blur();
      if (typing || !this.on || document.querySelector("dialog[open]")) return;
      if (this.press(e.key)) e.preventDefault();
    });
  },
  press(key) {
    if (this.led) {
      this.led = false;
      const page = pages.find((p) => p.letter === key);
      if (page) go(to("/ui/" + page.path));
      return Boolean(page);
    }
    if (key === "g") return (this.led = true);
    if (key === "?") return this.help(), true;
    if (key === "/") return document.querySelector("[data-search]")?.focus(), true;
    if (key === "j" || key === "k") return this.move(key === "j" ? 1 : -1);
    const row = document.activeElement?.closest("[data-row]");
    const named = `[data-key="${CSS.escape(key)}"]:not(:disabled)`;
    const button = row?.querySelector(named) ?? [...document.querySelectorAll(named)].find((b) =>
      !b.closest("[data-row]"));
    if (key.length > 1 && key !== "Escape") return false;
    button?.click();
    return Boolean(button);
  },
  move(by) {
    const rows = [...document.querySelectorAll("[data-row]")];
    const at = rows.indexOf(document.activeElement?.closest("[data-row]"));
    const last = rows.length - 1;
    const next = rows[at < 0 ? (by > 0 ? 0 : last) : Math.min(last, Math.max(0, at + by))];
    (next?.querySelector("[data-open]") ?? next)?.focus();
    next?.scrollIntoView({ block: "nearest" });
    return Boolean(next);
  },
};

function Rail({ waiting }) {
  const { path, query } = usePlace();
  const { page } = pageOf(path);
  return html`<nav class="rail" aria-label="pages"><a class="brand"
    href=${to("/ui/")}>cmemd</a>${pages.map((p) => html`<a
    href=${address("/ui/" + p.path, { project: query.project })} aria-current=${p === page || (page === why &&
      p.path === "memory") ? "page" : undefined}
    title="g ${p.letter}">${p.name}${p.path === "decide" && waiting > 0 &&
      html` <span class="n">${waiting}</span>`}</a>`)}</nav>`;
}

function App() {
  const [, again] = useState(0);
  const [help, setHelp] = useState(false);
  const [theme, nextTheme] = useTheme();
  useLayoutEffect(() => { door.changed = () => again((n) => n + 1); }, []);
  useEffect(() => { keys.help = () => setHelp(true); }, []);
  const open = door.state === "open";
  const status = useGet(open && "/v1/status");
  if (status.data) home.at = status.data.home;
  const known = Boolean(status.data);
  useEffect(() => { if (known) live.start(), setTimeout(loadAll, 1000); }, [known]);
  const late = useRef();
  useRecords(() => { late.current ??= setTimeout(() => { late.current = undefined; status.again(); }, 1000);
    }, []);
  const state = useLive().state;
  useEffect(() => { if (open && door.why) note(door.why); }, [open && door.why]);
  useEffect(() => { if (known) status.again(); }, [state === "off"]);
  if (door.state === "shut") return html`<${Shut} />`;
  if (!open) return null;
  const waiting = (status.data?.erasure?.forget_requests ?? 0) + (status.data?.projects.apart ?? 0);
  return html`<a class="skip" href="#main">to the content</a><${Rail} waiting=${waiting} />
    <div class="top" role="banner"><${Search} /><${Projects} after=${status.data} /><span class="gap"
      /><${Health} status=${status} /><${LiveDot} />
      <button class="plain" onClick=${nextTheme} title="colours" aria-label="colours: ${theme}">◐</button>
      <${Verb} name="keys" keys="?" class="plain" act=${() => setHelp(true)}>?<//>
      <button class="plain" onClick=${leave} title="lets this browser in no more">sign out</button></div>
    <main id="main" tabindex="-1"><${Body} status=${status} /></main><${Notes} />${help && html`<${Help}
      close=${() => setHelp(false)} />`}`;
}

watchPlace();
pageOf(place.path).page?.load().catch(() => {}); // while the door opens
keys.start();
addEventListener("hashchange", () => location.hash.startsWith("#c=") && enter());
render(html`<${App} />`, document.body);
enter();
