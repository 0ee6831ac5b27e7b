// Package agents translates what coding agents report, in hook payloads and in transcripts, into commands to a session,
// and what a session answers into the replies that the agents honour. It does no I/O of its own and knows no clock:
// whoever carries a payload says when it came and as which delivery.
//
// What becomes of Claude Code's hooks:
//
//	hook                             captured as               remarks
//	SessionStart                     SessionOpened{source}     startup, clear, compact: memory is wanted; resume, fork
//	                                                           and sources not known here: only memory that is new
//	UserPromptSubmit                 PromptSubmitted           all private: no text, Private set; not captured if no
//	                                                           word of it is the user's (<task-notification> and alike)
//	PostToolUse                      ToolUsed                  beside a patch without originalFile and without copies
//	                                                           of the input
//	PostToolUseFailure               ToolUsed, Failed          output: the error
//	PostToolUse of our own MCP tools ToolUsed, Unobserved own  counted, without input and output, never observed; so is
//	                                                           a shell line that runs cmemd and nothing else
//	SubagentStop with agent_type     ToolUsed "SubagentStop"   output: what the subagent said last
//	SubagentStop without agent_type  -                         the agent's own summariser at a compaction
//	Stop                             AgentStopped, stop
//	StopFailure                      AgentStopped, failure     error: the agent's type of it; no words, they are the agent's
//	                                                           program's about its own request
//	PostCompact                      ContextCompacted          the <summary>, without the <analysis>
//	SessionEnd                       SessionClosed{reason}
//	PreToolUse that reads a file     -                         memory of that file is wanted
//	all others, known or not         -                         ignored, with a reason
//
// Tools used inside a subagent carry its id and type. Memory goes back at SessionStart, at most MaxContext characters of
// it, together with a line for the person; and, where that is asked for, at a prompt and before a file is read. Every
// other event gets an empty reply, Stop above all: a context there makes the agent go on.
//
// What becomes of the lines of Claude Code's transcripts:
//
//	line                                         captured as
//	first of a session                           SessionOpened{transcript}
//	user, text                                   PromptSubmitted; a typed command as "/name arguments"
//	user, text, machine-made, isMeta, side chain -
//	user, isCompactSummary                       ContextCompacted
//	user, tool_result with its tool_use before   ToolUsed; is_error: Failed
//	assistant, last text of a turn               AgentStopped, when a prompt, a compaction, the summary of stop hooks
//	                                             or the end of the file follows
//	assistant, any other text                    AgentSaid, when a tool call, another text or an interruption follows, or
//	                                             its stop_reason is tool_use
//	assistant, isApiErrorMessage                 AgentStopped, failure, without words
//	assistant, last text of a subagent           ToolUsed "SubagentStop", where the line names the subagent's type
//	attachment queued_command                    PromptSubmitted: typed while the agent worked
//	result, of a stream                          AgentStopped, with the last text
//	any that a fork has from its parent          -: that one's transcript has it; its calls wait for results
//	all others                                   counted in Progress.Skipped
//
// The stream that `claude -p --output-format stream-json` prints is read too: its folder stands in the system line init. It has
// no prompts and no prompt ids, so that a stop of it, which is in the transcript as well, is recorded twice, the second time
// without work.
//
// The tables of the other agents stand at their types and at their Transcript methods.
//
// A line without a time, or with one outside the years 2000 to 2200, is of the last good time before it, else of the first
// one in the 64 KiB behind the first such line, else malformed. At most 1,000 calls, or 32 MiB of their inputs, wait for
// their results; older ones are not captured, since most were never run, but counted in Progress.Skipped. A side chain
// whose last 10,000 lines were others begins anew, as another subagent.
//
// One session may come twice, by hooks and by transcript, and each transcript again and again. A fact has one key:
//
//	fact                  key
//	tool use              session, tool use id
//	prompt, stop, compact session, the kind, prompt_id (hooks) or promptId (lines), fingerprint of the text
//	subagent's last words session, agent id, fingerprint of the text
//	text between calls    session, line (uuid, message id; of Codex its turn), fingerprint of the text
//	opening by transcript session
//	all others            by hook: the delivery; by transcript: the line
//
// An agent that a stop hook sent on may say the same again in answer to the same prompt, and no field that hooks and
// transcripts share tells these stops apart. Such a stop has no key of its fact: by hook (stop_hook_active) it is named by
// its delivery, by transcript, where its words stand for the second time, by its line. When both are taken it is recorded
// twice, the second time without work; to take two stops for one would leave work that no stop ends.
//
// The files, each referring to those below it:
//
//	agents.go, codex_rollout.go, codex_item.go, codex_text.go, gemini_chat.go, opencode_run.go, texts.go, cursor.go, windsurf.go,
//	codex.go, gemini.go, opencode.go, raw.go, claudecode_transcript.go, fork.go, reader.go, claudecode_line.go,
//	claudecode.go, payload.go, fact.go, reply.go, refusal.go, said.go, echo_marks.go, echo_cut.go, echo_find.go, transcript.go, secrets.go,
//	echo.go, jsoncap.go, memorycall.go, json.go, text.go, tags.go, notice.go, escaped.go, echo_line.go, report.go,
//	recent.go, key.go, echo_words.go, base64.go
//
// What bites:
//   - A shell line that runs cmemd among other programs is recorded with what both print: nothing in the output tells
//     the two apart. Filters behind a pipe, cd, echo, printf and true do not count as others.
//   - Our fence without its closing tag takes all that follows, if a line ends behind the opening tag. Who quotes that
//     tag alone on a line, and does not close it, loses what he says behind it.
//   - What cmemd tells a person of itself (relay.Notice) is cut like our fence. Who writes its opening mark, and no closing
//     bracket soon behind it, loses the rest of that line. Words that somebody repeats without the marks are not known.
//   - Injected lines that come back without their fence are cut by InjectedText, which the caller fills: it knows what was given. Text
//     that is wrapped anew, or said in other words, is not known for what it was.
//   - Agents before prompt ids (Claude Code 2.1.41 has none) give prompts and stops other keys in hooks than in
//     transcripts: only their tool uses are safe from doubling when both are taken.
//   - A transcript that is read while its agent works may end behind a text that is not the last of its turn.
//   - Gemini CLI's hooks, and Cursor's and Windsurf's mostly, carry no ids: a payload of theirs is known by its delivery alone.
//     SharesKeys says so: whoever takes Gemini's chats too has to leave out what hooks reported.
//   - A session of which nobody named the folder (printed streams of Gemini CLI and OpenCode) belongs to no project.
//   - A report names no project: the caller looks that up and puts it in with SetOrigin.
//   - Private text is cut here. Secrets that nobody marked are taken out by the Redact that the caller gives, before texts are
//     shortened and before they are compared: a fact has the same key whether its secrets are there or marks of them. Names,
//     ids and the origin do not go through it.
package agents
