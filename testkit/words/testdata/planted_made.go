package planted

import (
	"bufio"
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"reflect"
	"strings"
	"sync/atomic"
	"text/template"

	"github.com/fxamacker/cbor/v2"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// What follows is made of a whole value that holds words.

func printed(e events.TurnReceived) bool {
	return strings.Contains(fmt.Sprintf("%+v", e), "limit") // want
}

func printedInside(records []struct{ event *events.TurnFailed }) bool {
	return strings.Contains(fmt.Sprint(records), "limit") // want
}

func printedEvent(e events.Event) bool {
	return strings.Contains(fmt.Sprint(e), "limit") // want
}

func asJSON(e events.TurnReceived) bool {
	raw, _ := json.Marshal(map[string]any{"turn": e})
	return bytes.Contains(raw, []byte("limit")) // want
}

func asCBOR(e *events.OutputDropped) bool {
	raw, _ := cbor.Marshal(e)
	return strings.Contains(string(raw), "limit") // want
}

func encoded(e events.TurnReceived) bool {
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(e)
	return strings.Contains(b.String(), "limit") // want
}

func encodedLater(r observer.Reply) bool {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	_ = enc.Encode(r)
	return strings.Contains(b.String(), "limit") // want
}

func filledIn(e events.TurnReceived) bool {
	var b strings.Builder
	_ = template.Must(template.New("").Parse(`{{if eq .Output "limit"}}yes{{end}}`)).Execute(&b, e)
	return b.String() == "yes" // want
}

func reflected(e events.TurnReceived) bool {
	return reflect.ValueOf(e).FieldByName("Output").String() == "limit" // want
}

func deeplyEqual(e events.TurnReceived) bool {
	return reflect.DeepEqual(e, events.TurnReceived{Output: "limit"}) // want
}

func equalStructs(a, b observer.Failure) bool {
	return a == b // want
}

type copied struct{ Text string }

type lookalike struct{ Text string }

func converted(e events.TurnReceived) bool {
	l := lookalike(copied{e.Output})
	return l.Text == "limit" // want
}

// What follows is a sum of words.

func summed(e events.TurnReceived) bool {
	return sha256.Sum256([]byte(e.Output)) == [32]byte{1, 2, 3} // want
}

func summedInHex(e events.TurnReceived) bool {
	h := sha256.New()
	h.Write([]byte(e.Output))
	return hex.EncodeToString(h.Sum(nil)) == "c0ffee" // want
}

func summedFrom(e events.TurnReceived) bool {
	h := sha256.New()
	_, _ = io.WriteString(h, e.Output)
	return bytes.Equal(h.Sum(nil), []byte("c0ffee")) // want
}

func summedToANumber(e events.TurnReceived) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(e.Output))
	return h.Sum64() == 42 // want
}

func checked(e events.TurnReceived) bool {
	return crc32.ChecksumIEEE([]byte(e.Output)) == 42 // want
}

// What follows takes words through types that give them back.

func scanned(e events.TurnReceived) bool {
	s := bufio.NewScanner(strings.NewReader(e.Output))
	for s.Scan() {
		if s.Text() == "limit" { // want
			return true
		}
	}
	return false
}

func readOut(e events.TurnReceived) bool {
	all, _ := io.ReadAll(bufio.NewReader(strings.NewReader(e.Output)))
	return bytes.HasPrefix(all, []byte("limit")) // want
}

func decoded(e events.TurnReceived) (v struct{ Error string }) {
	_ = json.NewDecoder(strings.NewReader(e.Output)).Decode(&v) // want
	return v
}

func stored(e events.TurnReceived) bool {
	var p atomic.Pointer[string]
	p.Store(&e.Output)
	return *p.Load() == "limit" // want
}

func listed(e events.TurnReceived) bool {
	l := list.New()
	l.PushBack(e.Output)
	return l.Front().Value == any("limit") // want
}

func replaced(e events.TurnReceived) bool {
	return len(strings.NewReplacer("limit", "").Replace(e.Output)) < len(e.Output) // want
}

func chained(e events.TurnReceived) bool {
	upper := strings.Map(func(r rune) rune { return r &^ 0x20 }, strings.ToLower(e.Output))
	return len(upper) > 0 && strings.Fields(upper)[0] == "LIMIT" // want
}

// What follows is an error made of words.

func errored(e events.TurnReceived) bool {
	return fmt.Errorf("%s", e.Output).Error() == "limit" // want
}

func erroredTwice(e events.TurnReceived) bool {
	err := errors.Join(errors.New(e.Output), io.EOF)
	return strings.Contains(err.Error(), "limit") // want
}

func asError(f *observer.Failure) error { return f }

func erroredElsewhere(f *observer.Failure) bool {
	return strings.Contains(fmt.Errorf("turn: %w", asError(f)).Error(), "limit") // want
}
