package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// pagedInputs answers with three inputs, one a page, and keeps what was printed when each page was asked for.
type pagedInputs struct {
	printed *bytes.Buffer
	before  []string
}

func (p *pagedInputs) Invoke(_ context.Context, _ api.Endpoint, query, answer any, _ func(api.Progress)) error {
	p.before = append(p.before, p.printed.String())
	at := query.(api.InputsQuery).After + 1
	page := recall.Inputs{Inputs: []recall.RawInput{{Position: at, Text: "a heron"}}, Total: 3, Next: at % 3}
	*answer.(*api.Inputs) = api.Inputs{RowInputs: page}
	return nil
}

// TestShowInputs prints a page before it asks for the next; as JSON all of them are one document.
func TestShowInputs(t *testing.T) {
	t.Parallel()
	a, out, _ := clitest.App()
	pages := &pagedInputs{printed: out}
	if err := showInputs(t.Context(), a, pages, "x"); err != nil {
		t.Fatal(err)
	}
	for i, printed := range append(pages.before, out.String()) {
		if n := strings.Count(printed, "heron"); n != i {
			t.Errorf("%d inputs are printed before page %d is asked for, want %d", n, i+1, i)
		}
	}
	a, out, _ = clitest.App()
	a.JSON = true
	if err := showInputs(t.Context(), a, &pagedInputs{printed: out}, "x"); err != nil {
		t.Fatal(err)
	}
	var all api.Inputs
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	var got []events.Position
	for _, in := range all.Inputs {
		got = append(got, in.Position)
	}
	if len(got) != 3 || got[0] != 1 || got[2] != 3 || all.Next != 0 || all.Total != 3 {
		t.Errorf("got %v of %+v", got, all)
	}
}

// TestWordsThatAreGone: what another machine withholds is not said to be erased.
func TestWordsThatAreGone(t *testing.T) {
	t.Parallel()
	for cause, want := range map[string]string{"withheld": "withheld", "person": "forgotten", "retention": "retention", "unknown": "erased"} {
		gone := &recall.Erasure{Cause: cause}
		a, out, _ := clitest.App()
		showInput(a, recall.RawInput{Position: 1, Erased: gone})
		line := inputLine(api.WhyInput{Position: 1, Erased: true, Why: gone})
		for _, text := range []string{out.String(), line} {
			if !strings.Contains(text, want) || cause == "withheld" && strings.Contains(text, "erased") {
				t.Errorf("%s: %s", cause, text)
			}
		}
	}
}
