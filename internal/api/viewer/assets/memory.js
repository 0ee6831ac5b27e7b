// Memory: what does it know? A list by cursor, with a peek beside it.

import { ask } from "./net.js";
import { count, line, many } from "./text.js";
import { Asked, Chips, Line, Nothing, Tabs, Time, Trouble, Verb, View, address, by, given, go, html, mayEdit,
  note, titled, to, turn, useEffect, useGet, usePlace, useState, what } from "./ui.js";
import { Entry, changesMemory, memoryKinds, useFresh } from "./now.js";
import { Correct, Forget } from "./forget.js";
import { Fields } from "./fields.js";

const page = 50;
// states are those in which a person may want to look at rows, by their names; what is said of such rows.
const states = {
  "": "", flagged:
    "They claim what is not so, name files nobody touched, or nothing bears them out: none is given.",
  absent: "They name a commit or a file that is not there now.",
  outside: "Others' words were read for them: no session is given their decisions until you confirm one.",
  repeated: "They were said more than once.",
  superseded: "Another row stands in their place; they stay behind why.",
};

// filters are parameters of the view that are those of the search, and how the command calls them.
const filters = { type: "--type", kind: "--kind", concept: "--concept", file: "--file", session: "--session",
  agent: "--agent", since: "--since" };

// asked is the route and the query of a view: a search where words or what the index knows narrow it, else
// the rows by time.
function asked({ peek, state, ...q }) {
  if (!state && (q.q || ["type", "concept", "file", "session", "agent"].some((f) => q[f]))) {
    return ["/v1/search", { sort: q.q ? undefined : "newest", ...q, limit: page, brief: true, facets: true }];
  }
  const { kind = memoryKinds, project, since, until, sort } = q;
  return ["/v1/rows", { state, kind, project, since, until, sort, limit: page }];
}

// usePages are the pages of a list so far: { pages, more, error }.
function usePages(path, query) {
  const first = useGet(path, query);
  const [next, put] = useState({ of: undefined, pages: [] });
  const pages = first.data ? [first.data, ...(next.of === first.data ? next.pages : [])] : [];
  const cursor = pages.at(-1)?.next_cursor;
  const more = () => ask("GET", address(path, { ...query, facets: undefined, cursor })).then(
    (p) => put({ of: first.data, pages: [...pages.slice(1), p] }), (error) => put({ ...next, error }));
  return { first, pages, more: cursor && more, error: next.error };
}

function Facets({ of, query }) {
  const groups = ["type", "concept", "file", "month"].filter((g) => of?.[g]?.length > (query[g] ? 0 : 1));
  const chosen = (g, v) => (g === "month" ? { since: v + "-01T00:00:00Z" } : { [g]: v });
  return html`<aside class="facets" aria-label="narrow">${groups.map((g) =>
    html`<div><h3>${g}</h3><ul>${of[g].slice(0, 8).map((c) => html`<li>
    <a href=${address("/ui/memory", { ...query, ...chosen(g, c.value) })}><${Line} text=${g === "file" ?
      c.value.split("/").slice(-2).join("/") : c.value} most=${36} /></a>
    <span class="n">${count(c.count)}</span></li>`)}</ul></div>`)}</aside>`;
}

function Empty({ query }) {
  const set = Object.keys(filters).filter((f) => query[f]);
  if (query.q || set.length || query.state) {
    return html`<${Nothing} title="Nothing matches">${set.length
      ? html`These filters are set: ${set.map((f, i) => html`${i > 0 && ", "}<a href=${address("/ui/memory",
        { ...query, [f]: undefined })}>without ${f}</a>`)}.`
      : query.q ? "No row has any of these words, or one that is near." : "No row is in this state."}<//>`;
  }
  return html`<${Nothing} title="Nothing is remembered yet"
    command=${["cmemd", "install", "claude-code"]}>An agent's sessions fill this, or what you save.<//>`;
}

// Peek is the row at hand beside the list.
function Peek({ id, close, acts }) {
  const whole = useGet(id && "/v1/observations/" + encodeURIComponent(id));
  return html`<aside class="peek" aria-label="the row at hand"><button class="plain close" data-key="Escape"
    data-help="close" onClick=${close} aria-label="close">✕</button>
    <${Asked} of=${whole}>${(r) => html`<p class="soft"><${Time} at=${r.at}
      /> ${what(r)} ${by(r)}</p><h2><${Line} text=${titled(r)} most=${200} /></h2>
      <${Fields} row=${r} /><p class="verbs"><a class="button" href=${to("/ui/memory/" + (r.handle ??
        r.id))}>why</a>${acts(r)}</p>`}<//></aside>`;
}

export default function Memory() {
  const { query } = usePlace();
  const list = usePages(...asked(query));
  const seen = list.first;
  const counted = useGet(seen.data && "/v1/rows", { counts: true, limit: 1, project: query.project });
  const [chosen, choose] = useState(new Set());
  const [dialog, open] = useState();
  const [fresh, setFresh] = useState(0);
  useFresh({ again: () => (scrollY < 80 && !chosen.size ? seen.again() : setFresh((n) => n + 1)) },
    changesMemory);
  useEffect(() => { choose((s) => (s.size ? new Set() : s)); setFresh(0); }, [seen.data]);
  const rows = list.pages.flatMap((p) => p.results ?? p.rows);
  const peek = (id) => turn({ peek: query.peek === id ? undefined : id });
  const pick = (id) => choose((s) => new Set(s.has(id) ? [...s].filter((x) => x !== id) : [...s, id]));
  const done = () => { open(undefined); seen.again(); };
  const undo = (r) => ask("POST", `/v1/memories/${r.id}/undo`).then(() => { note("taken back"); seen.again();
    }, (e) => note(e.message));
  const acts = (r) => mayEdit() && html`<${Verb} name="correct" keys="c" act=${() => open({ correct: r })} />
    <${Verb} name="forget" keys="f" act=${() => open({ request: { ids: [r.id] }, named: "1 row" })} />
    ${r.kind === "memory" && html`<${Verb} name="undo" keys="u" act=${() => undo(r)} />`}`;
  const flags = Object.entries(filters).flatMap(([f, flag]) => (query[f] ? [flag, query[f]] : []));
  const order = query.sort ?? (query.q ? "" : "newest");
  const command = !query.state && ["cmemd", "search", flags.length || query.q ? flags : ["--kind",
    memoryKinds], query.project && ["--project", query.project], order && ["--sort", order],
    query.q && given(query.q)]; // no command lists a state of review
  return html`<${View} title=${query.q ? `“${line(query.q)}”` : "Memory"} command=${command} url=${seen.url}
    about=${seen.data?.total !== undefined && many(seen.data.total, "entry", "entries")}
    verbs=${html`${chosen.size > 0 && html`<span class="soft">${chosen.size} chosen</span>
      <button class="danger" onClick=${() => open({ request: { ids: [...chosen] }, named: many(chosen.size,
        "row") })}>forget ${chosen.size}…</button>`}
      ${mayEdit() && query.q && html`<button class="danger" onClick=${() => open({ request: { query: query.q,
        project: query.project ?? "" }, named: `all that says “${line(query.q)}”` })}>forget all…</button>`}
      ${mayEdit() && html`<${Verb} name="save a memory" keys="n"
        act=${() => open({ save: true })}>save…<//>`}`}>
    ${!query.q && html`<${Tabs} name="state" label="state of review"
      list=${Object.keys(states).map((v) => [v, v || "all", counted.data?.counts?.[v || "all"]])} />`}
    ${query.state && html`<p class="soft">${states[query.state]}</p>`}
    <${Chips} names=${Object.keys(filters)} />
    ${query.q && html`<${Tabs} name="sort" label="order" list=${[["", "best"], ["newest", "newest"],
      ["oldest", "oldest"]]} />`}
    <div class="with-peek ${query.peek ? "is-open" : ""}"><div>
    ${fresh > 0 && html`<button class="fresh" onClick=${() => { scrollTo(0, 0); seen.again(); }}>there is
      newer memory: show it</button>`}
    <${Asked} of=${seen} lines=${12}>${(d) => (rows.length ? html`<ol class="rows">${rows.map((r) =>
      html`<${Entry} key=${r.id} r=${r} selected=${chosen.has(r.id)}>
      ${r.snippet && html`<p class="snippet"><${Line} text=${r.snippet} most=${240} /></p>`}
      <span class="row-verbs">${mayEdit() && html`<label class="pick"><input type="checkbox" data-key="x"
        data-help="choose" checked=${chosen.has(r.id)} onClick=${() => pick(r.id)}
        aria-label="choose" /></label>`}<${Verb} name="peek" keys="o" class="plain" act=${() => peek(r.id)} />
        <${Verb} name="why" keys="w" class="plain" act=${() => go(to("/ui/memory/" + (r.handle ?? r.id)))}
          /></span><//>`)}</ol>
      ${list.error && html`<${Trouble} error=${list.error} />`}
      ${list.more && html`<p><button onClick=${list.more}>show ${page} more</button> <span
        class="soft">${count(rows.length)}${d.total !== undefined && ` of ${count(d.total)}`}</span></p>`}`
    : html`<${Empty} query=${query} />`)}<//></div>
    ${query.peek ? html`<${Peek} id=${query.peek} key=${query.peek} close=${() => turn({ peek: undefined })}
      acts=${acts} />` : html`<${Facets} of=${seen.data?.facets} query=${query} />`}</div>
    ${dialog?.request && html`<${Forget} ...${dialog} close=${() => open(undefined)} done=${done} />`}
    ${(dialog?.correct || dialog?.save) && html`<${Correct} row=${dialog.correct} project=${query.project}
      close=${() => open(undefined)} done=${done} />`}<//>`;
}
