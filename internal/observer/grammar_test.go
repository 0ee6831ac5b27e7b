package observer

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// codeTypes are the types the tests' mode knows.
func codeTypes() Types {
	return Types{"bugfix", "feature", "refactor", "change", "discovery", "decision", "security_alert"}
}

// contractCase is one line of a file of cases. Want holds what is to be checked beyond Expect, by JSON name.
type contractCase struct {
	ID     string          `json:"id"`
	Turn   events.TurnKind `json:"turn"`
	Output string          `json:"output"`
	Expect struct {
		Disposition  Disposition `json:"disposition"`
		Reason       Reason      `json:"reason"`
		Observations int         `json:"observations"`
		Class        Class       `json:"class"`
	} `json:"expect"`
	Want json.RawMessage `json:"want"`
	Why  string          `json:"why"`
}

// TestContract holds every rule and every decision of the contract to its cases.
func TestContract(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/contract/*.jsonl")
	if err != nil || len(files) < 8 {
		t.Fatalf("files of cases: got %d, %v, want at least 8", len(files), err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		for _, c := range readCases(t, file) {
			if seen[c.ID] || c.Why == "" {
				t.Errorf("%s: case %q needs an id of its own and a why", file, c.ID)
			}
			seen[c.ID] = true
			t.Run(c.ID, c.run)
		}
	}
}

// TestRecordedOutputs holds the contract to outputs that models really gave.
func TestRecordedOutputs(t *testing.T) {
	t.Parallel()
	const file = "../../../shared/fixtures/observer-outputs.jsonl"
	if _, err := os.Stat(file); err != nil {
		t.Skipf("recorded outputs are kept beside the repository: %v", err)
	}
	cases := readCases(t, file)
	if len(cases) < 100 {
		t.Fatalf("recorded outputs: got %d, want at least 100", len(cases))
	}
	for _, c := range cases {
		t.Run(c.ID, c.run)
	}
}

func (c contractCase) run(t *testing.T) {
	t.Parallel()
	got := Parse(c.Output, c.Turn, codeTypes())
	shape := c.Expect
	shape.Disposition, shape.Reason, shape.Class = got.Disposition, got.Reason, got.Class
	shape.Observations = len(got.Observations)
	if diff := cmp.Diff(c.Expect, shape); diff != "" {
		t.Errorf("%s\noutput %q\n(-want +got):\n%s", c.Why, c.Output, diff)
	}
	if c.Want != nil {
		if diff := cmp.Diff(decode(t, c.Want), project(decode(t, c.Want), decode(t, got))); diff != "" {
			t.Errorf("%s\noutput %q\n(-want +got):\n%s", c.Why, c.Output, diff)
		}
	}
}

// project cuts got down to what want names.
func project(want, got any) any {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got
		}
		cut := map[string]any{}
		for k := range w {
			cut[k] = project(w[k], g[k])
		}
		return cut
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return got
		}
		cut := make([]any, len(w))
		for i := range w {
			cut[i] = project(w[i], g[i])
		}
		return cut
	}
	return got
}

// decode is v as generic JSON.
func decode(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func readCases(t testing.TB, file string) []contractCase {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []contractCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var c contractCase
		d := json.NewDecoder(strings.NewReader(lines.Text()))
		if strings.HasPrefix(file, "testdata") {
			d.DisallowUnknownFields()
		}
		if err := d.Decode(&c); err != nil {
			t.Fatalf("%s: %v in %s", file, err, lines.Text())
		}
		cases = append(cases, c)
	}
	if lines.Err() != nil {
		t.Fatalf("%s: %v", file, lines.Err())
	}
	return cases
}
