package share

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
)

// keys makes the names of a space's objects.
type keys struct{ space space.ID }

func (k keys) watchedPrefix() string           { return k.space.String() + "/" + space.WatchedPart + "/" }
func (k keys) headPrefix() string              { return k.watchedPrefix() + "head/" }
func (k keys) notePrefix() string              { return k.watchedPrefix() + "forget/" }
func (k keys) reportPrefix() string            { return k.watchedPrefix() + "seen/" }
func (k keys) head(log events.LogID) store.Key { return store.Key(k.headPrefix() + log.String()) }
func (k keys) note(id noteID) store.Key        { return store.Key(k.notePrefix() + id.String()) }
func (k keys) report(m space.MemberID) store.Key {
	return store.Key(k.reportPrefix() + m.String())
}

func (k keys) segmentPrefix(log events.LogID) string {
	return k.space.String() + "/log/" + log.String() + "/"
}

func (k keys) segment(log events.LogID, first events.Position, edition uint32) store.Key {
	return store.Key(fmt.Sprintf("%s%016x.%08x", k.segmentPrefix(log), uint64(first), edition))
}

// before is a key behind which the segments that begin with first or later are listed.
func (k keys) before(log events.LogID, first events.Position) store.Key {
	return store.Key(fmt.Sprintf("%s%016x", k.segmentPrefix(log), uint64(first)))
}

// parseSegment reads what segment returned, without its prefix.
func parseSegment(name string) (first events.Position, edition uint32, ok bool) {
	a, b, _ := strings.Cut(name, ".")
	n, errN := strconv.ParseUint(a, 16, 64)
	e, errE := strconv.ParseUint(b, 16, 32)
	ok = errN == nil && errE == nil && len(a) == 16 && len(b) == 8 && n > 0
	return events.Position(n), uint32(e), ok
}

// parseLog reads the log in the name of a head.
func parseLog(name string) (id events.LogID, ok bool) {
	return id, id.UnmarshalText([]byte(name)) == nil && !id.IsZero()
}
