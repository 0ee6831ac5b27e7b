package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/importer"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/peer"
	"github.com/cmemd/cmemd/internal/replay"
)

// otherMemory is what another memory may have of one session.
func otherMemory(name string) []importer.Entry {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	list := []importer.Entry{
		{Kind: importer.Session, Name: "session", Ended: at.Add(time.Hour)},
		{Kind: importer.Prompt, Name: "1", Text: "raise the limit", Number: 1},
		{Kind: importer.ToolUse, Name: "toolu_" + name + "_0", Tool: "Bash", Input: `{"command":"make"}`, Output: "ok", Number: 1},
		{Kind: importer.Observation, Name: "1", Type: "decision", Title: "Raised", Narrative: "The limit is a setting since commit 4f2c9d1.", Number: 1},
		{Kind: importer.Summary, Name: "1", Request: "raise the limit", NextSteps: "measure", Number: 1},
		{Kind: importer.Prompt, Name: "2"},
	}
	for i := range list {
		list[i].At, list[i].Agent, list[i].AgentSession = at.Add(time.Duration(i)*time.Minute), "claude-code", name
		list[i].Project, list[i].Folder = "shop", "/src/shop"
	}
	return list
}

func lines(t *testing.T, entries ...importer.Entry) io.Reader {
	t.Helper()
	var b bytes.Buffer
	for _, e := range entries {
		if err := json.NewEncoder(&b).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

func (w *world) imports(t *testing.T, body io.Reader) api.Imported {
	t.Helper()
	got, err := w.client.Import(t.Context(), importer.ClaudeMem, body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestImport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	all := append(otherMemory("old-1"), otherMemory("old-2")...)
	got := w.imports(t, lines(t, all...))
	want := api.Imported{
		Sessions: []events.SessionID{events.SessionIDOf("claude-code", "old-1"), events.SessionIDOf("claude-code", "old-2")}, Entries: 12,
		Recorded: map[importer.Kind]int{importer.Session: 2, importer.Prompt: 2, importer.ToolUse: 2, importer.Observation: 2, importer.Summary: 2},
		LeftOut:  map[importer.Kind]importer.ReasonCount{importer.Prompt: {importer.ReasonEmpty: 2}}, Position: got.Position,
	}
	if d := cmp.Diff(want, got); d != "" || got.Position == 0 {
		t.Errorf("-want +got:\n%s", d)
	}
	before := len(w.records(t))
	again := w.imports(t, lines(t, all...))
	if n := len(w.records(t)); n != before || len(again.Recorded) != 0 || !cmp.Equal(again.Known, want.Recorded) {
		t.Errorf("%d records after %d: recorded %v, known %v", n, before, again.Recorded, again.Known)
	}
	w.settled(t)
	s, err := api.SessionRoute.Call(t.Context(), w.client, api.IDQuery{ID: "old-1"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Session.Open() || s.Session.Project != "shop" || s.Session.Source != "import" || s.Session.Inputs.Captured != 0 || len(s.Rows) != 3 {
		t.Errorf("session: %+v with %d rows", s.Session, len(s.Rows))
	}
	for _, r := range s.Rows {
		if r.Kind != "prompt" && (r.Source != importer.ClaudeMem || r.Turn != (events.ID{}) || r.Prompt != 1) {
			t.Errorf("row: %+v", r)
		}
	}
	w.isTruthful(t, "raised")
}

// isTruthful finds an imported observation, and asks whose it is; nothing in the log is counted or proved as a turn's.
func (w *world) isTruthful(t *testing.T, word string) {
	t.Helper()
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: word, Kind: "observation", Type: "decision", Project: "shop"})
	if err != nil || len(found.Results) == 0 {
		t.Fatalf("nothing is found: %+v, %v", found, err)
	}
	why, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: found.Results[0].ID.String()})
	if err != nil || why.Row.Source != importer.ClaudeMem || len(why.Turns) != 0 || len(why.Prompts) != 1 {
		t.Errorf("why: %+v, %v", why, err)
	}
	status, err := api.StatusRoute.Call(t.Context(), w.client, api.NoQuery{})
	if err != nil || status.Inputs.Captured != 0 {
		t.Errorf("inputs: %+v, %v", status.Inputs, err)
	}
	proof, _, err := replay.Examine(w.log.All(t.Context(), 1), replay.Wanted{}, nil)
	if err != nil || len(proof.Differences) != 0 || len(proof.Unproven) != 0 {
		t.Errorf("proof: %+v, %v", proof, err)
	}
}

// What hooks or transcripts captured is not imported again, whichever came first, and what was forgotten stays so.
func TestImportBesideCaptured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if _, err := w.client.Ingest(t.Context(), "claude-code", "/t/s.jsonl", bytes.NewReader(transcript("both", 1))); err != nil {
		t.Fatal(err)
	}
	got := w.imports(t, lines(t, otherMemory("both")...))
	want := api.Imported{
		Sessions: []events.SessionID{events.SessionIDOf("claude-code", "both")}, Entries: 6, Position: got.Position,
		Recorded: map[importer.Kind]int{importer.Observation: 1, importer.Summary: 1},
		Known:    map[importer.Kind]int{importer.ToolUse: 1},
		LeftOut:  map[importer.Kind]importer.ReasonCount{importer.Session: {importer.ReasonCaptured: 1}, importer.Prompt: {importer.ReasonCaptured: 2}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if n := w.count(t, events.KindToolUsed); n != 1 {
		t.Errorf("%d tool uses, want the one", n)
	}
	w.imports(t, lines(t, otherMemory("later")...))
	if _, err := w.client.Ingest(t.Context(), "claude-code", "/t/s.jsonl", bytes.NewReader(transcript("later", 1))); err != nil {
		t.Fatal(err)
	}
	if n := w.count(t, events.KindToolUsed); n != 2 {
		t.Errorf("%d tool uses, want one of each session", n)
	}
}

func TestImportOfWhatIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	good := otherMemory("good")
	dateless := good[3]
	dateless.At = time.Time{}
	body := io.MultiReader(strings.NewReader("{\n[]\n{}\n"), lines(t, dateless, good[0], good[3]))
	got := w.imports(t, body)
	if got.Malformed != 4 || len(got.Bad) != 4 || got.Bad[0].Line != 1 || got.Entries != 2 || got.Recorded[importer.Observation] != 1 {
		t.Errorf("got %+v", got)
	}
	_, err := w.client.Import(t.Context(), "nobody", strings.NewReader(""))
	if p := problem(t, err); p.Status != http.StatusNotFound {
		t.Errorf("an unknown memory: %+v", p)
	}
	long := `{"kind":"prompt","text":"` + strings.Repeat("x", importer.MaxLine) + `"}`
	_, err = w.client.Import(t.Context(), importer.ClaudeMem, io.MultiReader(lines(t, otherMemory("cut")[:2]...), strings.NewReader(long)))
	if p := problem(t, err); p.Status != http.StatusBadRequest {
		t.Errorf("a line too long: %+v", p)
	}
	if n := w.count(t, events.KindPromptSubmitted); n != 1 {
		t.Errorf("%d prompts: what stood before a line too long is lost", n)
	}
}

// What is not recorded whole is counted, the second time too.
func TestImportOfWhatIsLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	all := otherMemory("long")
	all[3].Narrative = strings.Repeat("word ", 60_000)
	want := map[importer.Kind]importer.ReasonCount{importer.Observation: {importer.ReasonShort: 1}}
	for range 2 {
		got := w.imports(t, lines(t, all...))
		if d := cmp.Diff(want, got.Shortened); d != "" {
			t.Errorf("shortened (-want +got):\n%s", d)
		}
	}
}

// A daemon that ends while it is sent entries is an answer that was cut, whatever of the connection failed.
func TestImportIsCut(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := relay.SocketPath(home)
	if err := relay.MakeSocketDir(path); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(io.Discard, r.Body, 100)
		panic(http.ErrAbortHandler)
	})}
	go func() { _ = server.Serve(socket) }()
	defer server.Close()
	client := client.Dial(home)
	defer client.Close()
	for range 20 {
		_, err := client.Import(t.Context(), importer.ClaudeMem, lines(t, slices.Repeat(otherMemory("cut"), 1000)...))
		if !errors.Is(err, api.ErrCut) {
			t.Fatalf("got %v, want ErrCut", err)
		}
	}
}

// TestImportIsThePersons: what another memory's rows say is believed, so an agent's command has none recorded.
func TestImportIsThePersons(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.Peer = func(net.Conn) peer.Peer { return peer.Peer{} } })
	before := len(w.records(t))
	_, err := w.client.Import(t.Context(), importer.ClaudeMem, lines(t, otherMemory("forged")...))
	if p := problem(t, err); p.Status != http.StatusForbidden || !strings.Contains(p.Detail, "your own terminal") {
		t.Errorf("got %+v, want it refused with where to run it", p)
	}
	if n := len(w.records(t)); n != before {
		t.Errorf("%d records after %d", n, before)
	}
}

// What the rules of privacy keep out of all records is not imported either, and counted.
func TestImportOfWhatIsPrivate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) {
		c.capture.Rules = privacy.NewRules(c.Home, privacy.Switches{SkipTools: []string{"Bash"}})
	})
	got := w.imports(t, lines(t, otherMemory("private")...))
	want := map[importer.Kind]importer.ReasonCount{importer.ToolUse: {importer.ReasonPrivate: 1}, importer.Prompt: {importer.ReasonEmpty: 1}}
	if d := cmp.Diff(want, got.LeftOut); d != "" || w.count(t, events.KindToolUsed) != 0 {
		t.Errorf("left out (-want +got):\n%s", d)
	}
}
