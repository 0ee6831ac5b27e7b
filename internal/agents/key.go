package agents

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"time"
	"unicode"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// ToolKey is the key of the tool call that the agent calls id in the session of o: the same whether a hook or a
// transcript reports it. Without an id it is the zero key.
func ToolKey(o session.Origin, id string) events.Key {
	if id == "" {
		return events.Key{}
	}
	return events.KeyOf(o.Session().String(), id)
}

// factKey is the key of something said in answer to the prompt that the agent calls promptID: its hooks and its
// transcripts give that id both. One prompt id may cover more than one prompt (those queued while the agent works), more
// than one stop and compaction; the fingerprint tells them apart. Without a prompt id it is the zero key.
func factKey(o session.Origin, kind, promptID, text string) events.Key {
	if promptID == "" {
		return events.Key{}
	}
	return events.KeyOf(o.Session().String(), kind, promptID, fingerprint(text))
}

// deliveryKey is the key of a fact that nothing but its delivery names.
func deliveryKey(id events.ID) events.Key {
	if id == (events.ID{}) {
		return events.Key{}
	}
	return events.KeyOf("delivery", id.String())
}

// fingerprint tells two texts of one prompt apart, white space aside. It is the length and 8 bits of a hash, no more:
// keys outlive an erased payload, and must not let anybody try out what it said.
func fingerprint(text string) string {
	h := sha256.New()
	var buf []byte
	n := 0
	for _, r := range text {
		if unicode.IsSpace(r) {
			continue
		}
		buf = append(buf, string(r)...)
		if len(buf) >= 1024 {
			h.Write(buf)
			n, buf = n+len(buf), buf[:0]
		}
	}
	h.Write(buf)
	return strconv.Itoa(n+len(buf)) + "." + strconv.Itoa(int(h.Sum(nil)[0]))
}

// IsClockTime reports whether a clock may show a time: its year is between 2000 and 2200, as the daemon wants it of hooks too.
func IsClockTime(at time.Time) bool {
	year := at.UTC().Year()
	return 2000 <= year && year <= 2200
}

// lineID is the id of a fact at each reading of a transcript.
func lineID(at time.Time, key events.Key) events.ID { return TimedID("transcript line", at, key) }

// TimedID is a UUIDv7 of the time at which the fact behind key happened: the same each time that it is made for a purpose.
func TimedID(purpose string, at time.Time, key events.Key) events.ID {
	h := sha256.Sum256(append([]byte("cmemd "+purpose+" "), key[:]...))
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(at.UnixMilli(), 0)))
	var id events.ID
	copy(id[:6], ms[2:])
	copy(id[6:], h[:])
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	return id
}
