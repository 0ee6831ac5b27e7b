package claudecli

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/internal/durable"
)

// args are the client's arguments: nothing of the person's settings, no tools, no memory of the session, and the events of
// the stream, which alone tell a whole answer from a cut one.
func (c *Client) args(systemFile string) []string {
	return []string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
		"--system-prompt-file", systemFile, "--model", c.model, "--tools", "", "--strict-mcp-config",
		"--setting-sources", "", "--disable-slash-commands", "--no-session-persistence",
	}
}

// Marker is the variable that a child's environment holds: cmemd's hooks do nothing where it is set. Its value is the
// run's own, so that what descends from a run can be told.
const Marker = "CMEMD_OBSERVER"

// maxRetries is how often the client asks its service again by itself.
const maxRetries = 2

// apiTimeoutMS is longer than any turn may be, for a turn ends by its context. It ends a child that nobody can signal.
const apiTimeoutMS = 120_000

// childEnv is what a child is given: env, and what makes it quiet, small and ours, whatever env says of that. Its temporary files
// are in tmp: a client that is killed leaves a socket.
func childEnv(env []string, run, tmp string, maxTokens int) []string {
	own := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, "ANTHROPIC_LOG=") // it would speak on the child's output
	})
	own = append(own,
		Marker+"="+run, "TMPDIR="+tmp, "TEMP="+tmp, "TMP="+tmp,
		"MAX_THINKING_TOKENS=0",        // without it an older small model is asked to think for 31,999 tokens
		"CLAUDE_CODE_EFFORT_LEVEL=low", // newer models think all the same: as little as they can
		"CLAUDE_CODE_MAX_RETRIES="+strconv.Itoa(maxRetries),
		"API_TIMEOUT_MS="+strconv.Itoa(apiTimeoutMS),
		"CLAUDE_CODE_DISABLE_ATTACHMENTS=1",           // a prompt that mentions a file does not send it
		"CLAUDE_CODE_DISABLE_FILE_MENTIONS=1",         // the same in newer clients
		"CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK=1", // a cut answer is not asked for once more behind the stream's back
		"CLAUDE_CODE_DISABLE_REFUSAL_RETRY=1",         // a refused turn is not asked for in other words
		"CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK=1",      // nor of another model
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",  // no telemetry, no update
	)
	if maxTokens > 0 {
		own = append(own, "CLAUDE_CODE_MAX_OUTPUT_TOKENS="+strconv.Itoa(maxTokens))
	}
	return own
}

// find returns the client's path, or a failure of the class setup.
func (c *Client) find() (string, error) {
	if c.path != "" {
		path, err := exec.LookPath(c.path)
		if err != nil {
			return "", setupFailure("the client named in the settings cannot be run", err)
		}
		return path, nil
	}
	for _, dir := range searchDirs(c.env) {
		if path, err := exec.LookPath(filepath.Join(dir, "claude")); err == nil {
			return path, nil
		}
	}
	return "", setupFailure("Claude Code is not installed, or not on the PATH of the daemon", exec.ErrNotFound)
}

// searchDirs lists the folders of env's PATH, and where the client's own installers put it, for a daemon that was started
// by the system with a short PATH.
func searchDirs(env []string) []string {
	dirs := filepath.SplitList(lookup(env, "PATH"))
	if home := lookup(env, "HOME"); home != "" {
		dirs = append(dirs, filepath.Join(home, ".local", "bin"), filepath.Join(home, ".claude", "local"))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// lookup returns the last value of a variable, as a process sees it.
func lookup(env []string, name string) (value string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// userLine is one message of the person's as the client reads it.
type userLine struct {
	Type    string `json:"type"`
	Message struct {
		Role    string      `json:"role"`
		Content []textBlock `json:"content"`
	} `json:"message"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// stdin is what the client reads: one line. Bytes that are no UTF-8 become U+FFFD.
func stdin(prompt string) ([]byte, error) {
	var u userLine
	u.Type, u.Message.Role = "user", "user"
	u.Message.Content = []textBlock{{Type: "text", Text: defuse(prompt)}}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // tags are most of a prompt
	err := encoder.Encode(u)
	return b.Bytes(), err
}

// systemFile writes the system prompt into the folder of runs, unless it stands there, and returns its path.
func (c *Client) systemFile(text string) (string, error) {
	sum := sha256.Sum256([]byte(text))
	path := filepath.Join(c.dir, fmt.Sprintf("system-%x.txt", sum[:8]))
	if old, err := durable.ReadBounded(path, int64(len(text))); err == nil && bytes.Equal(old, []byte(text)) {
		return path, nil
	}
	return path, durable.Swap(path, []byte(text), 0o600)
}
