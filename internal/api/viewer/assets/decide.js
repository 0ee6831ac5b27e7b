// To decide: what waits for the person. Agents' requests to forget, folders that claim to be another project.

import { ask } from "./net.js";
import { line, many } from "./text.js";
import { about, useFresh } from "./now.js";
import { Forget } from "./forget.js";
import { Asked, Command, Dialog, Line, Nothing, Time, Verb, View, given, html, mayEdit, note, useGet,
  useState } from "./ui.js";

function Requests({ list, open, refuse }) {
  return html`<ul class="cards">${list.map((r) => html`<li data-row class="box"
    tabindex="0"><p><b>${many(r.records, "record")}</b>, asked by ${r.writer === "agent" ? "an agent" :
      line(r.writer)} <${Time} at=${r.at} />;${" "}
    ${many(r.rows.length, "row")} hidden until <${Time} at=${r.expires} />, then shown again</p>
    <ul class="sample">${r.sample.slice(0, 6).map((s) => html`<li><${Time} at=${s.at} /> <${Line}
      text=${s.text} most=${140} /></li>`)}</ul>
    <p class="verbs">${mayEdit() ? html`<${Verb} name="approve" keys="a" class="danger"
      act=${() => open(r)}>erase…<//><${Verb} name="refuse" keys="r" act=${() => refuse([r])}>refuse: show
        them again<//>` : html`<${Command} words=${["cmemd", "forget", "--requests"]} />`}</p></li>`)}</ul>`;
}

function Apart({ projects, join }) {
  const folders = projects.flatMap((p) => p.folders.filter((f) => f.looks_like?.length).map((f) =>
    ({ ...f, project: p.name })));
  if (!folders.length) return html`<p class="soft">No folder is kept apart.</p>`;
  return html`<ul class="cards">${folders.map((f) => html`<li data-row class="box" tabindex="0"><p><b><${Line}
    text=${f.root} /></b> claims to be the project of</p>
    <ul>${f.looks_like.map((l) => html`<li><${Line} text=${l} /></li>`)}</ul><p>and is kept apart: its memory
      and theirs are kept from each other.</p>
    <p class="verbs">${mayEdit() && html`<${Verb} name="join" keys="m" act=${() => join(f)}>join
      them<//>`} <${Command} words=${["cmemd", "project", "join", ...given(f.root)]} /></p></li>`)}</ul>`;
}

export default function Decide({ status }) {
  const requests = useGet("/v1/forget/requests");
  const projects = useGet("/v1/projects");
  useFresh(requests, about(/^(forget|memory)_/));
  useFresh(projects, about(/^(project|session)_/));
  const [request, open] = useState();
  const [refusing, toRefuse] = useState();
  const after = (what) => { note(what); requests.again(); projects.again(); status.again(); };
  const act = (asked, said) => asked.then(() => after(said), (e) => after(e.message));
  const refuse = (list) => act(Promise.all(list.map((r) => ask("POST",
    `/v1/forget/requests/${r.id}/refuse`))), "refused: what was hidden is shown again");
  const join = (f) => act(ask("POST", "/v1/projects/join", { folder: f.root }),
    "joined; cmemd project part takes it back");
  return html`<${View} title="To decide" command=${["cmemd", "forget", "--requests"]} url=${requests.url}
    about="What only you decide.">
    <section><h2>Agents ask to forget</h2><${Asked} of=${requests} lines=${3}>${(d) => (d.requests.length ?
      html`<${Requests} list=${d.requests} open=${open} refuse=${refuse} />${mayEdit() &&
        d.requests.length > 1 && html`<p class="verbs"><button class="danger" onClick=${() =>
          open({ id: "all", rows: d.requests.flatMap((r) => r.rows) })}>erase all…</button><button
          onClick=${() => toRefuse(d.requests)}>refuse all…</button></p>`}`
      : html`<${Nothing} title="No agent asks to forget anything">What an agent asks to forget is hidden, and
        waits here for you.<//>`)}<//></section>
    <section><h2>Projects kept apart</h2><${Asked} of=${projects} lines=${3}>${(d) => html`<${Apart}
      projects=${d.projects} join=${join} />`}<//></section>
    ${refusing && html`<${Dialog} title="Refuse ${many(refusing.length, "request")}"
      close=${() => toRefuse(undefined)}><p>What they hide is shown again.</p><button
      onClick=${() => refuse(refusing).then(() => toRefuse(undefined))}>refuse</button><//>`}
    ${request && html`<${Forget} request=${{ request: request.id }} named=${many(request.rows.length, "row")}
      path="/v1/forget/requests/${request.id}/approve"
      close=${() => open(undefined)} done=${() => { open(undefined); after("erased"); }} />`}<//>`;
}
