// Captured text as it may be shown, and times, numbers and amounts in words.

// deceives are controls, the marks of bidirectional text, breaks that only some see, and what has no width.
const deceives = new RegExp("[\\0-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e" +
  "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]", "gu");

function escaped(c) {
  const n = c.codePointAt(0);
  const hex = (digits) => n.toString(16).padStart(digits, "0");
  return n < 0x80 ? "\\x" + hex(2) : n <= 0xffff ? "\\u" + hex(4) : "\\U" + hex(8);
}

// show is a text as cmemd's commands print it: an escape for what would hide, reorder or pose as something
// else. Line breaks and tabs stay. testdata/visible.json of the terminal's package holds both to the same.
export const show = (s) => String(s ?? "").replace(/\r\n/g, "\n")
  .replace(deceives, (c) => (c === "\n" || c === "\t" ? c : escaped(c)));

// line is show for what stays on one line.
export const line = (s) => show(s).replace(/[\n\t]/g, " ");

// cut is the beginning of a text, n characters of UTF-16 at most, and never half a character.
export function cut(s, n) {
  if (s.length <= n) return s;
  const at = s.charCodeAt(n - 1);
  return s.slice(0, at >= 0xd800 && at < 0xdc00 ? n - 1 : n) + "…";
}

// What formats is made once: making one takes a thousand times as long as using it.
const numbers = new Intl.NumberFormat("en-US");
const times = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

export const count = (n) => numbers.format(n ?? 0);
export const many = (n, one, more = one + "s") => `${count(n)} ${n === 1 ? one : more}`;

export function money(usd) {
  if (!usd) return "$0";
  return usd < 0.01 ? "< $0.01" : "$" + usd.toFixed(usd < 10 ? 3 : 2).replace(/0$/, "");
}

export function bytes(n) {
  const units = ["B", "kB", "MB", "GB"];
  let i = 0;
  for (; n >= 1000 && i < 3; i++) n /= 1000;
  return `${i && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

const two = (n) => String(n).padStart(2, "0");

// day and clock are of the person's own zone, day as ISO has it.
export const day = (t) => `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())}`;
export const clock = (t) => `${two(t.getHours())}:${two(t.getMinutes())}`;
export const seconds = (t) => `${clock(t)}:${two(t.getSeconds())}`;

// when is short: a time of today by its clock, any other by its day.
export function when(at, now = new Date()) {
  const t = new Date(at);
  if (isNaN(t) || t.getFullYear() < 1971) return "";
  if (day(t) === day(now)) return clock(t);
  return t.getFullYear() === now.getFullYear() ? `${day(t).slice(5)} ${clock(t)}` : day(t);
}

// full is a time in whole, with its zone, for those who point at a short one.
export const full = (at) => (isNaN(Date.parse(at)) ? "" : times.format(new Date(at)));

// words are an identifier as words: tool_used, no_xml.
export const words = (s) => line(s).replaceAll("_", " ");
