package api

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/testkit/race"
)

// read is a query read and checked, and what is wrong with it.
func read[Q any](values url.Values, inPath string) (q Q, wrong []string) {
	note := func(pointer, format string, args ...any) {
		wrong = append(wrong, pointer+" "+fmt.Sprintf(format, args...))
	}
	Read(&q, values, func(string) string { return inPath }, note)
	Check(&q, note)
	slices.Sort(wrong)
	return q, wrong
}

func TestWhatIsWrongWithAQuery(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"q=x&kind=memory,+prompt&sort=oldest&as_of=2026-01-31&limit=0&recency=0": nil,
		"nosuch=1": {"nosuch is no parameter here; there are q, project, kind, type, concept, file, session, agent, since, until, as_of, sort, recency, " +
			"facets, brief, explain, limit, offset, cursor, after"},
		"kind=x":             {"kind is none of observation, summary, memory, prompt, nor several of them with commas between"},
		"sort=best":          {"sort is none of relevance, newest, oldest"},
		"limit=101&offset=x": {"limit is no whole number from 0 to 100", "offset is no whole number from 0 to 10000"},
		"limit=-1&recency=1001&after=-1": {
			"after is no position: a whole number from 0 on", "limit is no whole number from 0 to 100", "recency is no whole number from 0 to 1000",
		},
		"recency=99999999999999999999&limit=99999999999999999999": {
			"limit is no whole number from 0 to 100", "recency is no whole number from 0 to 1000",
		},
		"since=soon&until=0000-01-01": {
			"since is no time in the form of RFC 3339, and no date", "until is no time in the form of RFC 3339, and no date",
		},
		"as_of=soon&facets=yes": {
			"as_of is no position, no time in the form of RFC 3339, and no date", "facets is none of 0, 1, false, true",
		},
		"q=" + strings.Repeat("x", MaxParam+1): {"q is longer than 4096 bytes"},
	} {
		values, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := read[SearchQuery](values, ""); !slices.Equal(got, want) {
			t.Errorf("%.60s: got %q, want %q", text, got, want)
		}
	}
}

func TestWhatZeroStandsFor(t *testing.T) {
	t.Parallel()
	got, wrong := read[UsageQuery](url.Values{"project": {"a\xff"}}, "")
	if diff := cmp.Diff(UsageQuery{By: UsageByDay, Project: "a\uFFFD", Limit: 100}, got); diff != "" || wrong != nil {
		t.Errorf("%q (-want +got):\n%s", wrong, diff)
	}
	rows, wrong := read[RowsQuery](url.Values{"ids": {"a, ,b", "c"}}, "")
	if diff := cmp.Diff([]string{"a", "b"}, rows.IDs); diff != "" || wrong != nil {
		t.Errorf("%q (-want +got):\n%s", wrong, diff)
	}
}

// TestLists: kinds of an export come one by one and are never empty; those of records come with commas between, and an empty
// one is none of any record.
func TestLists(t *testing.T) {
	t.Parallel()
	all := fmt.Sprintf("%q", ExportKinds())
	for text, want := range map[string][]string{
		"":                        nil,
		"kind=memory&kind=memory": nil,
		"kind=":                   {`kind "" is none of ` + all},
		"kind=memory,summary":     {`kind "memory,summary" is none of ` + all},
	} {
		values, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if q, got := read[ExportQuery](values, ""); !slices.Equal(got, want) || len(q.Kinds) != len(values["kind"]) {
			t.Errorf("%s: got %q, %q, want %q", text, q.Kinds, got, want)
		}
	}
	if q, wrong := read[EventsQuery](url.Values{"kinds": {","}}, ""); q.Kinds != "," || wrong != nil {
		t.Errorf("got %q, %q", q.Kinds, wrong)
	}
	none := []string{`kinds "nope" is no kind of event; such are tool_used and memory_saved`}
	if _, wrong := read[EventsQuery](url.Values{"kinds": {"tool_used,nope,none"}}, ""); !slices.Equal(wrong, none) {
		t.Errorf("got %q", wrong)
	}
	if _, wrong := read[RecordsQuery](url.Values{"kinds": {"nope"}}, ""); !slices.Equal(wrong, none) {
		t.Errorf("got %q", wrong)
	}
	if _, wrong := read[EventsQuery](url.Values{"kinds": {strings.Repeat("x", MaxParam+1)}}, ""); !slices.Equal(wrong, []string{"kinds is longer than 4096 bytes"}) {
		t.Errorf("got %q", wrong)
	}
}

// TestAQueryComesAsItWasSent: what a client writes into a URL is what a server reads out of it.
func TestAQueryComesAsItWasSent(t *testing.T) {
	t.Parallel()
	zero, at := 0, time.Date(2026, 1, 31, 15, 4, 5, 6, time.UTC)
	comes(t, SearchRoute, SearchQuery{
		Text: "a b&c=d", Project: "/src/shop", Kind: "memory,prompt", Type: "bugfix", Concept: "x", File: "ä.go", Session: "s", Agent: "a", Since: at,
		Until: at, AsOf: Moment{Position: 7}, Sort: "newest", Recency: &zero, Facets: true, Explain: true, Limit: 3, Offset: 4, After: 5,
	})
	comes(t, WhyRoute, WhyQuery{ID: "a/b c", AsOf: Moment{Time: at}})
	comes(t, ObservationsRoute, RowsQuery{IDs: []string{"a", "b"}, After: 1 << 62})
	comes(t, Route[EventsQuery, Done](EventsRoute), EventsQuery{After: 1, Tail: true, Kinds: "tool_used,memory_saved", Payload: true})
	comes(t, Route[ExportQuery, Done](ExportRoute), ExportQuery{Kinds: []string{"memory", "summary"}, Until: at})
	comes(t, InputsRoute, InputsQuery{ID: "x", Limit: 500})
}

func comes[Q, A any](t *testing.T, r Route[Q, A], q Q) {
	t.Helper()
	path, values := Endpoint(r).URL(q)
	i := strings.Index(r.Path, "{")
	inPath := ""
	if i >= 0 {
		_, behind, _ := strings.Cut(r.Path, "}")
		var err error
		if inPath, err = url.PathUnescape(strings.TrimSuffix(path[i:], behind)); err != nil {
			t.Fatal(err)
		}
	}
	got, wrong := read[Q](values, inPath)
	if diff := cmp.Diff(q, got); diff != "" || wrong != nil {
		t.Errorf("%s %q (-sent +come):\n%s", r.Path, wrong, diff)
	}
}

// TestTheTagsOfQueries: every number has a bound, and bounds and words are those of whoever answers.
func TestTheTagsOfQueries(t *testing.T) {
	t.Parallel()
	bounds := map[string]string{}
	for _, q := range []any{
		SearchQuery{}, ContextQuery{}, TimelineQuery{}, WhyQuery{}, RowQuery{}, RowsQuery{}, InputsQuery{}, SessionsQuery{}, OutcomesQuery{},
		UsageQuery{}, RecordsQuery{}, InspectQuery{}, StopQuery{}, ReadyQuery{}, EventsQuery{}, ExportQuery{}, LogExportQuery{}, IngestQuery{},
	} {
		eachParam(reflect.ValueOf(q), func(p param, v reflect.Value) {
			name := reflect.TypeOf(q).Name() + " " + p.name
			_, optional := v.Interface().(*int)
			if (v.Kind() == reflect.Int || optional) && p.most == 0 {
				t.Errorf("%s has no bound", name)
			}
			bounds[name] = fmt.Sprintf("%s %d", p.otherwise, p.most)
		})
	}
	for name, want := range map[string]string{
		"SearchQuery limit":   fmt.Sprint(recall.DefaultLimit, recall.MaxLimit),
		"SearchQuery offset":  fmt.Sprint("", " ", recall.MaxOffset),
		"SearchQuery recency": fmt.Sprint("", " ", 100*recall.MaxRecency),
		"InputsQuery limit":   fmt.Sprint(recall.DefaultInputs, recall.MaxInputs),
		"ContextQuery tokens": fmt.Sprint("", " ", recall.MaxCharacters),
	} {
		if bounds[name] != want {
			t.Errorf("%s: got %q, want %q", name, bounds[name], want)
		}
	}
	for _, c := range []struct {
		got  []string
		want any
	}{
		{named(SearchQuery{}, "sort").words, []recall.Sort{recall.Relevance, recall.Newest, recall.Oldest}},
		{named(SearchQuery{}, "kind").words, []rows.Kind{rows.Observation, rows.Summary, rows.Memory, rows.Prompt}},
		{named(ContextQuery{}, "source").words, []agents.Want{agents.WantStartup, agents.WantClear, agents.WantCompact, agents.WantResume}},
		{named(OutcomesQuery{}, "kind").words, []events.Kind{events.KindToolUsed, events.KindContextCompacted, events.KindAgentStopped}},
		{named(UsageQuery{}, "by").words, []UsageBy{UsageByDay, UsageBySession, UsageByModel, UsageByProvider, UsageByOutcome}},
	} {
		if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// FuzzRead: whatever the parameters are, a query that is right is the same when it is sent on.
func FuzzRead(f *testing.F) {
	f.Add("q=x&kind=memory&as_of=2026-01-31&recency=0&after=7")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		q, wrong := read[SearchQuery](values, "")
		if wrong != nil {
			return
		}
		_, again := Endpoint(SearchRoute).URL(q)
		if got, wrong := read[SearchQuery](again, ""); wrong != nil || !cmp.Equal(q, got) {
			t.Errorf("%q: %q (-want +got):\n%s", text, wrong, cmp.Diff(q, got))
		}
	})
}

// TestSetPath: the values go to the fields that stand in the path, in their order; what there is no value for stays.
func TestSetPath(t *testing.T) {
	t.Parallel()
	why := WhyQuery{AsOf: Moment{Position: 7}}
	SetPath(&why, []string{"m41", "more"})
	if want := (WhyQuery{ID: "m41", AsOf: Moment{Position: 7}}); why != want {
		t.Errorf("got %+v, want %+v", why, want)
	}
	row := RowQuery{ID: "m41"}
	if SetPath(&row, nil); row.ID != "m41" {
		t.Errorf("got %+v, want the id as it was", row)
	}
}

// A request goes through its query's parameters again and again; their tags are read once.
func TestTagsAreReadOnce(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	query, n := reflect.ValueOf(SearchQuery{}), 0
	count := func(param, reflect.Value) { n++ }
	eachParam(query, count)
	if got := testing.AllocsPerRun(100, func() { eachParam(query, count) }); n == 0 || got > 0 {
		t.Errorf("%v allocations for %d parameters, want none", got, n/102)
	}
}
