package engine

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Origin is whose records views fold. The zero Origin is one log, and what is folded then says nothing of machines.
type Origin struct {
	Joined bool         // records of other machines' logs are there too
	Own    events.LogID // this machine's log; zero unless Joined
}

// several is a log that may have records of others among its own. A *union.Union is one.
type several interface {
	// Joined reports whether there are any, or ever were.
	Joined() bool
	At(events.Place) (events.Position, bool)
}

// OriginOf is the Origin of what log reads, and which order of several logs it is; zero: of one.
func OriginOf(ctx context.Context, log eventlog.Reader) (o Origin, order events.LogID, err error) {
	for {
		inner, wraps := log.(interface{ Unwrap() eventlog.Reader })
		if !wraps {
			break
		}
		log = inner.Unwrap()
	}
	u, ok := log.(several)
	if !ok || !u.Joined() {
		return o, order, nil
	}
	at, ok := u.At(events.Place{Position: 1})
	if !ok {
		return o, order, eventlog.ErrNotFound // nobody joins without a record
	}
	first, err := log.Get(ctx, at)
	if err != nil {
		return o, order, err
	}
	order, err = eventlog.ID(ctx, log)
	return Origin{Joined: true, Own: events.LogIDOf(first)}, order, err
}

// Place is where r's own log has it, with that log's id also where it is the own one; zero where there is one log alone.
func (o Origin) Place(r events.Record) events.Place {
	if !o.Joined {
		return events.Place{}
	}
	p := r.Place()
	if p.Log.IsZero() {
		p.Log = o.Own
	}
	return p
}

// Foreign reports whether a log is another machine's.
func (o Origin) Foreign(log events.LogID) bool { return o.Joined && !log.IsZero() && log != o.Own }

// Part is a session's id where only what one log has of it is meant: what its agent did on one machine. Where that is this machine it is the session's
// own.
func (o Origin) Part(s events.SessionID, log events.LogID) events.SessionID {
	if !o.Foreign(log) || s.IsZero() {
		return s
	}
	for i := range s {
		s[i] ^= log[i]
	}
	return s
}

// machineRoot begins what a folder of another machine is called here: an absolute path, which no folder has, and that path.Clean leaves alone.
const machineRoot = "/log:"

// wordMark is between the log and what begins with no slash.
const wordMark = "/:"

// Root is what a folder is called here which a log calls path: its own machine's folders as they are, others' behind the id of their log.
func (o Origin) Root(log events.LogID, path string) string {
	if !o.Joined || path == "" {
		return path
	}
	if of, local, ok := MachineRoot(path); ok { // said of another machine's than the log's own
		log, path = of, local
	}
	if !o.Foreign(log) {
		return path
	}
	if !strings.HasPrefix(path, "/") { // a folder of Windows, or the word that a key is
		path = wordMark + path
	}
	return machineRoot + log.String() + path
}

// MachineRoot undoes Root, of a folder of another machine; ok is false for any other path.
func MachineRoot(root string) (log events.LogID, path string, ok bool) {
	rest, ok := strings.CutPrefix(root, machineRoot)
	if !ok || len(rest) < 2*len(log)+1 || rest[2*len(log)] != '/' {
		return log, root, false
	}
	raw, err := hex.DecodeString(rest[:2*len(log)])
	if err != nil {
		return log, root, false
	}
	path = rest[2*len(log):]
	if word, ok := strings.CutPrefix(path, wordMark); ok {
		path = word
	}
	return events.LogID(raw), path, true
}

// The keys of projects that mean the same on every machine begin so; all others name a folder, or a word that two projects may have.
const sharedKey = "remote:"

// Key is what the key of a project is called here which a log calls key. A remote's address is one project wherever it is bound.
func (o Origin) Key(log events.LogID, key string) string {
	kind, of, ok := strings.Cut(key, ":")
	if !o.Joined || !ok || strings.HasPrefix(key, sharedKey) {
		return key
	}
	return kind + ":" + o.Root(log, of)
}
