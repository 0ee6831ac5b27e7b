// Losses: what became of inputs, what was lost, and can it be had back?

import { work } from "./net.js";
import { bytes, count, line, many, words } from "./text.js";
import { fates, useFresh } from "./now.js";
import { Asked, Dialog, Line, Nothing, Progress, Tabs, Time, Trouble, Verb, View, html, mayEdit, note,
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
    work("/v1/reobserve", { ...request, wait: true }, setDoing).then((r) => { setResult(r);
      setDoing(undefined); }, (e) => { fail(e); setDoing(undefined); });
  };
  const a = result?.answers;
  return html`<${Dialog} title="Ask again: ${named}" close=${result ? done : close}>${error &&
    html`<${Trouble} error=${error} />`}
    ${!price && !error && html`<p role="status">Working out what it takes…</p>`}
    ${price && !result && html`<p><b>${many(price.inputs, "input")}</b> of ${many(price.sessions, "session")},
      in about ${many(price.turns, "turn")}: ${bytes(price.bytes)}, about <b>${
      many(price.tokens, "token")}</b>, by ${line(price.provider ?? "the provider in use")} ${line(price.model
        ?? "")}.</p>
      <p class="soft">${line(price.estimate)}${price.asked_before > 0 && `; ${count(price.asked_before)} more
        were asked for before, and wait`}${price.more && "; the rest has to be asked for after these"}</p>
      <p class="soft">What they gave before is replaced once they are answered; the old rows stay behind
        why.</p>
      ${doing ? html`<${Progress} of=${doing} label="answered" />` : html`<button disabled=${!price.inputs}
        onClick=${start}>ask again</button>`}`}
    ${a && html`<p><b>${count(a.observed)} observed</b>, ${count(a.skipped)} skipped, ${
      count(a.dropped)} dropped again, ${count(a.waiting)} not answered yet.</p>
      ${result.stopped?.map((s) => html`<p class="bad">${line(s)}</p>`)}<button
        onClick=${done}>close</button>`}<//>`;
}

function Reasons({ of, outcome, ask }) {
  const list = (of.reasons ?? []).filter((r) => !outcome || r.outcome === outcome).sort((a, b) => b.count -
    a.count);
  if (!list.length) return null;
  const most = list[0].count;
  return html`<section><h2>By reason</h2><table class="reasons"><thead><tr>
    ${["outcome", "reason", "inputs", "", ""].map((t) => html`<th>${t}</th>`)}</tr></thead><tbody>${
      list.map((r) => html`<tr>
    <td>${r.outcome}</td><td><a href=${to("/ui/losses", { outcome: r.outcome, class: r.class, reason: r.reason
      })}>${reason(r)}</a></td><td class="num">${count(r.count)}</td>
    <td class="share"><i class="f-${r.outcome}" style=${{ width: (100 * r.count) / most + "%" }} /></td>
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
  const asked = { outcome, class: query.class, reason: query.reason, project: query.project, turn: query.turn,
    session: query.session, before: query.before, limit: 100 };
  const list = useGet("/v1/outcomes", asked);
  const [again, ask] = useState();
  useFresh(list, (slice) => !query.before && (!slice || slice.length > 0));
  const scope = { project: query.project, session: query.session, turn: query.turn };
  const choose = (r) => ask({ request: { ...scope, dropped: r.outcome === "dropped" || undefined, class:
    r.class, reason: r.reason }, named: reason(r) });
  const flags = ["class", "reason", "project", "session", "turn", "before"].filter((f) => query[f]);
  const command = ["cmemd", "outcomes", outcome && ["--outcome", outcome],
    flags.flatMap((f) => ["--" + f, query[f]])];
  const b = list.data?.balance;
  const numbers = ["dropped", ...fates.filter((f) => f !== "dropped")];
  return html`<${View} title="Losses" command=${command} url=${list.url}
    about="What became of every input, and what can be asked again."
    verbs=${mayEdit() && b?.dropped > 0 && html`<${Verb} name="ask again for all that was dropped" keys="r"
      act=${() => ask({ request: { ...scope, dropped: true }, named: "all that was dropped" })}>ask
        again…<//>`}>
    <${Tabs} name="outcome" label="outcome" list=${[...numbers.map((f) => [f, f, b?.[f]]), ["all", "all",
      b?.captured]].map(([v, ...rest]) => [v === "dropped" && !query.outcome ? "" : v, ...rest])} />
    <${Asked} of=${list}>${(d) => html`<${Reasons} of=${d.balance} outcome=${outcome} ask=${choose} />
      ${d.inputs.length ? html`<section><h2>Inputs</h2><ol class="rows">${d.inputs.map((i) => html`<${Input}
        key=${i.position} i=${i} turns=${d.turns} />`)}</ol>
        <p>${query.before && html`<a class="button" href=${to("/ui/losses", { ...query, before: undefined
          })}>newest</a> `}${d.next > 0 && html`<a class="button" href=${to("/ui/losses", { ...query, before:
            d.next })}>older</a>`}</p></section>`
      : html`<${Nothing} title=${nothing[outcome]} command=${d.balance.captured ? undefined :
        ["cmemd", "doctor"]}>${outcome === "dropped" && d.balance.skipped > 0 &&
        html`${many(d.balance.skipped, "input")} held nothing worth recording: that is no loss. `}<//>`}`}<//>
    ${again && html`<${Again} ...${again} close=${() => ask(undefined)} done=${() => { ask(undefined);
      list.again(); note("the answers are in Memory"); }} />`}<//>`;
}
