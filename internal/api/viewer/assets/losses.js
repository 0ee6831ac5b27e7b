// Losses: what became of inputs, what was lost, and can it be had back?

import { work } from "./net.js";
import { bytes, count, day, line, many, money, words } from "./text.js";
import { about, fates, useFresh } from "./now.js";
import { Asked, Chips, Dialog, Line, Nothing, Progress, Tabs, Time, Trouble, Verb, View, html, mayEdit, note,
  to, useEffect, useGet, usePlace, useState } from "./ui.js";

const nothing = {
  dropped: "Nothing was dropped: every output so far could be read.", pending: "Nothing waits.",
  skipped: "Nothing was skipped.", observed: "Nothing was observed yet.", forgotten: "Nothing was forgotten.",
  "": "Nothing was captured yet.",
};

// why an outcome came about, in words; unknown ones are shown as they are.
const reasons = {
  no_xml: "nothing in it could be read", malformed: "begun, and not whole", empty: "nothing worth recording",
  missing_summary: "a summary was asked for, and none came", skip_summary: "no summary needed",
  poison: "it broke each turn it was in", refused: "the provider refused it", overflow:
    "too long for the provider", expired: "held for too long", crowded: "too much was held",
};

export const reason = (r) => [r.class && words(r.class), r.reason && (reasons[r.reason] ??
  words(r.reason))].filter(Boolean).join(": ") || "no reason given";

// Again asks for inputs once more, the price first.
function Again({ request, named, close, done }) {
  const [price, setPrice] = useState();
  const [error, fail] = useState();
  const [doing, setDoing] = useState();
  const [result, setResult] = useState();
  useEffect(() => { work("/v1/reobserve", { ...request, dry_run: true }).then(setPrice, fail); }, []);
  const start = () => {
    setDoing({});
    work("/v1/reobserve", { ...request, wait: true }, setDoing).then(setResult, fail)
      .finally(() => setDoing(undefined));
  };
  const a = result?.answers;
  return html`<${Dialog} title="Ask again: ${named}" close=${result ? done : close}>${error &&
    html`<${Trouble} error=${error} />`}
    ${!price && !error && html`<p role="status">Working out what it takes…</p>`}
    ${price && !result && html`<p><b>${many(price.inputs, "input")}</b> of ${many(price.sessions, "session")},
      in about ${many(price.turns, "turn")}: ${bytes(price.bytes)}, about <b>${many(price.tokens, "token")}${
      price.usd > 0 && ", " + money(price.usd)}</b>, by ${line(price.provider)} ${line(price.model)}.</p>
      <p class="soft">${line(price.estimate)}${price.asked_before > 0 && `; ${count(price.asked_before)} more
        were asked for before, and wait`}${price.more && "; the rest has to be asked for after these"}</p>
      <p class="soft">What they gave before is replaced once they are answered; old rows stay behind why.</p>
      ${doing ? html`<${Progress} of=${doing} label="answered" />` : html`<button disabled=${!price.inputs}
        onClick=${start}>ask again</button>`}`}
    ${a && html`<p><b>${count(a.observed)} observed</b>, ${count(a.skipped)} skipped, ${
      count(a.dropped)} dropped again, ${count(a.waiting)} not answered yet.</p>
      ${result.stopped?.map((s) => html`<p class="bad">${line(s)}</p>`)}<button
        onClick=${done}>close</button>`}<//>`;
}

// Days are the turns of the last month that came to nothing, by class; each day leads to its inputs.
function Days({ query }) {
  const list = useGet("/v1/losses");
  useFresh(list, about(/^(turn|output)_/));
  const days = list.data?.days ?? [];
  const kinds = [...new Set(days.flatMap((d) => Object.keys(d.dropped)))].sort();
  if (!kinds.length) return null;
  const sum = (d) => Object.values(d.dropped).reduce((n, m) => n + m, 0);
  const most = Math.max(...days.map(sum));
  const name = (kind, [c, r] = kind.split("/")) => reason({ class: c, reason: r });
  const date = (d) => day(new Date(d.begins));
  const says = (d) => [`${date(d)}: ${count(sum(d))} of ${many(d.turns, "turn")} lost`,
    ...Object.entries(d.dropped).map(([kind, n]) => `${count(n)} ${name(kind)}`)].join("; ");
  const chosen = (d) => ({ ...query, before: undefined, since: d.begins, until: d.ends });
  return html`<section><h2>By day</h2><div class="days">${days.map((d) => html`<a title=${says(d)}
    aria-label=${says(d)} aria-current=${query.since === d.begins ? "date" : undefined}
    href=${to("/ui/losses", chosen(d))}>${kinds.map((kind, i) => d.dropped[kind] && html`<i
      class="class-${i % 4}" style=${{ height: (100 * d.dropped[kind]) / most + "%" }} />`)}<span>${
      date(d).slice(8)}</span></a>`)}</div><p class="soft">Turns that came to nothing, of all projects:
    ${kinds.map((kind, i) => html` <span class="key-of"><i class="class-${i % 4}" />${
      name(kind)}</span>`)}</p></section>`;
}

function Reasons({ of, outcome, ask, query }) {
  const list = (of.reasons ?? []).filter((r) => !outcome || r.outcome === outcome)
    .sort((a, b) => b.count - a.count);
  if (!list.length) return null;
  const heads = [...(outcome ? [] : ["outcome"]), "reason", "inputs", "", ""];
  const chosen = ({ class: c, ...r }) => ({ ...query, before: undefined, class: c, outcome: r.outcome,
    reason: r.reason });
  return html`<section><h2>By reason</h2><table class="reasons"><thead><tr>${heads.map((t) =>
    html`<th>${t}</th>`)}</tr></thead><tbody>${list.map((r) => html`<tr>${!outcome &&
    html`<td>${r.outcome}</td>`}<td><a href=${to("/ui/losses", chosen(r))}>${reason(r)}</a></td>
    <td class="num">${count(r.count)}</td><td class="share"><i class="f-${r.outcome}"
      style=${{ width: (100 * r.count) / list[0].count + "%" }} /></td>
    <td>${mayEdit() && r.outcome !== "observed" && html`<button onClick=${() => ask(r)}>ask
      again…</button>`}</td></tr>`)}</tbody></table></section>`;
}

function Input({ i, turns }) {
  const who = turns[i.turn];
  return html`<li data-row class="row"><${Time} at=${i.at} /><span
    class="kind f-text-${i.outcome}">${i.outcome}</span>
    <a data-open href=${to("/ui/log", { at: i.position })}>${words(i.kind)} <span
      class="pos">${count(i.position)}</span></a>
    <span class="marks soft">${(i.class || i.reason) && reason(i)}${i.reobserve &&
      html` <span class="mark">asked again</span>`} ${who && html`<${Line} text="${who.provider} ${who.model
        ?? ""}" />`}</span>
    ${who?.preview && html`<p class="snippet"><${Line} text=${who.preview} most=${200} /></p>`}</li>`;
}

export default function Losses() {
  const { query } = usePlace();
  const outcome = query.outcome === "all" ? "" : query.outcome ?? "dropped";
  const { before, project, session, turn, since, until } = query;
  const scope = { project, session, turn, since, until };
  const list = useGet("/v1/outcomes", { outcome, class: query.class, reason: query.reason, ...scope, before,
    limit: 100 });
  const [again, ask] = useState();
  useFresh(list, (slice) => !before && (!slice || slice.length > 0));
  const choose = (r) => ask({ request: { ...scope, dropped: r.outcome === "dropped" || undefined, class:
    r.class, reason: r.reason }, named: reason(r) });
  const set = ["class", "reason", "session", "turn", "since", "until"].filter((f) => query[f]);
  const command = ["cmemd", "outcomes", outcome && ["--outcome", outcome],
    [...set, "project", "before"].flatMap((f) => (query[f] ? ["--" + f, query[f]] : []))];
  const b = list.data?.balance;
  const numbers = ["dropped", ...fates.filter((f) => f !== "dropped")];
  return html`<${View} title="Losses" command=${command} url=${list.url}
    about="What became of every input, and what can be asked again."
    verbs=${mayEdit() && b?.dropped > 0 && html`<${Verb} name="ask again for all that was dropped" keys="r"
      act=${() => ask({ request: { ...scope, dropped: true }, named: "all that was dropped" })}>ask
        again…<//>`}>
    <${Tabs} name="outcome" label="outcome" list=${[...numbers.map((f) => [f, f, b?.[f]]), ["all", "all",
      b?.captured]].map(([v, ...rest]) => [v === "dropped" && !query.outcome ? "" : v, ...rest])} />
    <${Chips} names=${set} /><${Days} query=${query} />
    <${Asked} of=${list}>${(d) => html`${!since && html`<${Reasons} of=${d.balance} outcome=${outcome}
      ask=${choose} query=${query} />`}
      ${d.inputs.length ? html`<section><h2>Inputs</h2><ol class="rows">${d.inputs.map((i) => html`<${Input}
        key=${i.position} i=${i} turns=${d.turns} />`)}</ol>
        <p>${query.before && html`<a class="button" href=${to("/ui/losses", { ...query, before: undefined
          })}>newest</a> `}${d.next > 0 && html`<a class="button" href=${to("/ui/losses", { ...query, before:
            d.next })}>older</a>`}</p></section>`
      : html`<${Nothing} title=${set.length ? "Nothing matches" : nothing[outcome]}
        command=${!d.balance.captured && ["cmemd", "doctor"]}>${outcome === "dropped" &&
        d.balance.skipped > 0 && html`${many(d.balance.skipped, "input")} held nothing worth recording: no
        loss. `}<//>`}`}<//>
    ${again && html`<${Again} ...${again} close=${() => ask(undefined)} done=${() => { ask(undefined);
      list.again(); note("the answers are in Memory"); }} />`}<//>`;
}
