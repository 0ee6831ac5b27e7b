package evidence

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
)

// Kind is what a tool call was for.
type Kind string

// The kinds of tool calls.
const (
	Edit    Kind = "edit"    // changed, made or deleted files
	Read    Kind = "read"    // read a file
	Command Kind = "command" // ran a command line
	Search  Kind = "search"  // looked for files or text
	Web     Kind = "web"     // fetched or searched the web
	Task    Kind = "task"    // gave work to a subagent
	MCP     Kind = "mcp"     // called a tool of an MCP server
	Other   Kind = "other"
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

// Classify tells what a tool call was by its fields. The name decides only between calls that look alike. Input and
// Output may be cut or no JSON at all; what is left is used.
func Classify(t events.ToolUsed) Shape { return shapeOf(newCall(t)) }

// call is a tool call with its JSON read.
type call struct {
	events.ToolUsed
	in, out value
	name    []string // the words of the tool's name, lowercase
	mcp     bool
}

func newCall(t events.ToolUsed) call {
	c := call{ToolUsed: t, in: parse(t.Input), out: parse(t.Output), name: nameWords(t.Tool)}
	c.mcp = strings.HasPrefix(t.Tool, "mcp__") || strings.HasPrefix(t.Tool, "mcp_")
	return c
}

// nameWords splits camelCase, snake_case and kebab-case.
func nameWords(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name[:min(len(name), 256)] {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		if !lower && !unicode.IsLetter(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

func (c call) named(words ...string) bool {
	for _, n := range c.name {
		for _, w := range words {
			if n == w {
				return true
			}
		}
	}
	return false
}

func shapeOf(c call) Shape {
	s := Shape{Kind: kindOf(c), Failed: c.Failed || isTrue(c.out, "interrupted", "iserror")}
	switch s.Kind {
	case Command:
		s.fillCommand(c)
	case Search:
		s.Query = c.in.get(queryKeys()...).String()
	case Web:
		s.Query, s.Target = c.in.get("query", "q").String(), firstOf(c.in.get("url", "urls", "uri").strings())
	case Task:
		s.Target = c.in.get("subagenttype", "agenttype", "agent", "agentname").String()
	case MCP:
		s.Target = mcpServer(c.Tool)
	}
	return s
}

func kindOf(c call) Kind {
	switch {
	case c.mcp:
		return MCP
	case len(c.patches()) > 0:
		return Edit
	case c.command() != "":
		return Command
	case c.in.has("url", "urls") || c.named("web", "browser", "internet") && c.in.has("query", "q"):
		return Web
	case c.writes() && len(c.paths()) > 0:
		return Edit
	case c.in.has(queryKeys()...) || c.named("glob", "grep", "search", "ls", "list"):
		return Search
	case c.in.has("prompt", "task", "message") && (c.in.has("subagenttype", "agenttype", "agent", "agentname") || c.named("task", "agent", "subagent")):
		return Task
	case c.in.has(pathKeys()...) && !c.folder():
		return Read
	}
	return kindByOutput(c)
}

// kindByOutput is for calls whose input was cut before anything could be told.
func kindByOutput(c call) Kind {
	for _, v := range resultNests(c.out) {
		switch {
		case isWritten(v) && v.get(pathKeys()...).text:
			return Edit
		case v.get(strongKeys()...).text:
			return Read
		}
	}
	return Other
}

func queryKeys() []string {
	return []string{"pattern", "query", "regex", "globpattern", "searchterm", "searchpattern", "glob", "queries"}
}

// command is the command line of c, or "". Editors that take a verb in a field of that name run nothing.
func (c call) command() string {
	v := c.in.get("command", "cmd", "commandline", "script", "shellcommand")
	words := v.strings()
	if len(words) == 0 || c.in.has(pathKeys()...) && !c.named("bash", "shell", "terminal", "exec", "run", "command") {
		return ""
	}
	if v.text {
		return words[0]
	}
	if script, ok := shellScript(program(words)); ok {
		return script
	}
	return strings.Join(words, " ")
}

func (s *Shape) fillCommand(c call) {
	s.Command = c.command()
	s.Background = isTrue(c.in, "runinbackground", "isbackground", "background")
	text := outputText(c)
	s.ExitCode, s.ExitKnown = exitCode(c.out, text)
	s.Failed = s.Failed || s.ExitKnown && s.ExitCode != 0
	s.Output = tail(text, maxTail)
	if !s.Failed && runsGit(s.Command, "commit", "merge", "cherry-pick", "revert") {
		s.Commits = Commits(text)
	}
}

func outputText(c call) string {
	if !c.out.object {
		if c.out.text {
			return c.out.String()
		}
		return c.Output
	}
	stdout, stderr := c.out.get("stdout"), c.out.get("stderr").String()
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
		if n, err := strconv.Atoi(v.get("exitcode", "returncode", "exit").raw); err == nil {
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

func isTrue(v value, keys ...string) bool {
	for _, k := range keys {
		if v.get(k).raw == "true" {
			return true
		}
	}
	return false
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

// Outcome is how a test run ended.
type Outcome string

// The outcomes. NoTests is what a call has that ran none.
const (
	NoTests Outcome = ""
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Unclear Outcome = "unclear" // the exit that is known is another program's, or none is known
)

// Tests tells how the tests of a Command ended, by its exit alone. A pipe, "|| true" or a later command hides the
// exit of the tests, and so does a client that says nothing at all.
func (s Shape) Tests() Outcome {
	if s.Kind != Command {
		return NoTests
	}
	all := commands(s.Command)
	last, pipefail := -1, false
	for i, c := range all {
		if isTest(c) {
			last = i
		}
		pipefail = pipefail || len(c.words) > 1 && c.words[0] == "set" && strings.Contains(strings.Join(c.words, " "), "pipefail")
	}
	switch {
	case last < 0:
		return NoTests
	case s.Background || hidden(all[last:], pipefail):
		return Unclear
	case s.Failed:
		return Failed
	case s.ExitKnown || strings.TrimSpace(s.Output) != "":
		return Passed
	}
	return Unclear
}

// hidden reports whether the exit of the first of cmds is not the exit of them all.
func hidden(cmds []simple, pipefail bool) bool {
	for i, c := range cmds {
		alone := i == len(cmds)-1
		switch c.next {
		case "", ")", "&&":
		case "|":
			if !pipefail && !alone {
				return true
			}
		case "&":
			return true
		default:
			if !alone {
				return true
			}
		}
	}
	return false
}
