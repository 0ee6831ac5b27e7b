package events_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// A golden file is one form in which a kind was released: its CBOR as hex and, for people and as what decoding must
// yield, its JSON. The first form of schema 1 is KIND.v1.golden; one that gained fields is KIND.v1-2.golden, and so on.
var (
	update = flag.Bool("update", false, "add golden files for forms that have none; released ones are never touched")
	force  = flag.Bool("force", false, "with -update: rewrite the first golden file of a kind that differs (breaks every log that holds it)")
)

var errReleased = errors.New("a released form is never rewritten")

type golden struct {
	kind   events.Kind
	schema uint16
	cbor   []byte
	json   []byte
}

func (g golden) bytes() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s schema %d\n", g.kind, g.schema)
	for line := range bytesChunks(g.cbor, 32) {
		fmt.Fprintf(&b, "%x\n", line)
	}
	fmt.Fprintf(&b, "\n%s\n", g.json)
	return b.Bytes()
}

func bytesChunks(b []byte, n int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			c := b[:min(n, len(b))]
			if b = b[len(c):]; !yield(c) {
				return
			}
		}
	}
}

func readGolden(path string) (g golden, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return g, err
	}
	head, body, _ := strings.Cut(string(text), "\n")
	if _, err := fmt.Sscanf(head, "%s schema %d", &g.kind, &g.schema); err != nil {
		return g, fmt.Errorf("%s: first line %q: %w", path, head, err)
	}
	digits, js, ok := strings.Cut(body, "\n\n")
	if !ok {
		return g, fmt.Errorf("%s: no blank line between CBOR and JSON", path)
	}
	g.cbor, err = hex.DecodeString(strings.ReplaceAll(digits, "\n", ""))
	g.json = []byte(strings.TrimSuffix(js, "\n"))
	return g, err
}

func goldensOf(t *testing.T, dir string, k events.Kind) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, string(k)+".v*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// addGolden writes g under the first free name of its kind and schema. With rewrite it replaces the first form.
func addGolden(dir string, g golden, rewrite bool) error {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.v%d.golden", g.kind, g.schema)
		if n > 1 {
			name = fmt.Sprintf("%s.v%d-%d.golden", g.kind, g.schema, n)
		}
		err := writeGolden(filepath.Join(dir, name), g, rewrite)
		if !errors.Is(err, errReleased) {
			return err
		}
	}
}

func writeGolden(path string, g golden, rewrite bool) error {
	_, err := os.Stat(path)
	if err == nil && !rewrite {
		return fmt.Errorf("%s: %w", path, errReleased)
	}
	return os.WriteFile(path, g.bytes(), 0o644)
}

func goldenOf(t *testing.T, codec *events.Codec, e events.Event) golden {
	t.Helper()
	payload, schema, err := codec.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	js, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return golden{kind: events.KindOf(e), schema: schema, cbor: payload, json: js}
}

// TestGoldenHoldsTheCurrentForm fails when a kind is encoded in a form that is not on record.
func TestGoldenHoldsTheCurrentForm(t *testing.T) {
	codec := events.NewCodec()
	for _, e := range samples() {
		want := goldenOf(t, codec, e)
		if onRecord(t, want) {
			continue
		}
		if !*update {
			t.Errorf("%s: its form is not in testdata; if fields were only added, run go test -update", want.kind)
			continue
		}
		if err := addGolden("testdata", want, *force); err != nil {
			t.Error(err)
		}
	}
}

func onRecord(t *testing.T, want golden) bool {
	t.Helper()
	for _, name := range goldensOf(t, "testdata", want.kind) {
		g, err := readGolden(name)
		if err != nil {
			t.Fatal(err)
		}
		if g.schema == want.schema && bytes.Equal(g.cbor, want.cbor) {
			return true
		}
	}
	return false
}

// TestGoldenDecodesForEver reads every form that was ever released and compares it with what was written beside it.
func TestGoldenDecodesForEver(t *testing.T) {
	codec, types := events.NewCodec(), map[events.Kind]reflect.Type{}
	for _, e := range samples() {
		types[events.KindOf(e)] = reflect.TypeOf(e)
		if len(goldensOf(t, "testdata", events.KindOf(e))) == 0 {
			t.Errorf("%s has no golden file", events.KindOf(e))
		}
	}
	names, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(names) < len(types) {
		t.Fatalf("%d golden files for %d kinds, %v", len(names), len(types), err)
	}
	for _, name := range names {
		g, err := readGolden(name)
		if err != nil {
			t.Error(err)
			continue
		}
		typ, ok := types[g.kind]
		if !ok || !strings.HasPrefix(filepath.Base(name), fmt.Sprintf("%s.v%d", g.kind, g.schema)) {
			t.Errorf("%s: holds %s schema %d", name, g.kind, g.schema)
			continue
		}
		want := reflect.New(typ)
		if err := json.Unmarshal(g.json, want.Interface()); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := codec.Decode(g.kind, g.schema, g.cbor)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want.Elem().Interface(), any(got)); diff != "" {
			t.Errorf("%s decodes to something else (-want +got):\n%s", name, diff)
		}
	}
}

// TestGoldenSampleIsRead ties the two: the newest form on record decodes to the sample, field by field.
func TestGoldenSampleIsRead(t *testing.T) {
	codec := events.NewCodec()
	for _, e := range samples() {
		var got events.Event
		for _, name := range goldensOf(t, "testdata", events.KindOf(e)) {
			g, err := readGolden(name)
			if err != nil {
				t.Fatal(err)
			}
			if now := goldenOf(t, codec, e); bytes.Equal(g.cbor, now.cbor) {
				if got, err = codec.Decode(g.kind, g.schema, g.cbor); err != nil {
					t.Error(err)
				}
			}
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", events.KindOf(e), diff)
		}
	}
}

func TestGoldenRefusesToRewrite(t *testing.T) {
	t.Parallel()
	dir, codec := t.TempDir(), events.NewCodec()
	first := goldenOf(t, codec, events.SessionClosed{Cause: "end"})
	second := goldenOf(t, codec, events.SessionClosed{Cause: "silent"})
	path := filepath.Join(dir, "session_closed.v1.golden")
	for i, g := range []golden{first, second} {
		if err := addGolden(dir, g, false); err != nil {
			t.Fatalf("add %d: %v", i, err)
		}
	}
	if err := writeGolden(path, second, false); !errors.Is(err, errReleased) {
		t.Errorf("rewriting says %v, want %v", err, errReleased)
	}
	if got, err := readGolden(path); err != nil || !bytes.Equal(got.cbor, first.cbor) {
		t.Errorf("the first form became %x, %v; want %x", got.cbor, err, first.cbor)
	}
	if got, err := readGolden(filepath.Join(dir, "session_closed.v1-2.golden")); err != nil || !bytes.Equal(got.cbor, second.cbor) {
		t.Errorf("the second form is %x, %v; want %x", got.cbor, err, second.cbor)
	}
	if err := addGolden(dir, second, true); err != nil {
		t.Fatal(err)
	}
	if got, err := readGolden(path); err != nil || !bytes.Equal(got.cbor, second.cbor) {
		t.Errorf("forced, the first form is %x, %v; want %x", got.cbor, err, second.cbor)
	}
}
