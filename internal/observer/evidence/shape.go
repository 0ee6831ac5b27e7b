package evidence

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxTail is how much of a command's output a Shape keeps, in bytes, from its end: where programs say how it went.
const maxTail = 4 << 10

// Shape is a tool call as its fields show it.
type Shape struct {
	Kind       Kind
	Command    string   // of a Command, as it was typed
	Background bool     // a Command that nobody waited for
	ExitCode   int      // of a Command, if ExitKnown
	ExitKnown  bool     // the client said so in a field or a line of its own
	Failed     bool     // by the client's word or the exit code
	Output     string   // the end of what a Command wrote, at most 4 KiB, whole runes
	Query      string   // of a Search or a web search
	Target     string   // the URL of a Web call, the server of an MCP call, the agent type of a Task
	Commits    []Commit // that git said it made, in a Command that makes commits
}

// Shape tells what the call was by its fields. The tool's name decides only between calls that look alike.
func (c *Call) Shape() Shape { return c.shape }

func (c *Call) shapeOf() Shape {
	s := Shape{Kind: c.kind, Failed: c.Failed || c.out.isTrue("interrupted", "iserror")}
	switch s.Kind {
	case Command:
		s.fillCommand(c)
	case Search:
		s.Query = c.in.query().String()
	case Web:
		s.Query, s.Target = c.in.get("query", "q").String(), firstOf(c.in.get("url", "urls", "uri").strings())
	case Task:
		s.Target = c.in.get(agentKeys()...).String()
	case MCP:
		s.Target = mcpServer(c.Tool)
	}
	return s
}

func (s *Shape) fillCommand(c *Call) {
	s.Command = c.command
	s.Background = c.in.isTrue("runinbackground", "isbackground", "background")
	text := c.outputText()
	s.ExitCode, s.ExitKnown = exitCode(c.out, text)
	s.Failed = s.Failed || s.ExitKnown && s.ExitCode != 0
	s.Output = tail(text, maxTail)
	if !s.Failed && runsGit(c.runs, "commit", "merge", "cherry-pick", "revert") {
		s.Commits = Commits(text)
	}
}

// outputText is what a command wrote, without the client's frame.
func (c *Call) outputText() string {
	if !c.out.object {
		if c.out.text {
			return c.out.String()
		}
		return c.Output
	}
	stdout, stderr := c.out.get("stdout"), c.out.get("stderr").String()
	if stdout.text && stderr == "" {
		return stdout.String()
	}
	if stdout.text {
		return strings.TrimSuffix(stdout.String()+"\n"+stderr, "\n")
	}
	v := c.out.get("output", "aggregatedoutput", "formattedoutput", "llmcontent", "returndisplay", "content", "text", "result", "error")
	if v.text {
		return v.String()
	}
	var texts []string
	for _, e := range v.list {
		texts = append(texts, e.get("text").String())
	}
	return strings.Join(texts, "\n")
}

// exitCode reads the exit code from a field, or from a line that clients write before or after the output.
func exitCode(out value, text string) (code int, known bool) {
	for _, v := range []value{out, out.get("metadata")} {
		raw := v.get("exitcode", "returncode", "exit").raw
		if raw == "" {
			continue // an error would be allocated
		}
		if n, err := strconv.Atoi(raw); err == nil {
			return n, true
		}
	}
	if out.has("stdout") { // a client with fields for everything would have said so
		return 0, false
	}
	const edge = 400 // the clients' own lines are short and stand at the edges
	for _, part := range []string{text[:min(len(text), edge)], text[max(0, len(text)-edge):]} {
		for line := range strings.Lines(part) {
			if n, ok := exitLine(strings.TrimSpace(line)); ok {
				return n, true
			}
		}
	}
	return 0, false
}

func exitLine(line string) (int, bool) {
	for _, form := range []string{"Exit code ", "Exit code: ", "Exit Code: ", "Process exited with code "} {
		if digits, ok := strings.CutPrefix(line, form); ok {
			n, err := strconv.Atoi(digits)
			return n, err == nil
		}
	}
	return 0, false
}

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

func firstOf(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

// mcpServer is the server in mcp__server__tool.
func mcpServer(tool string) string {
	rest := strings.TrimLeft(strings.TrimPrefix(tool, "mcp"), "_")
	server, _, _ := strings.Cut(rest, "__")
	return server
}
