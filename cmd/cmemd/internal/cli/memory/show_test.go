package memory

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

func TestTitleOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row  api.Row
		want string
	}{
		{api.Row{Kind: "observation", Title: "t", Narrative: "n"}, "t"},
		{api.Row{Kind: "observation", Facts: []string{"a", "b"}}, "a"},
		{api.Row{Kind: "summary", Completed: "done\nand more"}, "done"},
		{api.Row{Kind: "prompt", Prompt: 3}, "prompt 3"},
		{api.Row{Kind: "memory", Text: "\n\nfirst line\nsecond"}, "first line"},
		{api.Row{Kind: "memory"}, "memory"},
		{api.Row{Forgotten: true}, "forgotten"},
	} {
		if got := titleOf(c.row); got != c.want {
			t.Errorf("titleOf(%+v) = %q, want %q", c.row, got, c.want)
		}
	}
}

func TestTitleWithCount(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]api.Result{
		"t":                       {Title: "t", Count: 1},
		"t (2 times)":             {Title: "t", Count: 2},
		"t (newer: m4)":           {Title: "t", Newer: api.Handle{At: 4}},
		"t (2 times) (newer: m4)": {Title: "t", Count: 2, Newer: api.Handle{At: 4}},
	} {
		if got := titleWithCount(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestShowRowShowsEveryField fails when a row gets a field that nobody sees.
func TestShowRowShowsEveryField(t *testing.T) {
	t.Parallel()
	hidden := map[string]bool{ // kept for programs: --json has them
		"ProjectRoot": true, "Prompt": true, "Turn": true, "Turns": true, "AgentSession": true, "Flagged": true,
	}
	row := reflect.TypeFor[api.Row]()
	for i := range row.NumField() {
		f := row.Field(i)
		if hidden[f.Name] || f.Type.Kind() != reflect.String && f.Type != reflect.TypeFor[[]string]() {
			continue
		}
		r := api.Row{Kind: "observation", Type: "discovery"}
		v := reflect.ValueOf(&r).Elem().Field(i)
		if f.Type.Kind() == reflect.String {
			v.SetString("MARK")
		} else {
			v.Set(reflect.ValueOf([]string{"MARK"}))
		}
		if f.Name == "Agent" {
			r.Session = events.SessionIDOf("a", "b")
		}
		a, out, _ := clitest.App()
		showRow(a, r)
		if !strings.Contains(out.String(), "MARK") {
			t.Errorf("%s is not shown:\n%s", f.Name, out)
		}
	}
}

// TestShowNamesNewerWork: a row that is read whole says where later work on the same code stands, as a search that finds both does, and what
// came next in its session.
func TestShowNamesNewerWork(t *testing.T) {
	t.Parallel()
	row := api.Row{ID: events.ID{1}, Kind: "observation", Title: "sorted by CreatedAt"}
	a, out, _ := clitest.App()
	if err := showRows(a, api.Rows{Rows: []api.Row{row}, Newer: map[events.ID]api.EntryPart{row.ID: {ID: events.ID{2}, Handle: api.Handle{At: 902}, Title: "sorted by Number"}}, Later: map[events.ID][]api.EntryPart{
		row.ID: {{ID: events.ID{3}, Kind: "observation", Type: "change", Title: "pushed"}},
	}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"later work on the same code, 02000000-0000-0000-0000-000000000000: sorted by Number", "afterwards    - 03000000-0000-0000-0000-000000000000 change: pushed",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
