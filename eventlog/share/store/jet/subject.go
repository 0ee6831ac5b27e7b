package jet

import (
	"strings"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// A part of a key may have dots and none of the characters that mean something in a subject; no part has an underscore.
const (
	subjectPrefix = "cm."
	streamPrefix  = "cm-"
)

var (
	toSubject = strings.NewReplacer("/", ".", ".", "_")
	toKey     = strings.NewReplacer(".", "/", "_", ".")
)

func subjectOf(key store.Key) string { return subjectPrefix + toSubject.Replace(string(key)) }

// filterOf is the subjects of a prefix that is not empty.
func filterOf(prefix string) string { return subjectPrefix + toSubject.Replace(prefix) + ">" }

// keyOf is false for a subject that no key has.
func keyOf(subject string) (store.Key, bool) {
	rest, ok := strings.CutPrefix(subject, subjectPrefix)
	key := store.Key(toKey.Replace(rest))
	return key, ok && key.Check() == nil
}

func streamOf(space string) string { return streamPrefix + space }

// spaceOf is false for a stream that is no space's.
func spaceOf(stream string) (string, bool) {
	space, ok := strings.CutPrefix(stream, streamPrefix)
	return space, ok && store.Key(space+"/a").Check() == nil
}
