// Replay: what would another rule have done with this stretch? The verdict first, then figures, lanes and
// each other decision.

import { work } from "./net.js";
import { count, line, many, when } from "./text.js";
import { Chips, Nothing, Progress, Trouble, View, html, note, to, turn, useEffect, usePlace, useRef,
  useState } from "./ui.js";

// figures are the columns: the key, its head, and whether less is better.
const figures = [
  ["lost_batches", "inputs lost", true], ["wasted_tokens", "tokens wasted", true],
  ["wasted_calls", "calls wasted", true], ["respawns", "respawns", true], ["held_batches", "held", undefined],
  ["dropped_turns", "dropped", undefined], ["observations", "observations", false],
  ["summaries", "summaries", false],
];

// stretches are days back from now; 0: all.
const stretches = [["1", "the last day"], ["7", "the last week"], ["30", "the last month"],
  ["0", "the whole log"]];

const nameOf = (p) => p.names.map((n) => n.name).join(", ");

// Names are those of a row's policies; the one in force is marked.
const Names = ({ p, live }) => p.names.map((n, i) => html`${i > 0 && ", "}<span>${n.name}</span>${n.name ===
  live && html` <span class="live">live</span>`}`);

// bestOf is the best value of each column that has one, where policies differ.
function bestOf(policies) {
  return figures.map(([key, , less]) => {
    const all = policies.map((p) => p.figures[key]);
    if (less === undefined || new Set(all).size < 2) return undefined;
    return less ? Math.min(...all) : Math.max(...all);
  });
}

// Words are what policies do; those that come to the same are one row.
const Words = ({ names }) => (names.length === 1 ? html`<div class="soft">${line(names[0].words)}</div>`
  : html`<details class="soft"><summary>in words</summary><dl>${names.map((n) =>
    html`<dt><b>${n.name}</b></dt>
    <dd>${line(n.words)}</dd>`)}</dl></details>`);

function Table({ policies, chosen, live, query: { days, session } }) {
  const best = bestOf(policies);
  return html`<div class="wide" tabindex="0" role="region"
    aria-label="figures by policy"><table><thead><tr><th>policy</th>
    ${figures.map(([, head]) => html`<th class="num">${head}</th>`)}</tr></thead><tbody>${policies.map((p,
      i) => html`<tr data-row tabindex="0" class=${i === chosen ? "is-selected" : ""}><td>
      <a data-open href=${to("/ui/replay", { days, session, policy: p.names[0].name })}><${Names} p=${p}
      live=${live} /></a><${Words} names=${p.names} /></td>
    ${figures.map(([key], c) => html`<td class="num">${p.figures.error ? "-" : count(p.figures[key])}${best[c]
      === p.figures[key] &&
      html`<span class="star" aria-label="best"> ★</span>`}</td>`)}</tr>`)}</tbody></table></div>`;
}

const patterns = html`<svg class="defs" width="0" height="0" aria-hidden="true"><defs>
  <pattern id="p-dropped" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <rect class="g-dropped" width="2.4" height="4" /></pattern>
  <pattern id="p-retried" width="3" height="3" patternUnits="userSpaceOnUse"><rect class="g-retried" width="3"
    height="1.5" />
  </pattern><pattern id="p-held" width="3" height="3" patternUnits="userSpaceOnUse">
    <circle class="g-held" cx="1.5" cy="1.5" r="1.2" /></pattern></defs></svg>`;

// Strip is the gravest decision of each stretch of time under a policy.
function Strip({ p, lanes, live }) {
  const cell = 1000 / p.strip.length;
  const said = lanes.map((l) => [l.name, [...p.strip].filter((x) => x === l.letter).length]).filter(([, n]) =>
    n).map(([name, n]) => `${name} in ${n}`).join(", ");
  return html`<div class="strip"><b><${Names} p=${p} live=${live} /></b>
    <svg viewBox="0 0 1000 22" preserveAspectRatio="none" role="img" aria-label="${nameOf(p)}: ${said} of ${
      p.strip.length} parts">
      ${[...p.strip].map((x, i) => {
        const lane = lanes.find((l) => l.letter === x);
        return lane && html`<rect class="b-${lane.name}" x=${i * cell + 0.5} width=${cell - 1} y="2"
          height="18"><title>${lane.name}: ${lane.note}</title></rect>`;
      })}</svg></div>`;
}

function Differences({ p, began }) {
  if (p.live) return html`<p class="soft">It is the policy that was in force.</p>`;
  if (!p.differences.length) return html`<p class="soft">It decides each time as the one in force did.</p>`;
  return html`<ol class="rows">${p.differences.map((d) => html`<li class="row" data-row key=${d.at_ms +
    d.turn}>
    <time>${when(new Date(Date.parse(began) + d.at_ms))}</time><span class="kind">${line(d.live)}</span>
    <a data-open href=${d.turn ? to("/ui/losses", { outcome: "all", turn: d.turn }) : to("/ui/log",
      { at: d.position })}>
      ${line(d.other)} instead</a>
    <a class="pos" href=${to("/ui/log", { at: d.position })}>${count(d.position)}</a></li>`)}</ol>
    ${p.more > 0 && html`<p class="soft">and ${count(p.more)} more: <code>cmemd replay --json</code> has
      all</p>`}`;
}

function Proof({ proof }) {
  if (proof.holds) return html`<p class="soft">${many(proof.checked, "decision")} on record, all explained by
    the rules in force.</p>`;
  return html`<p class="bad">${count(proof.checked - proof.equal)} of ${many(proof.checked,
    "recorded decision")} are not
    explained by the rules that were in force: <code>cmemd replay</code> lists them.</p>`;
}

// save has the browser keep the comparison as one page.
function save(body) {
  work("/v1/replay", { ...body, report: true }).then(({ report }) => {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([report], { type: "text/html" }));
    a.download = "replay.html";
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
  }, (e) => note(e.message));
}

export default function Replay() {
  const { query } = usePlace();
  const { days = "7", session, policy } = query;
  const [state, put] = useState({});
  const [round, again] = useState(0);
  const stop = useRef();
  const since = days > 0 && new Date(Date.now() - days * 86_400_000).toISOString();
  const body = { ...(since && { since }), ...(session && { sessions: [session] }) };
  useEffect(() => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    put({ progress: {} });
    work("/v1/replay", body, (progress) => signal.aborted || put({ progress }), signal)
      .then((data) => put({ data }), (error) => put({ error, cancelled: signal.aborted }));
    return () => stop.current.abort();
  }, [days, session, round]);
  const { data, error, progress, cancelled } = state;
  const chosen = data ? Math.max(0, data.policies.findIndex((p) => (policy ? p.names.some((n) => n.name ===
    policy) : p.differences.length))) : 0;
  const command = ["cmemd", "replay", "--policy", "all", session && ["--session", session], days > 0 &&
    ["--since", days + "d"]];
  return html`<${View} title="Replay" command=${command} url="/v1/replay" body=${body}
    about="What another rule would have done with this stretch. Nothing is changed."
    verbs=${html`<select aria-label="stretch" value=${days} onChange=${(e) => turn({ days: e.target.value },
      false)}>
      ${stretches.map(([v, text]) => html`<option value=${v}>${text}</option>`)}</select>
      ${data && html`<button onClick=${() => save(body)}>save report.html</button>`}`}>
    <${Chips} names=${["session"]} />
    ${progress && html`<${Progress} of=${progress} label="reading the log" /><button onClick=${() =>
      stop.current.abort()}>cancel</button>`}
    ${error && (error.status === 404 ? html`<${Nothing} title="No turn ended in this stretch"
      command=${["cmemd", "replay", "--help"]}>Choose
      a longer one, or wait until the observer was asked.<//>` : html`<${Trouble} again=${() => again((n) => n
        + 1)} error=${cancelled ? { title: "Cancelled", message: "Nothing was changed." } : error} />`)}
    ${data && html`<p class="verdict">${line(data.verdict ||
      "Nothing was played beside the policy in force.")}</p>
      <p class="soft">${many(data.events, "turn")} from ${when(data.began)}</p><${Proof} proof=${data.proof}
        />
      <section><h2>Policies</h2><${Table} policies=${data.policies} chosen=${chosen} query=${query}
        live=${data.live} /></section>
      <section><h2>Over time</h2>${patterns}${data.policies.map((p) => html`<${Strip} p=${p}
        lanes=${data.lanes} live=${data.live} />`)}
        <ul class="key lanes">${data.lanes.map((l) => html`<li><svg class="sample" width="16" height="16"
          aria-hidden="true"><rect class="b-${l.name}" x="3" y="2" width="10" height="12" /></svg><b>${
          l.name}</b> ${l.note}</li>`)}</ul></section>
      ${data.policies.length > 1 && html`<section><h2>Where ${nameOf(data.policies[chosen])} decides
        otherwise</h2>
        <${Differences} p=${data.policies[chosen]} began=${data.began} /></section>`}
      <section><h2>What is assumed</h2><p class="soft">What a new observer's opening costs is not on record:
        each figure that rests on a respawn counts ${count(data.assumed.tokens_in)} tokens in and ${
        count(data.assumed.tokens_out)} out for it.</p></section>`}<//>`;
}
