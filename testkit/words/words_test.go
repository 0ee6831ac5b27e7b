package words_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/testkit/words"
)

const module = "github.com/cmemd/cmemd"

func sources() []string {
	var all []string
	for _, field := range []string{
		"events.TurnReceived.Output", "events.TurnFailed.Output", "events.TurnFailed.Message", "events.OutputDropped.Preview",
		"internal/observer.Reply.Text", "internal/observer.Failure.Output", "internal/observer.Failure.Message",
	} {
		all = append(all, module+"/"+field)
	}
	return all
}

func grammar() map[string]string {
	allowed := map[string]string{"events/codec.go": "events to bytes and back"}
	for _, part := range []string{"", "_blocks", "_fields", "_tags", "_text"} {
		allowed["internal/observer/grammar"+part+".go"] = "the contract looks for tags"
	}
	return allowed
}

// planted are the files with violations.
func planted() []string {
	return []string{"testdata/planted.go", "testdata/planted_called.go", "testdata/planted_made.go"}
}

// imported is what the planted files import beyond what the observer does.
func imported() []string {
	return []string{
		"bufio", "container/list", "crypto/sha256", "encoding/json", "github.com/fxamacker/cbor/v2", "hash/crc32", "hash/fnv",
		"reflect", "regexp", "text/template",
	}
}

// load reads what is planted, and what it is planted on.
func load(t *testing.T) *words.Program {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not installed")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p, err := words.Load(root, append([]string{"./internal/observer"}, imported()...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Add(module+"/planted", append(planted(), "testdata/harmless.go")...); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlantedViolationsAreFound wants each marked line, and no other, in the planted files and in those under them.
func TestPlantedViolationsAreFound(t *testing.T) {
	t.Parallel()
	found, err := load(t).Check(words.Rules{Sources: sources(), Allowed: grammar()})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, f := range found {
		got[fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)] = true
	}
	want := map[string]bool{}
	for _, name := range planted() {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			if strings.HasSuffix(line, "// want") {
				want[fmt.Sprintf("%s:%d", filepath.Base(name), i+1)] = true
			}
		}
	}
	if len(want) < 80 {
		t.Errorf("%d lines are marked, want at least 80", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s\n%v", diff, found)
	}
}

// TestTheGrammarIsFoundUnlessItIsAllowed shows that what a table exempts would be found without it.
func TestTheGrammarIsFoundUnlessItIsAllowed(t *testing.T) {
	t.Parallel()
	found, err := load(t).Check(words.Rules{Sources: sources()})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, f := range found {
		files[f.File] = true
	}
	if !files["internal/observer/grammar_fields.go"] && !files["internal/observer/grammar_tags.go"] && !files["internal/observer/grammar_blocks.go"] {
		t.Errorf("the grammar looks for tags in outputs, and only these are found: %v", files)
	}
}

// TestWhatAMaskReturnsIsStillWords shows that a mask may compare, and that whoever asks it may not.
func TestWhatAMaskReturnsIsStillWords(t *testing.T) {
	t.Parallel()
	rules := words.Rules{Sources: sources(), Allowed: grammar(), Masks: map[string]string{
		"testdata/masked.go:masked": "it takes keys out",
	}}
	p := load(t)
	if err := p.Add(module+"/masking", "testdata/masked.go"); err != nil {
		t.Fatal(err)
	}
	found, err := p.Check(rules)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, f := range found {
		if filepath.Base(f.File) == "masked.go" {
			lines = append(lines, f.Line)
		}
	}
	if diff := cmp.Diff([]int{15}, lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAFindingSaysWhereTheWordsComeFrom(t *testing.T) {
	t.Parallel()
	found, err := load(t).Check(words.Rules{Sources: sources(), Allowed: grammar()})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range found {
		fmt.Fprintln(&all, f)
	}
	const want = `testdata/planted.go:35: strings.Contains(text, "exhausted"), whose words come from testdata/planted.go:32`
	if !strings.Contains(all.String(), want) {
		t.Errorf("want %s in\n%s", want, &all)
	}
}

func TestRulesOfNothingAreErrors(t *testing.T) {
	t.Parallel()
	p := load(t)
	for name, r := range map[string]words.Rules{
		"no such field":   {Sources: []string{module + "/events.TurnReceived.Text"}},
		"no such type":    {Sources: []string{module + "/events.Turn.Output"}},
		"no such package": {Sources: []string{module + "/nothing.Turn.Output"}},
		"no such file":    {Sources: sources(), Allowed: map[string]string{"internal/observer/gone.go": "it was there"}},
		"no reason":       {Sources: sources(), Allowed: map[string]string{"internal/observer/grammar.go": ""}},
		"no such mask":    {Sources: sources(), Masks: map[string]string{"internal/observer/scrub.go:gone": "it was there"}},
		"a mask without":  {Sources: sources(), Masks: map[string]string{"internal/observer/scrub.go:isKey": ""}},
	} {
		if _, err := p.Check(r); !errors.Is(err, words.ErrRules) {
			t.Errorf("%s: got %v, want ErrRules", name, err)
		}
	}
}
