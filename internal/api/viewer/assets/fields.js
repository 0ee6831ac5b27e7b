// A whole row, in the order in which it is read.

import { Line, Said, html, to } from "./ui.js";
import { line, many } from "./text.js";

const texts = [["subtitle", ""], ["narrative", ""], ["text", ""], ["request", "Asked"],
  ["investigated", "Looked at"], ["learned", "Learned"], ["completed", "Done"], ["next_steps", "Next steps"],
  ["notes", "Notes"]];

const lists = [["files_modified", "Changed"], ["files_read", "Read"], ["files_unverified",
  "Named, not seen"]];

export const Fields = ({ row }) => html`<div class="fields">
  ${texts.filter(([f]) => row[f]).map(([f, label]) => html`<p class="f-text">${label &&
    html`<b>${label}</b> `}<${Said} text=${row[f]} /></p>`)}
  ${row.facts?.length > 0 && html`<ul class="facts">${row.facts.map((f) => html`<li><${Said} text=${f}
    most=${1000} /></li>`)}</ul>`}
  ${lists.filter(([f]) => row[f]?.length).map(([f, label]) =>
    html`<p class="files"><b>${label}</b> ${row[f].slice(0, 12).map((p) => html`
    <a href=${to("/ui/memory", { file: p })}><${Line} text=${p.split("/").slice(-2).join("/")} most=${60}
      /></a> `)}${row[f].length > 12 && `and ${row[f].length - 12} more`}</p>`)}
  ${row.concepts?.length > 0 && html`<p class="soft">${row.concepts.map((c) =>
    html`<a href=${to("/ui/memory", { concept: c })}>${line(c)}</a> `)}</p>`}
  ${row.unseen && html`<p class="bad">It names files that nobody touched.</p>`}${row.unsupported &&
    html`<p class="bad">Nothing said or done bears it out.</p>`}
  ${row.count > 1 && html`<p class="soft">Said ${many(row.count, "time")}.</p>`}</div>`;
