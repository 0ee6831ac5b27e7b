package projections

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// titleLength is how much of a prompt serves as its session's title, in runes.
const titleLength = 120

func notFound(err error) error {
	if errors.Is(err, eventlog.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}

// Session returns the session of that id, with the balance of its inputs. The error is ErrNotFound.
func (v *Views) Session(ctx context.Context, id events.SessionID) (Session, error) {
	var s Session
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		x, err := v.LiveTx(btx, sessionView{}.Name())
		if err != nil {
			return err
		}
		var ok bool
		if s, ok, err = sessionTable().Get(x, engine.SessionKey(id)); err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%w: session %s", ErrNotFound, id)
		}
		return v.complete(btx, &s)
	})
	return s, err
}

// complete fills in what other views know of a session.
func (v *Views) complete(btx *bolt.Tx, s *Session) error {
	x, err := v.LiveTx(btx, outcomeView{}.Name())
	if err != nil {
		return err
	}
	b, _, err := balanceTable().Get(x, engine.SessionKey(s.ID))
	if err != nil {
		return err
	}
	s.Inputs = b.public()
	s.Pending = s.Inputs.Pending
	s.Title, err = v.titleOf(btx, s.ID)
	return err
}

func (v *Views) titleOf(btx *bolt.Tx, id events.SessionID) (string, error) {
	books, err := v.books(btx, Prompt)
	if err != nil || len(books) == 0 {
		return "", err
	}
	index, err := bySessionTable().In(books[0].x)
	if err != nil {
		return "", err
	}
	c := index.Cursor()
	for k, raw := c.Seek(id[:]); bytes.HasPrefix(k, id[:]); k, raw = c.Next() {
		row, err := books[0].row(raw)
		if err != nil {
			return "", err
		}
		if title := cut(row.Text); title != "" {
			return title, nil
		}
	}
	return "", nil
}

// cut is the beginning of text, on one line.
func cut(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 8*titleLength)], "")
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > titleLength {
		line = append(line[:titleLength-1], '…')
	}
	return string(line)
}

// Sessions returns the chosen sessions, the one with the latest captured event first.
func (v *Views) Sessions(ctx context.Context, f SessionFilter) ([]Session, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	var sessions []Session
	from := bytes.Repeat([]byte{0xff}, 25)
	for from != nil {
		err := v.Read(ctx, func(btx *bolt.Tx) (err error) {
			was := from
			sessions, from, err = v.someSessions(btx, f, from, sessions)
			if from != nil && bytes.Compare(from, was) >= 0 {
				return engine.Damaged("keys of sessions are out of order")
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return sessions, nil
}

// someSessions goes on from a key, backwards, and returns where the next transaction goes on; nil at the end.
func (v *Views) someSessions(btx *bolt.Tx, f SessionFilter, from []byte, found []Session) ([]Session, []byte, error) {
	x, err := v.LiveTx(btx, sessionView{}.Name())
	if err != nil {
		return nil, nil, err
	}
	index, err := sessionTimeTable().In(x)
	if err != nil {
		return nil, nil, err
	}
	c := index.Cursor()
	k, _ := c.Seek(from)
	k, _ = before(c, k)
	for range readSlice {
		if k == nil || len(found) == f.Limit {
			return found, nil, nil
		}
		id := activityID(k)
		s, ok, err := sessionTable().Get(x, id[:])
		if err != nil || !ok {
			return nil, nil, errors.Join(err, engine.Damaged("session %x is in an index alone", id))
		}
		if s.LastAt.Before(f.Since) {
			return found, nil, nil
		}
		if f.admits(s) {
			if err := v.complete(btx, &s); err != nil {
				return nil, nil, err
			}
			found = append(found, s)
		}
		from = bytes.Clone(k)
		k, _ = c.Prev()
	}
	return found, from, nil
}

func (f SessionFilter) admits(s Session) bool {
	return (f.ProjectRoot == "" || s.ProjectRoot == f.ProjectRoot) && (f.Agent == "" || s.Agent == f.Agent) &&
		(!f.OpenOnly || s.Open()) && (f.Match == nil || f.Match(s))
}

// ResolveSession returns the ids of sessions that begin with prefix, hex digits with or without hyphens, in order, at most
// limit of them (0 means 10). No match is no error, and neither is text that no id can begin with.
func (v *Views) ResolveSession(ctx context.Context, prefix string, limit int) ([]events.SessionID, error) {
	if limit <= 0 {
		limit = 10
	}
	digits := strings.ToLower(strings.ReplaceAll(prefix, "-", ""))
	whole, err := hex.DecodeString(digits[:len(digits)/2*2])
	if err != nil || len(digits) > 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return nil, nil
	}
	var ids []events.SessionID
	err = v.Read(ctx, func(btx *bolt.Tx) error {
		ids = nil
		x, err := v.LiveTx(btx, sessionView{}.Name())
		if err != nil {
			return err
		}
		for _, id := range withPrefix(x.Table(sessionTable().Name), whole, digits, limit) {
			ids = append(ids, events.SessionID(id))
		}
		return nil
	})
	return ids, err
}

// Owing returns the sessions in which something is left to be done: that are not closed, or have inputs that await an
// outcome or are to be observed again, because a person asked or because their sessions ask once more by themselves. A
// daemon wakes them at its start, after CatchUp.
func (v *Views) Owing(ctx context.Context) ([]events.SessionID, error) {
	var ids []events.SessionID
	add := func(k, _ []byte) error {
		if len(k) == 16 {
			ids = append(ids, events.SessionID(k))
		}
		return nil
	}
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		for _, from := range []struct {
			view  string
			table engine.Table[engine.Member]
		}{{sessionView{}.Name(), openSessionTable()}, {outcomeView{}.Name(), owingTable()}} {
			x, err := v.LiveTx(btx, from.view)
			if err != nil {
				return err
			}
			b, err := from.table.In(x)
			if err != nil {
				return err
			}
			if err := b.ForEach(add); err != nil {
				return err
			}
		}
		return nil
	})
	slices.SortFunc(ids, func(a, b events.SessionID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids), err
}
