// Now: is it working, what did it just learn, what does it cost?

import { ask } from "./net.js";
import { bytes, count, line, many, money } from "./text.js";
import { Asked, Line, Nothing, Time, Trouble, View, by, html, mayEdit, note, place, to, useEffect, useGet,
  useRecords, useRef, what } from "./ui.js";

// fates are what becomes of an input: exactly one of these, so that they add up to what was captured.
export const fates = ["observed", "skipped", "dropped", "pending", "forgotten"];

// Balance is the fate of every input: a bar, and numbers that lead to those inputs.
export function Balance({ of }) {
  const sum = fates.reduce((n, f) => n + of[f], 0);
  return html`<section class="balance" aria-label="what became of every input">
    <div class="bar" aria-hidden="true">${sum > 0 && fates.map((f) => of[f] > 0 && html`<i class="f-${f}"
      style=${{ flexGrow: of[f] }} />`)}</div>
    <ul>${fates.map((f) => html`<li><a href=${to("/ui/losses", { outcome: f })}><i class="f-${f}"
      /><b>${count(of[f])}</b> ${f}</a></li>`)}
      <li class="sum"><a href=${to("/ui/losses", { outcome: "all" })}>= <b>${
        count(of.captured)}</b> captured</a></li></ul>
    ${sum !== of.captured && html`<p class="bad">These do not add up: <code>cmemd log verify</code> says
      more.</p>`}</section>`;
}

function Findings({ status: s, again }) {
  const resume = (provider) => ask("POST", `/v1/providers/${encodeURIComponent(provider)}/resume`)
    .then(() => { note(provider + " is asked again"); again(); }, (e) => note(e.message));
  const paused = (f) => mayEdit() && s.providers.some((p) => p.name === f.provider && p.state === "paused");
  return s.findings.map((f) => html`<div class="box ${f.degraded ? "bad-box" : "warn-box"}"
    role=${f.degraded ? "alert" : undefined}>
    <b><${Line} text=${f.says} most=${600} /></b><p><${Line} text=${f.do} most=${600} /></p>
    ${paused(f) && html`<p><button onClick=${() => resume(f.provider)}>ask ${
      line(f.provider)} again</button></p>`}</div>`);
}

const Tile = ({ name, value, beside }) => html`<div class="tile"><div class="what">${name}</div>
  <div class="value">${value}</div><div class="beside">${beside}</div></div>`;

const most = 20; // open sessions that are listed
function Tiles({ status: s, open }) {
  const limit = Number(s.settings?.budget_usd_day ?? 0);
  const spent = s.today.usd + s.today.estimated_usd;
  const tokens = s.today.input_tokens + s.today.output_tokens;
  const used = s.providers.find((p) => p.state === "in_use");
  return html`<section class="tiles" aria-label="today">
    <${Tile} name="spent today" value=${money(spent)} beside=${limit ? `of ${money(limit)}` : tokens ?
      many(tokens, "token") : "no model is paid"} />
    <${Tile} name="turns today" value=${count(s.today.turns)} beside=${s.today.again ?
      `${count(s.today.again)} of them again` : "asked of the observer"} />
    <${Tile} name="observer" value=${line(used?.name ?? "none")} beside=${used ? line(used.model ?? "") :
      "nothing is asked now"} />
    <${Tile} name="open sessions" value=${open?.length >= most ? most + "+" : count(open?.length)}
      beside=${s.actors.waiting ? many(s.actors.waiting, "session") + " waiting" : "none waits"} />
    </section>`;
}

// memoryKinds are the kinds of rows that are memory: not the prompts.
export const memoryKinds = "observation,summary,memory";

// Entry is one row of memory in a line or two.
export const Entry = ({ r, children, selected }) => html`<li data-row class="row ${selected ? "is-selected" :
  ""}">
  <${Time} at=${r.at} /><span class="kind k-${what(r)}">${what(r)}</span>
  <a data-open href=${to("/ui/memory/" + (r.handle ?? r.id))} dir="auto"><${Line} text=${r.title} most=${160}
    /></a>
  <span class="marks">${by(r) && html`<span class="mark">${by(r)}</span>`}${r.flagged && html`<span
    class="mark is-bad">flagged</span>`}${r.newer && html`<span class="mark">newer ${r.newer}</span>`}
    ${r.count > 1 && html`<span class="mark" title="said so often">${r.count}×</span>`}<${Line}
      text=${r.project} most=${40} class="soft" /></span>${children}</li>`;

// about tells of a slice of records whether one is of a kind that begins so.
export const about = (begins) => (slice) => !slice || slice.some((r) => begins.test(r.kind));

// changesMemory reports whether a slice of records changes what is known, or what of it is shown.
export const changesMemory = about(/^(observation|summary|memory|preference|forget|claim|work|project)_/);

// useFresh asks anew a while after records came that matter: at most once a second.
export function useFresh(asked, matters) {
  const due = useRef();
  const newest = useRef();
  newest.current = asked;
  const act = () => { due.current = undefined; newest.current.again(); };
  useRecords((slice) => { if (matters(slice)) due.current ??= setTimeout(act, 700); }, []);
  useEffect(() => () => clearTimeout(due.current), []);
}

// Machines share one memory: when each was seen, how many of our records it lacks, and what is not well.
const Machines = ({ of: { problem, status: s } }) => html`<section><h2>Machines</h2>${[problem,
  ...(s?.problems ?? [])].map((p) => p && html`<p class="bad"><${Line} text=${p} most=${600} /></p>`)}
  <ul class="rows">${s?.machines.map((m) => html`<li class="row" key=${m.id}><${Time} at=${m.seen} /><span
    class="kind">${m.self ? "this" : m.gone ? "taken out" : ""}</span><${Line} text=${m.name} most=${60} />
    <span class="marks soft">${m.unread > 0 && `${many(m.unread, "record")} behind`}</span></li>`)}</ul>
  </section>`;

export default function Now({ status }) {
  const { project } = place.query;
  const sessions = useGet("/v1/sessions", { open: true, project, limit: most });
  const feed = useGet("/v1/rows", { kind: memoryKinds, limit: 20, project });
  useFresh(feed, changesMemory);
  const cluster = useGet(status.data?.joined && "/v1/cluster");
  const own = useGet(project && "/v1/outcomes", { project, limit: 1 });
  useFresh({ again: () => { sessions.again(); own.again(); } }, () => true);
  const inputs = project ? own.data?.balance : status.data?.inputs;
  const installed = status.data?.inputs.captured > 0;
  return html`<${View} title="Now" command=${["cmemd", "status"]} url="/v1/status">
    <${Asked} of=${status}>${(s) => html`${inputs && html`<${Balance} of=${inputs} />`}
    <${Findings} status=${s} again=${status.again} />
    <${Tiles} status=${s} open=${sessions.data?.sessions} />
    ${project && html`<p class="soft">What is spent, turns and who waits are of all projects.</p>`}
    ${s.damage && html`<${Trouble} error=${{ title: "The log is damaged", message: s.damage.reason }} />`}
    <section><h2>Just learned</h2><${Asked} of=${feed}>${({ rows }) => (rows.length
      ? html`<ol class="rows">${rows.map((r) => html`<${Entry} key=${r.id} r=${r} />`)}</ol>
        <p><a href=${to("/ui/memory")}>All of memory</a></p>`
      : html`<${Nothing} title=${installed ? "Nothing is remembered yet" :
        "No agent has reported anything yet"}
        command=${installed ? ["cmemd", "doctor"] : ["cmemd", "install", "claude-code"]}>${installed
        ? "What was captured waits for its turn, or held nothing worth keeping." :
          "An agent's hooks bring its sessions here; this sets them up:"}<//>`)}<//></section>
    <section><h2>Open sessions</h2><${Asked} of=${sessions} lines=${2}>${(d) => (d.sessions.length ?
      html`<ul class="rows">${d.sessions.map((o) => html`
      <li class="row" key=${o.id}><${Time} at=${o.last_at} /><span class="kind">${line(o.agent)}</span>
        <a href=${to("/ui/memory", { session: o.id })} dir="auto"><${Line} text=${o.title || o.agent_session}
          most=${140} /></a>
        <span class="marks soft">${line(o.machine)} ${many(o.tool_uses, "tool use")}${o.pending > 0 &&
          `, ${count(o.pending)} pending`} <${Line} text=${o.project} most=${40} /></span></li>`)}</ul>`
    : html`<p class="soft">None.</p>`)}<//></section>
    ${cluster.data?.joined && html`<${Machines} of=${cluster.data} />`}
    <p class="soft">${line(s.version)}, process ${s.pid}, log at ${count(s.position)}${s.spool.waiting > 0 &&
      `, ${many(s.spool.waiting, "payload")} (${bytes(s.spool.bytes)}) in the spool`}</p>`}<//><//>`;
}
