// Why: where does a row come from, is it true, where was it used? As a graph and as a list of the same.

import { ask } from "./net.js";
import { count, cut, line, many, money, when, words } from "./text.js";
import { Correct, Forget } from "./forget.js";
import { Fields } from "./fields.js";
import { Asked, Line, Nothing, Said, Time, Verb, View, by, given, go, html, mayEdit, note, place, to, useGet,
  useState, titled, what } from "./ui.js";

const after = {
  given: "given to a session", checked: "its claim was looked at again", restored: "it stands again",
  superseded: "another row took its place", "taken back": "taken back", corrects: "it took another's place",
  "observed again": "its inputs were observed again",
};

const box = { w: 186, h: 44, gap: 10, column: 226, most: 7 };

// gist is what a tool was given, in a word: the first text of its input, of a path its end.
function gist(i) {
  let given;
  try { given = Object.values(JSON.parse(i.input)).find((v) => typeof v === "string"); } catch { /* cut */ }
  if (/^\/\S+$/.test(given ?? "")) return given.split("/").slice(-2).join("/");
  return given ?? i.preview ?? i.outcome ?? "";
}

// columns are the graph's: what was asked, what was done, the turns, the row, what became of it.
function columns(w) {
  const inputs = w.turns.flatMap((t) => t.inputs.filter((i) => !i.read));
  const turns = [...w.attempts.filter((t) => !t.later), ...w.turns, ...w.attempts.filter((t) => t.later)];
  const all = [
    w.prompts.map((p) => ({ head: "asked " + when(p.at), text: p.text || "(private)" })),
    inputs.map((i) => ({ head: `${i.tool || words(i.kind)}${i.failed ? " failed" : ""}`, text: gist(i), bad:
      i.failed })),
    turns.map((t) => ({ head: `${t.result}${t.cost_usd ? " " + money(t.cost_usd) : ""}`, text:
      `${t.provider} ${t.model ?? ""}`, bad: t.result === "dropped" })),
    [{ head: what(w.row), text: titled(w.row), self: true }],
    w.after.map((a) => ({ head: after[a.what] ?? words(a.what), text: `${when(a.at)} ${a.hook ?? ""}` })),
  ];
  return all.map((c) => (c.length > box.most ? [...c.slice(0, box.most - 1), { head: "…", text:
    `${c.length - box.most + 1} more` }] : c));
}

function Graph({ why }) {
  const all = columns(why);
  const rows = Math.max(...all.map((c) => c.length));
  const height = rows * (box.h + box.gap) + 26;
  const at = (c, i) => [c * box.column, 22 + i * (box.h + box.gap) + ((rows - all[c].length) *
    (box.h + box.gap)) / 2];
  const filled = all.map((c, i) => [c, i]).filter(([c]) => c.length);
  const middle = (c, i, right) => [at(c, i)[0] + right * box.w, at(c, i)[1] + box.h / 2];
  const edge = ([x, y], [u, v]) => `M${x} ${y}C${(x + u) / 2} ${y} ${(x + u) / 2} ${v} ${u} ${v}`;
  const paths = filled.slice(1).flatMap(([nodes, c], n) => filled[n][0].flatMap((_, i) => nodes.map((_, j) =>
    edge(middle(filled[n][1], i, 1), middle(c, j, 0)))));
  return html`<div class="graph" aria-hidden="true"><svg viewBox="0 0 ${4 * box.column + box.w} ${height}"
    style=${{ minWidth: "860px" }}>
    ${["asked", "done", "observed by", "this", "since then"].map((t, c) => all[c].length > 0 &&
      html`<text class="g-head" x=${c * box.column} y="12">${t}</text>`)}
    ${paths.map((d) => html`<path class="g-edge" d=${d} />`)}
    ${all.map((nodes, c) => nodes.map((n, i) => {
      const [x, y] = at(c, i);
      return html`<svg x=${x} y=${y} width=${box.w} height=${box.h}
        class="g-node ${n.self ? "is-self" : ""} ${n.bad ? "is-bad" : ""}">
        <title>${line(cut(n.text, 400))}</title>
        <rect x="1" y="1" width=${box.w - 2} height=${box.h - 2} rx="6" />
        <foreignObject x="9" y="4" width=${box.w - 18} height=${box.h - 8}><b>${line(n.head)}</b>
          <div>${line(cut(n.text, 200))}</div></foreignObject></svg>`;
    }))}</svg></div>`;
}

const Turn = ({ t }) => html`<li><b class=${t.result === "dropped" ? "bad" : ""}>${words(t.result)}</b> by <${
  Line} text="${t.provider} ${t.model ?? ""}" />, ${" "}<${Time} at=${t.started_at} />${t.attempt > 1 &&
    `, attempt ${t.attempt}`}${t.cost_usd > 0 &&
    `, ${money(t.cost_usd)}`}${t.reason && `: ${words(t.class ?? "")} ${words(t.reason)}`}
  ${t.inputs?.length > 0 && html`<details open=${t.inputs.length < 13}><summary>${many(t.inputs.length +
    (t.more ?? 0), "input")}</summary><ul>${t.inputs.map((i) => html`<li><a class="pos" href=${to("/ui/log", {
      at: i.position })}>${count(i.position)}</a> <b class=${i.failed ? "bad" : ""}>${line(i.tool ||
      words(i.kind))}${i.failed ? " failed" : ""}</b>${i.read && html`<span class="soft"> read only</span>`}
    ${" "}${i.erased ? html`<span class="soft">what it said is ${i.why_erased?.cause === "withheld" ?
      "withheld" : "erased"}</span>` : html`<${Line} text=${i.preview} most=${220} />`}</li>`)}</ul>
    ${t.more > 0 && html`<p class="soft">and ${count(t.more)} more: <code>cmemd why</code> lists the first
      hundred</p>`}</details>`}</li>`;

const Verdict = ({ v }) => html`<li><span class="mark ${v.now === "absent" ? "is-bad" : ""}">${v.now}${v.now
  === "absent" && v.verified ? ", was there once" : ""}</span>
  ${words(v.claim.kind)} <code><${Line} text=${v.claim.value} most=${120} /></code>${v.checked_at &&
    !v.checked_at.startsWith("0001") && html` looked at <${Time} at=${v.checked_at} />`}</li>`;

// List is the graph in words, and all that it leaves out.
function List({ why: w }) {
  const link = (r) => html`<li><${Time} at=${r.at} /> <a href=${to("/ui/memory/" + (r.handle ?? r.id))}><${
    Line} text=${titled(r)} /></a></li>`;
  return html`<div class="chain">
    <section><h2>What was asked</h2>${w.prompts.length ?
      html`<ul>${w.prompts.map((p) => html`<li><${Time} at=${p.at} /> <${Said} text=${p.text || "(private)"}
        most=${600} /></li>`)}</ul>` : html`<p class="soft">No prompt led to it.</p>`}</section>
    <section><h2>How it came about</h2>${w.turns.length || w.attempts.length ?
      html`<ul>${w.attempts.filter((t) => !t.later).map((t) => html`<${Turn} t=${t} />`)}${
      w.turns.map((t) => html`<${Turn} t=${t} />`)}${w.attempts.filter((t) => t.later).map((t) =>
        html`<${Turn} t=${t} />`)}</ul>` : html`<p>It was saved ${by(w.row) || "by hand"}.</p>`}</section>
    <section><h2>Is it true</h2>${w.verdicts.length ? html`<ul>${w.verdicts.map((v) => html`<${Verdict} v=${v}
      />`)}</ul>` : html`<p class="soft">It makes no claim that can be checked.</p>`}
      <p class="soft">Written by the ${w.row.writer || "unknown"}${w.row.origin &&
        `; origin: ${w.row.origin}`}${w.row.confirmed > 0 && "; confirmed by a person"}.</p></section>
    <section><h2>Since then</h2>${w.after.length ? html`<ul>${w.after.map((a) => html`<li><${Time} at=${a.at}
      /> ${after[a.what] ?? words(a.what)}${
      a.hook && ` (${line(a.hook)})`}${a.writer && `, by the ${a.writer}`}${a.position > 0 &&
        html` <a class="pos" href=${to("/ui/log", { at: a.position })}>${
          count(a.position)}</a>`}</li>`)}</ul>`
      : html`<p class="soft">Nothing was done with it.</p>`}</section>
    ${w.injections.length > 0 && html`<section><h2>What the agent had been given
      before</h2><ul>${w.injections.slice(0, 10).map((i) => html`<li><${Time} at=${i.at} /> ${
      many(i.rows?.length ?? i.ids?.length ?? 0, "row")}, ${line(i.hook)}</li>`)}</ul></section>`}
    ${[["It took the place of", w.older], ["These took its place", w.newer], ["Stands in its place",
      w.replaced_by && [w.replaced_by]]].map(([head, list]) => list?.length > 0 && html`<section><h2>${
      head}</h2><ul>${list.map(link)}</ul></section>`)}</div>`;
}

const Gone = ({ f }) => html`<${Nothing} title="This was forgotten">On <${Time} at=${f.at}
  />, with ${many(f.records, "record")} (${line(f.cause)}). What is left is${" "}
  <a href=${to("/ui/log", { at: f.position })}>record ${count(f.position)}</a>, and the
    hash <code>${line(f.residue)}</code> of what was erased.<//>`;

export default function Why({ id }) {
  const asOf = place.query.as_of;
  const why = useGet("/v1/why/" + encodeURIComponent(id), { as_of: asOf });
  const [dialog, open] = useState();
  const close = () => open(undefined);
  const r = why.data?.row;
  const did = (p, text, undo) => p.then(() => { note(text, undo); why.again(); }, (e) => note(e.message));
  const confirm = (withdraw) => did(ask("POST", `/v1/memories/${r.id}/confirm`, { withdraw }), withdraw ?
    "not confirmed any more" : "confirmed", withdraw ? undefined : () => confirm(true));
  const forgotten = why.data?.forgotten;
  const mayConfirm = r && (r.outside?.length || r.unseen || r.unsupported || r.confirmed);
  return html`<${View} title=${r ? line(cut(titled(r), 160)) : "Why"}
    command=${["cmemd", "why", asOf && ["--at", asOf], given(id)]} url=${why.url}
    verbs=${r && !forgotten && mayEdit() && html`
      <${Verb} name="correct" keys="c" act=${() => open({ correct: r })} />
      ${mayConfirm && html`<${Verb} name=${r.confirmed ? "withdraw what confirms it" : "confirm"} keys="v"
        act=${() => confirm(r.confirmed > 0)} />`}
      ${(r.kind === "memory" || r.superseded) && html`<${Verb} name="undo" keys="u"
        act=${() => did(ask("POST", `/v1/memories/${r.id}/undo`), "taken back")} />`}
      <${Verb} name="forget" keys="f" class="danger" act=${() => open({ forget: { ids: [r.id] } })} />`}>
    <${Asked} of=${why} lines=${10}>${(w) => (forgotten ? html`<${Gone} f=${forgotten} />` : html`
    <p class="marks"><span class="kind k-${what(r)}">${what(r)}</span> <${Time} at=${r.at} /> <a
      href=${to("/ui/memory", { project: r.project })}><${Line} text=${r.project} /></a>
      ${w.session && html` <a href=${to("/ui/memory", { session: w.session.id })}>${
        line(w.session.agent)} session</a>`}
      ${by(r) && html` <span class="mark">${by(r)}</span>`}${r.flagged &&
        html` <span class="mark is-bad">flagged</span>`}${r.superseded &&
          html` <span class="mark">superseded</span>`}</p>
    <${Graph} why=${w} /><div class="two"><article class="whole"><h2>What it says</h2><${Fields} row=${r}
      /></article><${List} why=${w} /></div>`)}<//>
    ${dialog?.correct && html`<${Correct} row=${dialog.correct} close=${close} done=${() => { close();
      why.again(); }} />`}
    ${dialog?.forget && html`<${Forget} request=${dialog.forget} named="this row" close=${close}
      done=${() => go(to("/ui/memory"))} />`}<//>`;
}
