package privacy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/secrets"
)

const delivery = "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"

func hexOf(c byte) string { return string([]byte{"0123456789abcdef"[c>>4], "0123456789abcdef"[c&15]}) }

// TestSpoolKeepsNothingPrivate goes the way of a hook that finds no daemon.
func TestSpoolKeepsNothingPrivate(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("capture_skip_tools = [ # none of\n 'WebSearch',\n]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, ignore.File), []byte("hidden/"), 0o600); err != nil {
		t.Fatal(err)
	}
	const word = "correct-horse"
	use := func(tool, input, response string) string {
		return `{"hook_event_name":"PostToolUse","session_id":"s","cwd":` + quote(t, project) + `,"tool_name":"` + tool + `","tool_use_id":"t","tool_input":` + input + `,"tool_response":` + response + `}`
	}
	for name, c := range map[string]struct {
		payload string
		err     error
		kept    string // has to be in what is kept
	}{
		"a dotenv file":          {use("Write", `{"file_path":"/s/.env","content":"`+word+`"}`, `{"filePath":"/s/.env","content":"`+word+`"}`), nil, "/s/.env"},
		"a key that was read":    {use("Read", `{"file_path":"/s/id_rsa"}`, `{"type":"text","file":{"filePath":"/s/id_rsa","content":"`+word+`"}}`), nil, "id_rsa"},
		"a command reads one":    {use("Bash", `{"command":"cat .env"}`, `{"stdout":"`+word+`","stderr":""}`), nil, "cat .env"},
		"a command writes one":   {use("Bash", `{"command":"echo `+word+` > .env","description":"`+word+`"}`, `""`), nil, "PostToolUse"},
		"the environment":        {use("Bash", `{"command":"env"}`, `{"stdout":"A=`+word+`"}`), nil, "env"},
		"an ignored file":        {use("Read", `{"file_path":"`+project+`/hidden/x"}`, `"`+word+`"`), relay.ErrPrivate, ""},
		"a skipped tool":         {use("WebSearch", `{"query":"`+word+`"}`, `"`+word+`"`), relay.ErrPrivate, ""},
		"in cmemd's own home":    {`{"hook_event_name":"UserPromptSubmit","cwd":` + quote(t, home) + `,"prompt":"` + word + `"}`, relay.ErrPrivate, ""},
		"an ignored project":     {`{"hook_event_name":"UserPromptSubmit","cwd":` + quote(t, filepath.Join(project, "hidden")) + `,"prompt":"` + word + `"}`, relay.ErrPrivate, ""},
		"half a payload":         {use("Bash", `{"command":"cat .env"}`, `{"stdout":"`+word+strings.Repeat("x", 99)+`"}`)[:215+len(project)], relay.ErrPrivate, ""},
		"cursor's way to say it": {`{"hook_event_name":"afterFileEdit","workspace_roots":["` + project + `"],"file_path":".env","edits":[{"old_string":"","new_string":"` + word + `"}]}`, nil, "afterFileEdit"},
		"windsurf's way":         {`{"agent_action_name":"post_run_command","tool_info":{"command_line":"printenv","cwd":"` + project + `","output":"` + word + `"}}`, nil, "printenv"},
	} {
		spool := relay.NewSpool(home, privacy.Keep)
		file, err := spool.Put(relay.Entry{Agent: "claude-code", Delivery: delivery, OccurredAt: time.Unix(1e9, 0), Body: []byte(c.payload)})
		if err != c.err {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if err != nil {
			continue
		}
		e, err := spool.Read(file)
		if err != nil || strings.Contains(string(e.Body), word) || !strings.Contains(string(e.Body), c.kept) || !jsonscan.Valid(e.Body) || len(e.Redactions) == 0 {
			t.Errorf("%s: %s %v (%v)", name, e.Body, e.Redactions, err)
		}
	}
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if data, _ := os.ReadFile(path); strings.Contains(string(data), word) {
			t.Errorf("%s holds it", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestSecretsAreNotSpooled: whatever form JSON gives them, and whether or not the payload is whole.
func TestSecretsAreNotSpooled(t *testing.T) {
	t.Parallel()
	for _, s := range race.Sample(secrets.Make(21)) {
		plain, err := json.Marshal(map[string]any{"hook_event_name": "PostToolUse", "tool_response": "a\n" + s.Text + "\nb \u00e9", "n": 1})
		if err != nil {
			t.Fatal(err)
		}
		for name, body := range map[string]string{
			"plain":     string(plain),
			"slashes":   strings.ReplaceAll(string(plain), "/", `\/`),
			"escapes":   strings.ReplaceAll(string(plain), s.Find[:1], `\u00`+hexOf(s.Find[0])),
			"colours":   strings.ReplaceAll(string(plain), s.Find[:8], s.Find[:4]+`\u001b[01;31m`+s.Find[4:8]),
			"charset":   strings.ReplaceAll(string(plain), s.Find[:8], s.Find[:4]+`\u001b(B\u001b[m`+s.Find[4:8]),
			"cut":       string(plain[:len(plain)-5]),
			"two deep":  quote(t, string(plain)),
			"no JSON":   "payload: " + s.Text + "\n",
			"an escape": strings.Replace(string(plain), s.Find[:6], s.Find[:5]+`\u0000`+s.Find[5:6], 1),
		} {
			home := t.TempDir()
			spool := relay.NewSpool(home, privacy.Keep)
			file, err := spool.Put(relay.Entry{Agent: "claude-code", Delivery: delivery, OccurredAt: time.Unix(1e9, 0), Body: []byte(body)})
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(home, "spool", "new", file))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(privacy.Unescaped(string(data)), s.Find) || strings.Contains(string(data), s.Find[6:14]) {
				t.Errorf("%s, %s: %q is in the file: %s", s.Rule, name, s.Find, data)
			}
			got, err := spool.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := got.Redactions[s.Rule]; n != 1 && name != "colours" && name != "charset" || n == 0 || len(got.Redactions) != 1 {
				t.Errorf("%s, %s: counted %v in %s", s.Rule, name, got.Redactions, data) // colours may cut one in two
			}
			if json.Valid([]byte(body)) != json.Valid(got.Body) {
				t.Errorf("%s, %s: was JSON %v, is %s", s.Rule, name, json.Valid([]byte(body)), got.Body)
			}
		}
	}
}

func quote(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
