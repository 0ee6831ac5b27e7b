package relay

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

const (
	noticeAfter = 3         // unanswered hooks in a row: fewer are a restart of the daemon
	noticePause = time.Hour // between two notices
)

// Unanswered is what the hooks of a home wrote down about a daemon that did not answer.
type Unanswered struct {
	Count      int       // hooks in a row without an answer
	LastNotice time.Time // when a person was last told; zero if never
	Lost       int       // payloads ever lost: they could be neither posted nor kept
	LostReason string    // of the last one
}

// ReadUnanswered returns what the hooks of a home wrote down; the zero value if that is nothing.
func ReadUnanswered(home string) (Unanswered, error) {
	_, u, err := readNotes(home)
	if err != nil {
		return Unanswered{}, fmt.Errorf("relay: read unanswered hooks: %w", err)
	}
	return u, nil
}

// notesPath is the slots file in which hooks write down what became of them.
func notesPath(home string) string { return filepath.Join(home, "run", "hooks.notes") }

// formerPath is where earlier releases wrote the same, in a file that was replaced each time: a full disk takes none.
func formerPath(home string) string { return filepath.Join(home, "run", "unanswered.json") }

// readNotes returns what is written down, and where the next note goes.
func readNotes(home string) (slots, Unanswered, error) {
	s, err := readSlots(notesPath(home))
	if err == nil {
		return s, parseUnanswered(s.text), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return s, Unanswered{}, err
	}
	data, err := readBounded(formerPath(home), maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, Unanswered{}, nil
	}
	return s, parseUnanswered(data), err
}

// LayNotes sees to it that hooks can write down what they lose also once the disk has no free block any more.
func LayNotes(home string) error {
	if _, err := os.Lstat(notesPath(home)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return updateUnanswered(home, false, func(*Unanswered) {})
}

// parseUnanswered takes what it can: the file only decides when a person is told.
func parseUnanswered(data []byte) Unanswered {
	var u Unanswered
	jsonscan.Scalars(data, func(name string, value []byte) bool {
		switch {
		case name == "count":
			u.Count = max(wholeNumber(value), 0)
		case name == "lost":
			u.Lost = max(wholeNumber(value), 0)
		case name == "last_notice" && value[0] == '"':
			u.LastNotice, _ = time.Parse(time.RFC3339, jsonscan.Unquote(value))
		case name == "lost_reason" && value[0] == '"':
			u.LostReason = jsonscan.Unquote(value)
		}
		return true
	})
	return u
}

func appendUnanswered(b []byte, u Unanswered) []byte {
	b = append(b, `{"count":`...)
	b = strconv.AppendInt(b, int64(u.Count), 10)
	b = append(b, `,"last_notice":"`...)
	if !u.LastNotice.IsZero() {
		b = u.LastNotice.UTC().AppendFormat(b, time.RFC3339)
	}
	b = append(b, `","lost":`...)
	b = strconv.AppendInt(b, int64(u.Lost), 10)
	b = append(b, `,"lost_reason":`...)
	return append(jsonscan.AppendQuoted(b, u.LostReason), "}\n"...)
}

// appendNote is appendUnanswered with as much of the reason as a slot has room for.
func appendNote(b []byte, u Unanswered) []byte {
	for {
		note := bytes.TrimSuffix(appendUnanswered(b, u), []byte("\n"))
		if len(note) <= maxSlot {
			return note
		}
		u.LostReason = strings.ToValidUTF8(u.LostReason[:len(u.LostReason)/2], "")
	}
}

// updateUnanswered changes what is written down, one process at a time. With wait it is on disk when it returns.
func updateUnanswered(home string, wait bool, change func(*Unanswered)) error {
	path := notesPath(home)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := lockFile(filepath.Join(filepath.Dir(path), "unanswered.lock"), lockWait)
	if err != nil {
		return err
	}
	defer unlock(lock)
	s, u, err := readNotes(home)
	if err != nil && !errors.Is(err, ErrBadEntry) {
		return err
	}
	change(&u)
	return s.write(path, appendNote(nil, u), wait)
}

// clearUnanswered notes an answer. Nothing is written where nothing was unanswered, which is nearly always.
func clearUnanswered(home string) error {
	u, err := ReadUnanswered(home)
	if err != nil || u.Count == 0 {
		return err
	}
	return updateUnanswered(home, false, func(u *Unanswered) { u.Count = 0 })
}

// countUnanswered notes a hook without an answer. It reports whether the person is to be told now, which only a hook
// that may speak is allowed to do, and what is then written down.
func countUnanswered(home string, now time.Time, maySpeak bool) (tell bool, u Unanswered, err error) {
	err = updateUnanswered(home, false, func(stored *Unanswered) {
		since := now.Sub(stored.LastNotice)
		tell = maySpeak && stored.Count >= noticeAfter && (since >= noticePause || since < 0)
		stored.Count++
		if tell {
			stored.LastNotice = now
		}
		u = *stored
	})
	return tell && err == nil, u, err
}

// countLost notes a payload that was neither posted nor kept, and why.
func countLost(home string, reason error) error {
	return updateUnanswered(home, true, func(u *Unanswered) {
		u.Lost++
		u.LostReason = reason.Error()
	})
}

// notice is the reply that shows a message to the person and gives the model nothing.
func notice(waiting int, u Unanswered) []byte {
	text := "cmemd is not answering. `cmemd status` says more, `cmemd logs` why. " +
		"Events that wait in the spool until it runs: " + strconv.Itoa(waiting) + "."
	if u.Lost > 0 {
		text += " Events that could not be kept: " + strconv.Itoa(u.Lost) + " (" + u.LostReason + ")."
	}
	b := jsonscan.AppendQuoted([]byte(`{"systemMessage":`), Notice(text))
	return append(b, "}\n"...)
}
