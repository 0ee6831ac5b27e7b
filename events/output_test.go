package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

func TestOutputShowsItsLengthAlone(t *testing.T) {
	t.Parallel()
	const words = "session limit reached"
	got := events.TurnReceived{Output: events.NewOutput(words)}
	var logged bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
		slog.New(h).Warn("dropped", "output", got.Output)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&logged, verb+"\n", got.Output)
		fmt.Fprintf(&logged, verb+"\n", &got.Output)
	}
	fmt.Fprintln(&logged, got.Output.String(), got)
	fmt.Fprintf(&logged, "%+v", got)
	if strings.Contains(logged.String(), "limit") || !strings.Contains(logged.String(), "output of 21 bytes") {
		t.Errorf("an output was shown:\n%s", &logged)
	}
	if reflect.TypeFor[events.Output]().Comparable() {
		t.Error("outputs can be compared with ==")
	}
}

// TestOutputIsAStringOnDisk: bytes and JSON are those that a string had, and are read as one.
func TestOutputIsAStringOnDisk(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 23, 24, 255, 256, 1<<16 - 1, 1 << 16} {
		sameAsString(t, strings.Repeat("x", n))
	}
	for _, text := range []string{"<a href='x'>&amp;</a>", "\u2028 \u00e9 \U0001F600 \x00\n\"", "\xff\xfe", "null"} {
		sameAsString(t, text)
	}
	var o events.Output
	for _, bad := range [][]byte{{0x01}, {0x41, 'a'}, {0x80}, {0x78}, nil} {
		if err := o.UnmarshalCBOR(bad); err == nil {
			t.Errorf("%x was read as an output", bad)
		}
	}
}

func sameAsString(t *testing.T, text string) {
	t.Helper()
	type plain struct {
		A string `cbor:"1,keyasint,omitempty" json:"a"`
		B string `cbor:"2,keyasint,omitempty" json:"b,omitempty"`
	}
	type opaque struct {
		A events.Output `cbor:"1,keyasint,omitzero" json:"a"`
		B events.Output `cbor:"2,keyasint,omitzero" json:"b,omitzero"`
	}
	p, o := plain{text, text}, opaque{events.NewOutput(text), events.NewOutput(text)}
	want, err1 := cbor.Marshal(p)
	got, err2 := cbor.Marshal(o)
	if err1 != nil || err2 != nil || !bytes.Equal(want, got) {
		t.Fatalf("%.20q as CBOR: got %.40x, %v, want %.40x, %v", text, got, err2, want, err1)
	}
	var back opaque
	if err := cbor.Unmarshal(got, &back); err != nil || !cmp.Equal(back, o) {
		t.Fatalf("%.20q came back from CBOR as %.20q, %v", text, back.A.RawText(), err)
	}
	for _, escape := range []bool{true, false} {
		var want, got bytes.Buffer
		for b, v := range map[*bytes.Buffer]any{&want: p, &got: o} {
			enc := json.NewEncoder(b)
			enc.SetEscapeHTML(escape)
			if err := enc.Encode(v); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want.String(), got.String()); diff != "" {
			t.Errorf("JSON (-string +output):\n%s", diff)
		}
		var p plain
		var o opaque
		err1, err2 := json.Unmarshal(want.Bytes(), &p), json.Unmarshal(got.Bytes(), &o)
		if err1 != nil || err2 != nil || p.A != o.A.RawText() {
			t.Errorf("JSON: got %q, %v, want %q, %v", o.A.RawText(), err2, p.A, err1)
		}
	}
}

func TestOutputPreview(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", " a\n\tb  c ": "a b c", strings.Repeat("\u00e9", 300): strings.Repeat("\u00e9", 200), "a\xffb": "a\uFFFDb",
	} {
		if got := events.NewOutput(text).Preview().RawText(); got != want {
			t.Errorf("%.20q: got %q, want %q", text, got, want)
		}
	}
	if got := events.NewOutput("a\u00e9").Clip(2).RawText(); got != "a" {
		t.Errorf("clipped to %q", got)
	}
}
