// Package capture takes what agents report, from five sources, to the log: hooks that are posted, payloads that hooks left in
// the spool, transcripts, transcripts that are followed while they grow, and what another memory kept. What an agent says between
// tool calls no hook tells: where a hook ends an answer, it is read out of the session's own transcript first.
//
// All go one way, which is Pipeline: package agents decodes a report; private contents are left out (privacy); secrets are taken
// out; the project and git facts of its folder are added; what cmemd itself injected and what came back with the report is cut;
// what the person says of how to work is set beside it; the rest is put to its session, which records it. What is refused for good
// goes to the spool's bad folder with its reason, a dead letter; what is refused for now, which package transient knows, stays
// where it is and is brought again.
//
// The files, each referring to those below it:
//
//	follow.go, import.go, transcript.go, settle.go, drain.go, deadletter.go, hook.go, hidden.go, remarks.go, echo.go, preference.go,
//	last_hook.go, private.go, secrets.go, project.go, config.go, registry.go, project_key.go, result.go
//
// What bites:
//   - The ctx of Post ends when the agent's patience does, yet the event may still be appended.
//   - A fact that comes from two sources is recorded once, by its key. Where hooks and transcripts of an agent have no key in
//     common (agents.SharesKeys) the spool is drained before a transcript is taken.
//   - Nothing of a report goes into an error, a reason in the bad folder or the daemon's log file.
//   - Which project a folder is of is decided once, at its first session, and recorded there: see project_key.go. What it claims to
//     be counts while nobody else is that.
//   - A name in the spool is a dead letter for a moment before it is moved: see deadLetters.
package capture
