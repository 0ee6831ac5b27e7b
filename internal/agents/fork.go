package agents

import (
	"time"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// skippedFork is what Progress.Skipped calls a line that a transcript has from the session that it was forked from.
const skippedFork = "of the session it was forked from"

// isCopy reports whether a line was copied when its session was forked from another: it says so, where the person forked it
// in the middle (/branch), and does not where it was forked as it began (--fork-session).
func (t *claudeReader) isCopy(l *claudeLine) bool {
	return l.forkedFrom != "" && l.forkedFrom != t.sessionOf(l) || t.fork.copied(l)
}

// claudeFork finds the lines of a transcript that were copied as it began and do not say so. They stand behind a line of its
// own that is no part of a conversation (the first prompt on its way, or a snapshot of the files as it found them), and are
// older.
type claudeFork struct {
	began      time.Time // by that line; zero: there is none
	snapshotOf string    // the line that the snapshot is of, "" where it is none
	copiesOver bool      // a line of its own conversation came: no copy follows
}

// snapshotLag is how much older than its snapshot a prompt of the fork's own may be; 0.96 s was seen.
const snapshotLag = 2 * time.Second

// begin takes a line before the conversation.
func (f *claudeFork) begin(l *claudeLine) {
	if f.copiesOver || !f.began.IsZero() {
		return
	}
	switch l.kind {
	case "queue-operation":
		f.began = l.at
	case "file-history-snapshot":
		f.began, f.snapshotOf = parseTime(member(l.snapshot, "timestamp")), member(l.snapshot, "messageId")
	}
}

// copied reports whether a line of a conversation was copied. Its time is known.
func (f *claudeFork) copied(l *claudeLine) bool {
	lag := time.Duration(0)
	if f.snapshotOf != "" {
		lag = snapshotLag
	}
	f.copiesOver = f.copiesOver || f.began.IsZero() || l.uuid == f.snapshotOf && l.uuid != "" || !l.at.Before(f.began.Add(-lag))
	return !f.copiesOver
}

// noteCopied takes of a copied line what later ones need: the calls that wait for a result, and whose side chain it is.
func (t *claudeReader) noteCopied(l *claudeLine) {
	if l.sideChain && l.agentID == "" {
		t.root(l)
	}
	jsonscan.Elements(rawMember(l.message, "content"), func(block []byte) bool {
		switch member(block, "type") {
		case "tool_use":
			t.keep(block)
		case "tool_result":
			t.calls.drop(cleanName(member(block, "tool_use_id"), maxName))
		}
		return true
	})
}

// codexFork finds the lines that a rollout has from the one that it was forked from. Codex copies them, stamped anew and in one
// go, behind the session_meta of the fork; since 0.169 it refers to them instead where it can. Nothing in a copied line says
// that it is one: its ids do.
type codexFork struct {
	id         string    // of the session that the rollout is of
	from       string    // of the one that it says it was forked from, or ""
	lastAt     time.Time // of the line before
	lastCopied bool      // the line before was copied
	done       bool      // a line of its own came: no copy follows
}

// restAfterCopy is how long after a line the next one cannot be of the same copy. Only rollouts without turn ids need it.
const restAfterCopy = time.Second

// copied reports whether the next line was copied.
func (f *codexFork) copied(kind string, payload []byte, at time.Time) bool {
	if f.done || f.id == "" {
		return false
	}
	rested := f.lastCopied && at.Sub(f.lastAt) >= restAfterCopy
	f.lastAt = at
	switch ours, known := f.isOwnLine(kind, payload); {
	case known && ours || !known && rested:
		f.done, f.lastCopied = true, false
	case known:
		f.lastCopied = true
	}
	return f.lastCopied
}

// isOwnLine reports whether a line is of the rollout's own session. Known is false where the line does not tell. A turn tells by
// its id, which holds the time at which it began, as the session's does.
func (f *codexFork) isOwnLine(kind string, payload []byte) (ours, known bool) {
	if kind == "session_meta" {
		id := member(payload, "id")
		return id == f.id, id != ""
	}
	if f.from == "" && !f.lastCopied {
		return false, false
	}
	if thread := member(payload, "thread_id"); thread != "" {
		return thread == f.id, true
	}
	began, ok := uuidTime(member(payload, "turn_id"))
	forked, also := uuidTime(f.id)
	return began >= forked, ok && also
}

// uuidTime is the time in a UUIDv7, as it stands there: later ones are greater.
func uuidTime(id string) (ms string, ok bool) {
	const uuid = len("00000000-0000-7000-8000-000000000000")
	if len(id) != uuid || id[8] != '-' || id[13] != '-' || id[14] != '7' {
		return "", false
	}
	return id[:13], true
}
