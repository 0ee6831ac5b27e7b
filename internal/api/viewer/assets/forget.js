// The dialogs that change memory: forget with a plan and a typed number, correct and save.

import { ask, live, work } from "./net.js";
import { bytes, count, line, many, words } from "./text.js";
import { Command, Dialog, Line, Progress, Said, Time, Trouble, given, html, note, to,
  useEffect, useState } from "./ui.js";

// Forget shows what would go, has the number of records typed, erases exactly that, and shows the receipt.
export function Forget({ request, named, close, done, path = "/v1/forget" }) {
  const [plan, setPlan] = useState();
  const [error, fail] = useState();
  const [typed, type] = useState("");
  const [doing, setDoing] = useState();
  const [gone, setGone] = useState();
  const look = () => {
    setPlan(undefined);
    fail(undefined);
    work("/v1/forget", { ...request, dry_run: true }).then(setPlan, fail);
  };
  useEffect(look, []);
  const erase = (e) => {
    e.preventDefault();
    setDoing({});
    const { request: asked, ...chosen } = request; // an agent's request is named by the path
    work(path, { ...chosen, through: plan.position, records: plan.records }, setDoing)
      .then((r) => { live.pass(undefined); setGone(r); }, fail).finally(() => setDoing(undefined));
  };
  const of = plan && Object.entries(plan.kinds).sort((a, b) => b[1] - a[1]);
  return html`<${Dialog} title="Forget ${named}" close=${gone ? done : doing ? () => {} : close}>
    ${error && html`<${Trouble} error=${error} again=${look} />`}
    ${!plan && !error && html`<p role="status">Looking at what was made of it…</p>`}
    ${gone ? html`<${Receipt} of=${gone} done=${done} />` : plan && html`
      <p><b>${many(plan.records, "record")}</b> (${bytes(plan.bytes)}) in ${many(plan.sessions.length,
        "session")} would be erased for good${plan.spooled > 0 &&
        `, and ${many(plan.spooled, "file")} beside the log`}. This cannot be taken back.</p>
      <p class="soft">${of.map(([k, n]) => `${count(n)} ${words(k)}`).join(", ")}</p>
      <ul class="sample">${plan.sample.slice(0, 8).map((s) => html`<li><${Time} at=${s.at} /> <span
        class="soft">${words(s.kind)}</span> <${Line} text=${s.text} most=${110} /></li>`)}</ul>
      ${plan.kept > 0 && html`<p class="soft">${many(plan.kept, "record")} that it was made of stays: other
        memory was made of that too.</p>`}
      ${plan.records === 0 && plan.spooled === 0 ? html`<p>There is nothing of it.</p>` : doing ?
        html`<${Progress} of=${doing} label="erasing" />`
        : html`<form onSubmit=${erase}><label>Type the number of records to erase them:
          <input inputmode="numeric" autocomplete="off" value=${typed} onInput=${(e) =>
            type(e.target.value)} /></label> <button class="danger"
            disabled=${typed.replaceAll(",", "") !== String(plan.records)}>erase</button></form>`}`}<//>`;
}

const Receipt = ({ of, done }) => (of.request
  ? html`<p>An agent's link keeps this as a request, ${line(of.request.name)}: nothing is erased until a
    person approves it.</p><button onClick=${done}>close</button>`
  : html`<p>${of.records ? html`<b>${many(of.records, "record")} erased.</b> The log keeps their headers,
    whose hashes still verify; <a href=${to("/ui/log", { at: of.position })}>record ${
      count(of.position)}</a> says that they went${of.unread > 0 &&
      `; ${many(of.unread, "record")} could not be read`}.`
    : "There is nothing of it any more: it was erased meanwhile."}</p>
    ${of.refused?.length > 0 && html`<p class="bad">${many(of.refused.length, "session")} could not be asked;
      they are asked again.</p>`}
    <p><${Command} words=${["cmemd", "log", "verify"]} /></p><button onClick=${done}>close</button>`);

// Correct puts a memory in the place of a row, which stays behind why; without a row it saves one.
export function Correct({ row, project, close, done }) {
  const [key] = useState(() => crypto.randomUUID()); // so that who lost the answer saves it once
  const [title, setTitle] = useState(row?.title ?? "");
  const [text, setText] = useState(row ? row.narrative ?? row.text ?? "" : "");
  const [error, fail] = useState();
  const save = (e) => {
    e.preventDefault();
    const body = { project: row ? "" : project ?? "", title, text, ...(row && { supersedes: row.id }) };
    ask("POST", "/v1/memories", body, { key }).then(({ id }) => {
      const undo = () => ask("POST", `/v1/memories/${id}/undo`).then(() => { note("taken back"); done(); },
        (why) => note(why.message));
      note(row ? "corrected; the old row stays behind why" : "saved", undo);
      done();
    }, fail);
  };
  const command = ["cmemd", "save", row && ["--supersedes", row.handle ?? row.id], title &&
    ["--title", title], given(text || "TEXT")];
  return html`<${Dialog} title=${row ? "Correct" : "Save a memory"} close=${close}><form onSubmit=${save}
    class="write">
    ${error && html`<${Trouble} error=${error} />`}
    ${row && html`<p class="soft">Instead of:</p><blockquote><b><${Line} text=${row.title} /></b><br
      /><${Said} text=${row.narrative ?? row.text} most=${600} /></blockquote>`}
    <label>Title <input value=${title} onInput=${(e) => setTitle(e.target.value)} /></label>
    <label>Text <textarea rows="6" required value=${text} onInput=${(e) => setText(e.target.value)} /></label>
    ${!row && !project && html`<p class="soft">It is saved for no project in particular: choose one above, to
      keep it to that.</p>`}
    <p><button disabled=${!text.trim()}>${row ? "correct" : "save"}</button></p>
    <p><${Command} words=${command} /></p></form><//>`;
}
