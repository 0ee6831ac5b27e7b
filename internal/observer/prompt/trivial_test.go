package prompt

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

func command(line string) events.ToolUsed {
	in, _ := json.Marshal(map[string]string{"command": line})
	return events.ToolUsed{Tool: "Bash", Input: string(in), Output: `{"stdout":"main.go\nnotes.md","stderr":""}`, Cwd: "/p"}
}

func TestTrivial(t *testing.T) {
	t.Parallel()
	read := events.ToolUsed{Tool: "Read", Input: `{"file_path":"/p/a.go"}`, Output: `{"file":{"content":"x"}}`}
	changed := read
	changed.Output = `{"file":{"content":"y"}}`
	other := read
	other.Input = `{"file_path":"/p/b.go"}`
	failed := command("ls missing")
	failed.Failed = true
	background := events.ToolUsed{Tool: "Bash", Input: `{"command":"ls","run_in_background":true}`}
	grep := events.ToolUsed{Tool: "Grep", Input: `{"pattern":"x","path":"/p"}`, Output: `{"n":1}`}
	for _, tc := range []struct {
		name    string
		e       events.Event
		earlier []events.Event
		want    bool
	}{
		{"ls", command("ls -la"), nil, true},
		{"cd and ls", command("cd /p && ls | head -20"), nil, true},
		{"pwd", command("pwd"), nil, true},
		{"status", command("git -C /p status --short"), nil, true},
		{"find", command("find . -name '*.go' | sort | wc -l"), nil, true},
		{"find that deletes", command("find . -name '*.go' -delete"), nil, false},
		{"find that runs", command("find . -exec rm {} ;"), nil, false},
		{"ls through another filter", command("ls | tr a-z A-Z | rg MAIN"), nil, true},
		{"ls into a file", command("ls > list.txt"), nil, false},
		{"ls of what a program says", command("ls $(make where)"), nil, false},
		{"ls and more", command("ls && make"), nil, false},
		{"a file's head", command("head a.go"), nil, false},
		{"cat", command("cat a.go"), nil, false},
		{"diff", command("git diff"), nil, false},
		{"log", command("git log"), nil, false},
		{"commit", command("git commit -m ls"), nil, false},
		{"tests", command("go test ./..."), nil, false},
		{"nothing at all", command(""), nil, false},
		{"failed", failed, nil, false},
		{"in the background", background, nil, false},
		{"LS", events.ToolUsed{Tool: "LS", Input: `{"path":"/p"}`}, nil, true},
		{"glob", events.ToolUsed{Tool: "Glob", Input: `{"pattern":"**/*.go"}`}, nil, true},
		{"list_directory", events.ToolUsed{Tool: "list_directory", Input: `{"path":"/p"}`}, nil, true},
		{"grep", grep, nil, false},
		{"grep again", grep, []events.Event{nil, grep}, true},
		{"read", read, []events.Event{other}, false},
		{"read again", read, []events.Event{other, read, other}, true},
		{"read again, changed", read, []events.Event{changed}, false},
		{"tests again", command("go test"), []events.Event{command("go test")}, false},
		{"edit", events.ToolUsed{Tool: "Edit", Input: `{"file_path":"a","old_string":"a","new_string":"b"}`}, nil, false},
		{"compaction", events.ContextCompacted{Summary: "x"}, nil, false},
		{"stop", events.AgentStopped{}, nil, false},
		{"erased", nil, nil, true},
	} {
		if got := Trivial(observer.Input{Event: tc.e}, tc.earlier); got != tc.want {
			t.Errorf("%s: %t, want %t", tc.name, got, tc.want)
		}
	}
}

// TestWhatAnEarlierTurnSawIsALine: an input that repeats one of another turn needs no more than one of its own turn does.
func TestWhatAnEarlierTurnSawIsALine(t *testing.T) {
	t.Parallel()
	read := events.ToolUsed{Tool: "Read", Input: `{"file_path":"/p/a.go"}`, Output: "secret sauce"}
	for _, repeats := range []bool{false, true} {
		p := observer.Prompt{Kind: events.TurnObservation, Inputs: []observer.Input{{Event: read, Repeats: repeats}}}
		user := newRenderer(t, Config{}).Question(p, events.FormXML).User
		if line, told := strings.Contains(user, "/p/a.go (unchanged)\n"), strings.Contains(user, "secret sauce"); line != repeats || told == repeats {
			t.Errorf("repeats %t: a line %t, its output told %t", repeats, line, told)
		}
	}
}

// What is trivial is one line, and what it printed stays here.
func TestTrivialInputsAreALine(t *testing.T) {
	t.Parallel()
	read := events.ToolUsed{Tool: "Read", Input: `{"file_path":"/p/a.go"}`, Output: `{"file":{"filePath":"/p/a.go","content":"secret sauce"}}`}
	p := observer.Prompt{Kind: events.TurnObservation}
	for _, e := range []events.Event{
		command("ls  \t-la"), read, read, events.ToolUsed{Tool: "LS", Input: `{"path":"/p"}`, Output: "secret files"},
		events.ToolUsed{Tool: "Glob", Input: `{"pattern":"**/*.go"}`, Output: "secret files"}, command("pwd; echo " + strings.Repeat("x", 500)),
	} {
		p.Inputs = append(p.Inputs, observer.Input{Event: e})
	}
	user := newRenderer(t, Config{}).Question(p, events.FormXML).User
	for _, want := range []string{
		" 1: Bash]] ls -la\n", " 3: Read]] /p/a.go (unchanged)\n", " 4: LS]] path: /p\n", " 5: Glob]] **/*.go\n",
		" 6: Bash]] pwd; echo " + strings.Repeat("x", 150) + "...\n",
	} {
		if !strings.Contains(user, want) {
			t.Errorf("%q is missing in\n%s", want, user)
		}
	}
	if strings.Count(user, "secret sauce") != 1 || strings.Contains(user, "secret files") || strings.Contains(user, "notes.md") {
		t.Errorf("outputs of trivial calls went out:\n%s", user)
	}
}
