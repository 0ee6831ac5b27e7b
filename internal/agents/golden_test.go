package agents

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

var update = flag.Bool("update", false, "write the golden files")

// testMeta is what each payload of the golden tests is delivered with.
func testMeta() Meta {
	return Meta{
		Delivery:   events.ID{0x01, 0x9b, 0x00, 0x00, 0x00, 0x00, 0x70, 0x01, 0x80, 15: 0x01},
		OccurredAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

type goldenCapture struct {
	ID     events.ID      `json:"id"`
	Key    events.Key     `json:"key"`
	At     time.Time      `json:"at"`
	Kind   events.Kind    `json:"kind"`
	Origin session.Origin `json:"-"`
	Event  events.Event   `json:"event"`
}

func goldenCaptures(captures []session.Capture) []goldenCapture {
	var out []goldenCapture
	for _, c := range captures {
		out = append(out, goldenCapture{c.ID, c.Key, c.At, events.KindOf(c.Event), c.Origin, c.Event})
	}
	return out
}

// TestPayloads decodes each payload below testdata, a folder an agent, and compares what it becomes, and what is
// replied, with the golden file of its name.
func TestPayloads(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		files, err := filepath.Glob(filepath.Join("testdata", a.Name(), "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("payloads of %s: got %d files, error %v; want some", a.Name(), len(files), err)
		}
		for _, file := range files {
			t.Run(a.Name()+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				payload, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				compareGolden(t, goldenPath(file), decodeGolden(t, a, payload))
			})
		}
	}
}

func decodeGolden(t *testing.T, a Agent, payload []byte) []byte {
	t.Helper()
	r, err := a.Decode(payload, testMeta())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Captures {
		if diff := cmp.Diff(r.Origin, c.Origin); diff != "" {
			t.Errorf("origin of the capture differs from that of the report: %s", diff)
		}
	}
	reply := a.Reply(r, Answer{Context: ContextOpen + "\nmemory\n" + ContextClose, Notice: "a notice"})
	return marshal(t, map[string]any{
		"event": r.Event, "wants": r.Wants, "ignored": r.Ignored, "origin": r.Origin,
		"captures": goldenCaptures(r.Captures), "reply": string(reply),
	})
}

func goldenPath(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".golden"
	return filepath.Join(filepath.Dir(file), "golden", name)
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
