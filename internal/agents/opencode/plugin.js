// cmemd for OpenCode: reports what happens in sessions to cmemd, and shows the model what cmemd remembers of earlier ones.
// Without a daemon it does nothing that can be seen: each report is given to a small program, which keeps it until one runs.
import { spawn } from "node:child_process"

const command = ["cmemd-hook", "opencode"]
const patience = 2000 // in milliseconds: no report holds the agent up for longer
const limit = 10000 // in milliseconds: the command ends by itself long before, when it has put the report where it is safe

// run gives a report to the command and returns what it prints: nothing if it cannot be run, fails or takes too long.
const run = (report) =>
  new Promise((resolve) => {
    let out = ""
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill("SIGKILL"), limit)
    const end = () => (clearTimeout(timer), resolve(out))
    child.on("error", end)
    child.on("close", end)
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (out += data))
    child.stdin.end(JSON.stringify(report))
  })

// contextOf is the memory in a reply.
const contextOf = (reply) => {
  try {
    return JSON.parse(reply).context ?? ""
  } catch {
    return ""
  }
}

const reported = ["session.created", "session.idle", "session.error", "session.compacted", "session.deleted"]

// concerns says whether an event of the bus is looked at: those of reported, and what is told of tool calls.
const concerns = ({ type, properties }) =>
  reported.includes(type) || (type === "message.part.updated" && properties.part.type === "tool")

// ended says whether a tool call has ended.
const ended = (part) => ["completed", "error"].includes(part.state?.status)

export const Cmemd = async ({ client, directory }) => {
  const sessions = new Map() // id -> { root, parent, memory, recalled, texts, message, summary }
  let last = Promise.resolve()

  // queue runs jobs one after the other, so that reports keep the order in which things happened. It never fails.
  const queue = (job) => (last = last.then(job).catch(() => {}))

  const send = (session, report) =>
    run({
      hook_event_name: report.hook === "event" ? report.input.type : report.hook,
      session: session.root,
      subagent: session.parent ? session.id : undefined,
      directory,
      ...report,
    })

  // meet returns what is known of a session. One that was begun before this process is resumed.
  const meet = async (id, info) => {
    const known = sessions.get(id)
    if (known) return known
    const session = { id, root: id, memory: "", recalled: "", texts: new Map(), message: "", summary: "" }
    sessions.set(id, session)
    const found = info ?? (await client.session.get({ path: { id } }).catch(() => undefined))?.data
    session.parent = found?.parentID
    if (session.parent) session.root = (await meet(session.parent)).root
    else if (!info) session.memory = contextOf(await send(session, { hook: "session.resumed" }))
    return session
  }

  // listen keeps the last words of the agent, which no event of its end repeats.
  const listen = ({ type, properties }) => {
    const part = properties.part
    const session = sessions.get(properties.sessionID ?? part?.sessionID)
    if (!session) return
    if (type === "message.updated" && properties.info.summary === true) session.summary = properties.info.id
    if (type !== "message.part.updated" || part.type !== "text" || !part.time?.end || part.synthetic) return
    if (session.message !== part.messageID) session.texts.clear()
    session.message = part.messageID
    session.texts.set(part.id, part.text)
  }

  const tell = async (event) => {
    const { type, properties } = event
    const id = properties.sessionID ?? properties.part?.sessionID ?? properties.info?.id
    if (!id) return
    const session = await meet(id, type === "session.created" ? properties.info : undefined)
    const words = () => ({ said: [...session.texts.values()].join("\n"), message: session.message })
    if (properties.part) {
      if (session.texts.size > 0 && session.message === properties.part.messageID) {
        const report = { hook: "message.said", input: { sessionID: id }, ...words() }
        session.texts.clear()
        await send(session, report)
      }
      if (!ended(properties.part)) return
    }
    const report = { hook: "event", input: event }
    if (type === "session.idle" || (type === "session.compacted" && session.message === session.summary))
      Object.assign(report, words())
    const context = contextOf(await send(session, report))
    if (type === "session.created") session.memory = context
    if (type === "session.deleted") sessions.delete(id)
  }

  return {
    event: async ({ event }) => {
      if (event.properties) queue(() => listen(event))
      if (event.properties && concerns(event)) queue(() => tell(event))
    },
    "chat.message": async (input, output) => {
      const asked = queue(async () => {
        const session = await meet(input.sessionID)
        session.recalled = contextOf(await send(session, { hook: "chat.message", input, output }))
      })
      let timer
      await Promise.race([asked, new Promise((resolve) => (timer = setTimeout(resolve, patience)))])
      clearTimeout(timer)
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = sessions.get(input.sessionID)
      for (const text of [session?.memory, session?.recalled]) if (text) output.system.push(text)
    },
  }
}
