// The door, requests, work with progress, and the live stream. A key pair that the browser does not export
// lets a tab in for an hour at a time; what a tab holds is in its memory alone.

// A Problem is an answer that is no success, as RFC 9457 has it.
export class Problem extends Error {
  constructor(p, status) {
    super(p?.detail || p?.title || "HTTP " + status);
    Object.assign(this, { title: p?.title, type: p?.type, errors: p?.errors ?? [], status });
  }
}

// door is how far this browser is let in: "opening", "open", or "shut" with why.
export const door = { state: "opening", why: "", scope: "", bearer: "", changed: () => {} };

const tell = (change) => { Object.assign(door, change); door.changed(); live.look(); };
const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
const said = (text) => new TextEncoder().encode(text);

// kept keeps the key of this browser: in its own database, or where there is none, as in some private
// windows, in the tab's memory.
const kept = {
  memory: undefined, async with(mode, act) {
    const db = await new Promise((ok, no) => {
      const asked = indexedDB.open("cmemd", 1);
      asked.onupgradeneeded = () => asked.result.createObjectStore("keys");
      asked.onsuccess = () => ok(asked.result);
      asked.onerror = asked.onblocked = () => no(asked.error);
    });
    try {
      return await new Promise((ok, no) => {
        const asked = act(db.transaction("keys", mode).objectStore("keys"));
        asked.onsuccess = () => ok(asked.result);
        asked.onerror = () => no(asked.error);
      });
    } finally { db.close(); }
  },
  async get() {
    return this.memory ?? await this.with("readonly", (s) => s.get("viewer")).catch(() => undefined);
  },
  async put(viewer) {
    this.memory = viewer;
    await this.with("readwrite", (s) => s.put(viewer, "viewer")).catch(() => {});
  },
  async drop() {
    this.memory = undefined;
    await this.with("readwrite", (s) => s.delete("viewer")).catch(() => {});
  },
};

const noCrypto = "This browser has no WebCrypto, which the page needs to be let in. A newer one has it.";

// enrol lets this browser in by the code of a link of `cmemd ui`.
export async function enrol(code) {
  if (!globalThis.crypto?.subtle) return tell({ state: "shut", why: noCrypto });
  try {
    const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false,
      ["sign", "verify"]);
    const key = base64(await crypto.subtle.exportKey("raw", pair.publicKey));
    const { id, scope } = await send("POST", "/v1/ui/viewers", { code: code.trim(), key });
    if (scope !== "edit" && await signIn().then(() => door.scope === "edit", () => false)) {
      await ask("DELETE", "/v1/ui/viewers/" + encodeURIComponent(id)).catch(() => {});
      return tell({ why: "That link only shows memory; this browser may change it, and still may." });
    }
    await kept.put({ id, key: pair.privateKey });
    await signIn();
  } catch (e) {
    await comeIn(); // a key that was kept before is as good as it was
    tell({ why: e.message });
  }
}

let signing;
// signIn gets a bearer for this browser's key, for all who ask at once. It throws what keeps the tab out.
function signIn() {
  signing ??= (async () => {
    const viewer = await kept.get();
    if (!viewer) throw new Problem({ detail: "" }, 401);
    const { nonce } = await send("POST", "/v1/ui/nonces", { viewer: viewer.id });
    const made = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, viewer.key,
      said("cmemd sign-in\n" + nonce));
    const a = await send("POST", "/v1/ui/sessions", { viewer: viewer.id, nonce, signature: base64(made) });
    tell({ state: "open", why: "", soon: false, scope: a.scope, bearer: a.bearer });
  })().finally(() => { signing = undefined; });
  return signing;
}

// enter is called once: with a code in the address, which it takes out of there first, it enrols.
export async function enter() {
  const code = new URLSearchParams(location.hash.slice(1)).get("c");
  if (code) {
    history.replaceState(null, "", location.pathname + location.search);
    return enrol(code);
  }
  if (!globalThis.crypto?.subtle) return tell({ state: "shut", why: noCrypto });
  await comeIn();
}

// comeIn signs in by the key that is kept. While the daemon only cannot answer it tries again.
async function comeIn() {
  await signIn().catch(forgetKey).catch((e) => {
    if (e.status === 401) return;
    setTimeout(() => door.state === "shut" && comeIn(), 3000);
    tell({ state: "shut", why: e.message, soon: true });
  });
}

// forgetKey shuts the door where a problem says that the daemon knows this browser no more; it throws it on.
async function forgetKey(e) {
  if (e.status === 401) {
    await kept.drop();
    tell({ state: "shut", why: e.message, soon: false });
  }
  throw e;
}

export async function leave() {
  const { id } = (await kept.get()) ?? {};
  if (id) await ask("DELETE", "/v1/ui/viewers/" + encodeURIComponent(id)).catch(() => {});
  await kept.drop();
  tell({ state: "shut", why: "", bearer: "" });
}

async function send(method, path, body, { signal, accept, key } = {}) {
  const headers = { Accept: accept ?? "application/json", ...(key && { "Idempotency-Key": key }) };
  if (door.bearer) headers.Authorization = "Bearer " + door.bearer;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const r = await fetch(path, {
    method, headers, signal, credentials: "omit", body: body === undefined ? undefined : JSON.stringify(body),
  }).catch((e) => {
    if (e.name === "AbortError") throw e;
    throw new Problem({ title: "No answer", detail:
      "cmemd does not answer: it may be stopped. `cmemd start` starts it." }, 0);
  });
  if (!r.ok) throw new Problem(await r.json().catch(() => undefined), r.status);
  if (accept) return r;
  return r.status === 204 ? undefined : r.json().catch(early);
}

// early tells of an answer that was cut, by a daemon that stopped in the middle of it.
function early(e) {
  if (e?.name === "AbortError") throw e;
  throw new Problem({ title: "The answer ended early", detail:
    "cmemd stopped meanwhile; look again before you try again." }, 0);
}

// ask asks for a path of /v1. A bearer that has ended, or that a daemon since started does not know, is
// replaced once.
export async function ask(method, path, body, options) {
  if (door.state !== "open") await signIn();
  try {
    return await send(method, path, body, options);
  } catch (e) {
    if (e.status !== 401) throw e;
    door.bearer = "";
    await signIn().catch(forgetKey);
    return send(method, path, body, options);
  }
}

// address is a path with those parameters that are something.
export function address(path, query = {}) {
  const q = Object.entries(query).filter(([, v]) => v !== undefined && v !== null && v !== "" && v !== false);
  return q.length ? path + "?" + new URLSearchParams(q) : path;
}

// messages yields the server-sent events of an answer, { id, event, data }. A line is at most of the size
// that the daemon sends.
async function* messages(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(early);
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const m = {};
        for (const l of block.split("\n")) {
          const i = l.indexOf(": ");
          if (i > 0) m[l.slice(0, i)] = l.slice(i + 2);
        }
        if (m.data) yield { ...m, data: JSON.parse(m.data) };
      }
    }
  } finally { reader.cancel().catch(() => {}); }
}

// work asks for what takes its time, tells progress { done, total }, and returns the result. Without a body
// it is a GET.
export async function work(path, body, progress = () => {}, signal = undefined) {
  const r = await ask(body ? "POST" : "GET", path, body, { signal, accept:
    "text/event-stream, application/json" });
  if (!r.headers.get("Content-Type").startsWith("text/event-stream")) return r.json().catch(early);
  for await (const m of messages(r)) {
    if (m.event === "progress") progress(m.data);
    if (m.event === "problem") throw new Problem(m.data, m.data.status);
    if (m.event === "result") return m.data;
  }
  return early();
}

const farBehind = 5000; // records: a tab that was hidden for longer begins anew, which costs less

// live follows the log from the last position that was seen, while the tab is visible. State is live,
// catching, paused or off.
export const live = {
  state: "catching", position: 0, goal: 0, log: "", heard: new Set(), watched: new Set(),

  // listen calls f with each slice of records as they come, and with undefined where records were passed
  // over: what is shown is then to be read anew. It returns how to listen no more.
  listen(f) { this.heard.add(f); return () => this.heard.delete(f); },

  // knew takes what position an answer knows that came before the stream, which begins behind the first.
  knew(position) {
    if (!this.log && position) this.position = Math.min(this.position || position, position);
  },

  become(state) {
    if (state === this.state) return;
    this.state = state;
    for (const f of this.watched) f();
  },

  // start has the log followed from now on. It does so once.
  start() {
    if (!this.running) document.addEventListener("visibilitychange", () => this.look());
    this.running ??= this.run();
  },

  // run follows until the page is gone. Each failure is tried again after a second, two, four, at most ten.
  async run() {
    let wait = 0;
    for (;;) {
      if (document.hidden || door.state !== "open") {
        if (document.hidden || door.state === "shut") this.become("paused");
        await this.wake();
        continue;
      }
      this.stop = new AbortController();
      const hide = () => document.hidden && this.stop.abort();
      document.addEventListener("visibilitychange", hide);
      let whole = 0; // when a stream is one that may end: one lasts for an hour at most
      try {
        await this.follow(this.stop.signal, () => { wait = 0; whole = performance.now() + 60_000; });
      } catch { whole = Infinity; this.log ||= "unknown"; } // what is shown may be of a log that went
      document.removeEventListener("visibilitychange", hide);
      if (document.hidden || performance.now() > whole) continue;
      this.become("off");
      wait = Math.min(10_000, wait ? wait * 2 : 1000);
      await new Promise((ok) => setTimeout(ok, wait));
    }
  },

  look() {}, // is called when the tab is shown or the door has changed

  wake() {
    return new Promise((ok) => {
      this.look = () => { if (!document.hidden && door.state === "open") ok(); };
    });
  },

  // follow begins where the last stream ended, and says so to begun; it throws where that is too far away, or
  // of another log, once it has told those who listen that they begin anew.
  async follow(signal, begun) {
    const r = await ask("GET", address("/v1/events", { after: this.position, hello: true }), undefined,
      { signal, accept: "text/event-stream" });
    begun();
    let slice = [];
    const flush = () => { this.pass(slice.splice(0)); };
    for await (const m of messages(r)) {
      if (m.event === "hello") this.meet(m.data);
      else {
        this.position = m.data.position; // the first stream begins before the end that hello names
        if (slice.push(m.data) === 1) setTimeout(flush, 100);
      }
      this.become(this.position < this.goal ? "catching" : "live");
    }
  },

  // meet takes which log it is and where it ends.
  meet({ log, last }) {
    const anew = last < this.position || this.log && (log !== this.log || last - this.position > farBehind);
    Object.assign(this, { goal: last, log: log || "none" });
    if (!anew) return;
    this.position = last;
    this.pass(undefined);
    throw new Error("the stream begins anew");
  },

  pass(slice) { for (const f of this.heard) f(slice); },
};
