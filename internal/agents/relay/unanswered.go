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
	LastNotice time.Time // when a person was last notified; zero if never
	Lost       int       // payloads ever lost: they could be neither posted nor kept
	LostReason string    // of the last one
}

// ReadUnanswered returns what the hooks of a home wrote down; the zero value if that is nothing. Beside an error it is what can
// be believed.
func ReadUnanswered(home string) (Unanswered, error) {
	n, err := readNotes(home)
	if err != nil {
		err = fmt.Errorf("relay: read unanswered hooks: %w", err)
	}
	return n.sum(), err
}

// notes is what is written down at two places, each of which says how much it adds. A file that is replaced takes all of it, until the
// disk has no room for another one; then the slots take what comes.
type notes struct {
	inFile, inSlots Unanswered
	slots           slots
}

func unansweredPath(home string) string { return filepath.Join(home, "run", "unanswered.json") }

func slotsPath(home string) string { return filepath.Join(home, "run", "unanswered.slots") }

// readNotes returns what is written down. Its error is the disk's, or one that durable.IsUnfit knows beside what can be believed.
func readNotes(home string) (n notes, err error) {
	data, err := durable.ReadBounded(unansweredPath(home), maxSmallFile)
	if err = ignoreMissing(err); err != nil && !durable.IsUnfit(err) {
		return n, err
	}
	n.inFile = parseUnanswered(data)
	s, slotsErr := readSlots(slotsPath(home))
	n.slots, n.inSlots = s, parseUnanswered(s.text)
	return n, errors.Join(err, ignoreMissing(slotsErr))
}

func (n notes) sum() Unanswered {
	u := n.inFile
	u.Count += n.inSlots.Count
	if u.Lost += n.inSlots.Lost; n.inSlots.Lost > 0 {
		u.LostReason = n.inSlots.LostReason
	}
	if n.inSlots.LastNotice.After(u.LastNotice) {
		u.LastNotice = n.inSlots.LastNotice
	}
	return u
}

// minus is what u adds to other.
func (u Unanswered) minus(other Unanswered) Unanswered {
	u.Count, u.Lost = max(u.Count-other.Count, 0), max(u.Lost-other.Lost, 0)
	return u
}

// LayNotes sees to it that hooks can write down what they lose also once the disk has no free block any more.
func LayNotes(home string) error {
	if _, err := os.Lstat(slotsPath(home)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lock, err := lockUnanswered(home)
	if err != nil {
		return err
	}
	defer unlock(lock)
	return slots{}.write(slotsPath(home), noteOf(Unanswered{}), true)
}

// parseUnanswered takes what it can: the file only decides when a person is notified.
func parseUnanswered(data []byte) Unanswered {
	var u Unanswered
	jsonscan.Scalars(data, func(name string, value []byte) bool {
		switch {
		case name == "count":
			u.Count = max(jsonscan.WholeNumber(value), 0)
		case name == "lost":
			u.Lost = max(jsonscan.WholeNumber(value), 0)
		case name == "last_notice" && value[0] == '"':
			u.LastNotice, _ = time.Parse(time.RFC3339, jsonscan.Unquote(value))
		case name == "lost_reason" && value[0] == '"':
			u.LostReason = jsonscan.Unquote(value)
		}
		return true
	})
	return u
}

func encodeUnanswered(u Unanswered) []byte {
	b := []byte(`{"count":`)
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

// noteOf is u as a slot holds it, with as much of the reason as there is room for.
func noteOf(u Unanswered) []byte {
	for {
		note := bytes.TrimSuffix(encodeUnanswered(u), []byte("\n"))
		if len(note) <= maxSlot {
			return note
		}
		u.LostReason = strings.ToValidUTF8(u.LostReason[:len(u.LostReason)/2], "")
	}
}

// updateUnanswered changes what is written down, one process at a time.
func updateUnanswered(home string, change func(*Unanswered)) error {
	lock, err := lockUnanswered(home)
	if err != nil {
		return err
	}
	defer unlock(lock)
	n, err := readNotes(home)
	if err != nil && !durable.IsUnfit(err) {
		return err
	}
	u := n.sum()
	change(&u)
	err = durable.Swap(unansweredPath(home), encodeUnanswered(u.minus(n.inSlots)), 0o600)
	full := n.inSlots
	if err == nil {
		full.Count = min(full.Count, u.Count)
	} else if n.slots.number > 0 {
		full, err = u.minus(n.inFile), nil
	}
	if err != nil || full == n.inSlots {
		return err
	}
	return n.slots.write(slotsPath(home), noteOf(full), full.Lost > n.inSlots.Lost)
}

// clearUnanswered notes an answer. Nothing is written where nothing was unanswered, which is nearly always.
func clearUnanswered(home string) error {
	u, err := ReadUnanswered(home)
	if err != nil || u.Count == 0 {
		return err
	}
	return updateUnanswered(home, func(u *Unanswered) { u.Count = 0 })
}

// countUnanswered notes a hook without an answer. It reports whether the person is to be notified now, which only a hook
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
		u.LostReason = inWords(reason)
	})
}

// inWords is an error for a person, without the names of packages that it begins with.
func inWords(err error) string {
	text := err.Error()
	for {
		rest := strings.TrimPrefix(strings.TrimPrefix(text, "relay: "), "spool: ")
		if rest == text {
			return text
		}
		text = rest
	}
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
