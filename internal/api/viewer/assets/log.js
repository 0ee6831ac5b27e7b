// Log: what is written right now? A list addressed by position: positions have no holes, so that a million
// rows need no index.

import { address, ask, work } from "./net.js";
import { bytes, count, day, line, seconds, show, words } from "./text.js";
import { Asked, Nothing, Progress, Trouble, Verb, View, html, note, place, turn, useEffect, useGet,
  useLayoutEffect, useRecords, useRef, useState } from "./ui.js";

const rowHeight = 28;
const page = 200;
const maxPages = 20;
const maxHeight = 15_000_000; // pixels: Chrome draws nothing below 16,777,200
const patience = [100, 10_000]; // ms before a page that came short is asked for again: at first, at most

const pageAt = (position) => Math.floor((position - 1) / page);

// usePages keeps the pages of records that were shown or came last, by their number.
function usePages() {
  const pages = useRef(new Map());
  const [, again] = useState(0);
  const [error, fail] = useState();
  const redraw = () => again((n) => n + 1);
  const keep = (p, had) => {
    pages.current.delete(p);
    pages.current.set(p, had);
    if (pages.current.size > maxPages) pages.current.delete(pages.current.keys().next().value);
  };
  const need = (first, last) => {
    for (let p = pageAt(first); p <= pageAt(last); p++) {
      const had = pages.current.get(p) ?? { records: [], wait: patience[0] };
      keep(p, had);
      const whole = had.records.length >= Math.min(page, last - p * page);
      if (whole || had.busy || had.next > performance.now()) continue;
      had.busy = true;
      const came = (records, e) => {
        const { wait } = had;
        Object.assign(had, { records, busy: false, next: performance.now() + wait, wait: Math.min(2 * wait,
          patience[1]) });
        if (records.length < page) setTimeout(redraw, wait + 20);
        fail(e);
        redraw();
      };
      ask("GET", address("/v1/log/records", { from: p * page + 1, limit: page }))
        .then((d) => came(d.records), (e) => came(had.records, e));
    }
  };
  const at = (position) => pages.current.get(pageAt(position))?.records[(position - 1) % page];
  // add takes records as they come: one that begins a page is the first of it.
  const add = (records) => {
    for (const r of records) {
      const i = (r.position - 1) % page;
      if (i === 0) keep(pageAt(r.position), { records: [], wait: patience[0] });
      const had = pages.current.get(pageAt(r.position));
      if (had && !had.busy && had.records.length === i) had.records.push(r);
    }
  };
  return { need, at, add, error, clear: () => { pages.current.clear(); redraw(); } };
}

const Row = ({ r, position, open }) => html`<div data-row tabindex="0" role="listitem"
  class="record ${r?.erased ? "is-erased" : ""}" data-position=${position}
  aria-label=${r ? `${position}, ${words(r.kind)}` : String(position)} onClick=${() => open(position)}
    onKeyDown=${(e) => e.key === "Enter" && open(position)}>
  <span class="pos">${count(position)}</span>${r ? html`<span>${seconds(new Date(r.recorded_at))}</span><span
    class="kind">${words(r.kind)}</span>
    <span class="soft stream">${line(r.stream)} ${r.version}</span><span class="soft num">${r.withheld ?
      "withheld" : r.erased ? "erased" : bytes(r.size)}</span>` : html`<i class="wait" />`}</div>`;

// Peek is one record with what happened.
function Peek({ position, close }) {
  const one = useGet("/v1/log/records", { from: position, limit: 1, payload: true });
  return html`<aside class="peek" aria-label="record ${position}"><button class="plain close"
    data-key="Escape" data-help="close" aria-label="close" onClick=${close}>✕</button>
    <${Asked} of=${one}>${({ records: [r] }) => (r?.position === position ?
      html`<h2>${count(r.position)} ${words(r.kind)}</h2>
      <dl class="facts-of"><dt>recorded</dt><dd>${line(r.recorded_at)}</dd><dt>occurred</dt><dd>${
        line(r.occurred_at)}</dd><dt>stream</dt><dd>${line(r.stream)}, version ${r.version}</dd>
        <dt>hash</dt><dd><code>${line(r.payload_hash)}</code></dd><dt>chain</dt><dd><code>${
          line(r.chain)}</code></dd></dl>
      ${r.event ? html`<pre class="said">${show(JSON.stringify(r.event, null, 2)).slice(0, 200_000)}</pre>` :
        html`<p class="soft">${line(r.problem ?? "It holds nothing.")}</p>`}`
    : html`<${Nothing} title="There is no such record" />`)}<//></aside>`;
}

// positionOf is the first record of a time or later, else the last.
const positionOf = (time, total) => ask("GET", address("/v1/log/records", { at: time.toISOString(),
  limit: 1 })).then((d) => d.records[0]?.position ?? total);

// Some are the records of a kind or a stream, the newest first.
function Some({ kinds, stream, open }) {
  const { before } = place.query;
  const most = Number.MAX_SAFE_INTEGER;
  const page = useGet("/v1/log/records", { kinds, stream, before: before ?? most, limit: 100 });
  return html`<${Asked} of=${page} lines=${14}>${(d) => html`<div class="log is-short" role="list"
    aria-label="records">${
    d.records.length ? [...d.records].reverse().map((r) => html`<${Row} key=${r.position} r=${r}
      position=${r.position} open=${open} />`)
    : html`<${Nothing} title="No record of that kind stands here" />`}</div>
    <p>${before && html`<a class="button" href=${address(place.path, { ...place.query, before: undefined
      })}>newest</a> `}${
    d.prev > 0 && html`<a class="button" href=${address(place.path, { ...place.query, before: d.prev
      })}>older</a>`}</p>`}<//>`;
}

// kinds of records by what they are about.
const kindsOf = {
  "": "all kinds", "turn_started,turn_received,turn_failed": "turns",
  "prompt_submitted,tool_used,agent_said,agent_stopped,context_compacted": "what was captured",
  "observation_parsed,summary_parsed,memory_saved,memory_superseded": "memory",
  "output_dropped,output_skipped,inputs_dropped": "losses", context_injected: "what was given",
  "session_respawned,session_quarantined,session_released,provider_paused,provider_resumed,session_faulted":
    "supervision",
  memory_forgotten: "what was forgotten", "daemon_started,daemon_stopped,daemon_degraded": "the daemon" };

function Verify() {
  const [doing, setDoing] = useState();
  const [found, setFound] = useState();
  const [error, fail] = useState();
  const start = () => {
    setDoing({});
    setFound(undefined);
    fail(undefined);
    work("/v1/log/verify", undefined, setDoing).then(setFound, fail).finally(() => setDoing(undefined));
  };
  return html`<span class="verbs">${doing ? html`<${Progress} of=${doing} label="verifying" />` :
    html`<${Verb} name="verify" keys="y" act=${start} />`}
    ${found && html`<b class=${found.ok ? "good" : "bad"} role="status">${found.ok ?
      `${count(found.records)} records, every chain holds` :
        `damaged at ${count(found.position)}: ${line(found.reason)}`}</b>`}
    ${error && html`<${Trouble} error=${error} />`}</span>`;
}

export default function Log() {
  const stats = useGet("/v1/log/stats");
  const [last, setLast] = useState(0);
  const [tail, setTail] = useState(!place.query.at);
  const [top, setTop] = useState(0);
  const box = useRef();
  const pages = usePages();
  const total = Math.max(last, stats.data?.last ?? 0);
  const tall = box.current?.clientHeight || 600;
  const inView = Math.ceil(tall / rowHeight) + 1;
  const height = Math.min(total * rowHeight, maxHeight);
  const scaled = height < total * rowHeight;
  // positionAt is the first row at a scroll position, scrollFor the other way.
  const spare = Math.max(1, height - tall);
  const rest = Math.max(1, total - inView + 2);
  const positionAt = (y) => 1 + (scaled ? Math.round((y / spare) * rest) : Math.floor(y / rowHeight));
  const scrollFor = (p) => (p - 1) * (scaled ? spare / rest : rowHeight);
  const first = Math.max(1, Math.min(tail ? total : positionAt(top), rest));
  const end = Math.min(total, first + inView);

  useRecords((slice) => {
    if (!slice) return pages.clear(), setLast(0), stats.again();
    pages.add(slice);
    setLast(slice.at(-1).position);
  }, []);
  useEffect(() => { if (total) pages.need(first, end); });
  useLayoutEffect(() => { if (tail && box.current) box.current.scrollTop = height; }, [tail, height,
    !stats.data]);
  const jump = (p) => {
    setTail(false);
    if (box.current) box.current.scrollTop = scrollFor(Math.max(1, p - Math.floor(inView / 3)));
  };
  const { kinds, stream } = place.query;
  const wanted = Number(place.query.at);
  useLayoutEffect(() => { if (wanted && total) jump(wanted); }, [wanted, total > 0]);
  const scrolled = (e) => {
    const y = e.currentTarget.scrollTop;
    if (tail && y + tall >= height - 2 * rowHeight) return;
    setTop(y);
    setTail(false);
  };
  const submit = async (e) => {
    e.preventDefault();
    const text = e.target.elements.at.value.trim();
    const time = /[-:]/.test(text) && new Date(/^\d+:/.test(text) ? day(new Date()) + "T" + text : text);
    const p = time && !isNaN(time) ? await positionOf(time, total) : Number(text.replace(/[,.\s]/g, ""));
    if (!(p >= 1 && p <= total)) return note(`that is no time, and no position from 1 to ${count(total)}`);
    turn({ at: p }, false);
  };
  const open = (p) => turn({ at: p });
  const y = tail ? height : scaled ? Math.floor(top) : (first - 1) * rowHeight;
  return html`<${View} title="Log" about=${stats.data && html`${count(total)} records
    in ${count(stats.data.streams)} streams, ${bytes(stats.data.file_bytes)}`}
    command=${["cmemd", "log", ...(wanted ? ["cat", `${wanted}-${wanted}`, "--payload"] : ["tail"])]}
    url=${wanted ? `/v1/log/records?from=${wanted}&payload=true` : "/v1/events?tail=true"}
    verbs=${html`<select aria-label="kinds of records" value=${kinds ?? ""}
      onChange=${(e) => turn({ kinds: e.target.value, before: undefined }, false)}>${Object.entries(
        kindsOf).map(([k, text]) =>
      html`<option value=${k}>${text}</option>`)}</select><form class="jump" onSubmit=${submit}><input
        name="at" aria-label="jump to a position or a time"
      placeholder="position or time" size="14" /><button>jump</button></form>
      <${Verb} name="tail" keys="t" act=${() => setTail(!tail)} class=${tail ? "is-on" : ""}>${tail ?
        "following" : "follow"}<//><${Verify} />`}>
    <${Asked} of=${stats} lines=${14}>${() => (total ? html`<div class="with-peek ${wanted ? "is-open" :
      ""}">${kinds || stream ? html`<${Some} kinds=${kinds} stream=${stream} open=${open} />` :
        html`<div class="log" ref=${box} onScroll=${scrolled} tabindex="-1">
      <div style=${{ height: height + "px", position: "relative" }}><div
        style=${{ transform: `translateY(${Math.min(y, Math.max(0, height - (end - first + 1) *
          rowHeight))}px)` }} role="list" aria-label="records">${
        Array.from({ length: end - first + 1 }, (_, i) => html`<${Row} key=${first + i} position=${first + i}
          r=${pages.at(first + i)} open=${open} />`)}</div></div></div>`}
      ${pages.error && html`<${Trouble} error=${pages.error} again=${pages.clear} />`}
      ${wanted > 0 && html`<${Peek} position=${wanted} key=${wanted} close=${() => turn({ at: undefined })}
        />`}</div>` : html`<${Nothing} title="The log is empty" command=${["cmemd", "doctor"]} />`)}<//><//>`;
}
