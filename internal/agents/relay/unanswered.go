package relay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
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
	data, err := readBounded(unansweredPath(home), maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Unanswered{}, nil
	}
	if err != nil {
		return Unanswered{}, fmt.Errorf("relay: read unanswered hooks: %w", err)
	}
	return parseUnanswered(data), nil
}

func unansweredPath(home string) string {
	return filepath.Join(home, "run", "unanswered.json")
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

// updateUnanswered changes what is written down, one process at a time.
func updateUnanswered(home string, change func(*Unanswered)) error {
	path := unansweredPath(home)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := lockFile(filepath.Join(filepath.Dir(path), "unanswered.lock"), lockWait)
	if err != nil {
		return err
	}
	defer unlock(lock)
	u, err := ReadUnanswered(home)
	if err != nil && !errors.Is(err, ErrBadEntry) {
		return err
	}
	change(&u)
	return durable.Swap(path, appendUnanswered(nil, u), 0o600)
}

// clearUnanswered notes an answer. Nothing is written where nothing was unanswered, which is nearly always.
func clearUnanswered(home string) error {
	u, err := ReadUnanswered(home)
	if err != nil || u.Count == 0 {
		return err
	}
	return updateUnanswered(home, func(u *Unanswered) { u.Count = 0 })
}

// countUnanswered notes a hook without an answer. It reports whether the person is to be told now, which only a hook
// that may speak is allowed to do, and what is then written down.
func countUnanswered(home string, now time.Time, maySpeak bool) (tell bool, u Unanswered, err error) {
	err = updateUnanswered(home, func(stored *Unanswered) {
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
	return updateUnanswered(home, func(u *Unanswered) {
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
