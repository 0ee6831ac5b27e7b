package evidence

import (
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// Parse reads a tool call once, for all that is asked of it. Input and Output may be cut or no JSON at all; what is
// left is used. It never fails and takes linear time.
func Parse(t events.ToolUsed) *Call {
	c := &Call{ToolUsed: t, in: parseJSON(t.Input).unwrapped(), out: parseJSON(t.Output), name: nameWords(t.Tool)}
	c.mcp = strings.HasPrefix(t.Tool, "mcp__") || strings.HasPrefix(t.Tool, "mcp_")
	c.command = c.commandLine()
	for _, p := range c.patches() {
		c.patched = append(c.patched, patchedFiles(p)...)
	}
	if len(c.patched) > 0 {
		c.patchDir = shellFolder(c.command)
	}
	if c.kind = c.kindOf(); c.kind == Command {
		c.simple = Split(c.command)
		c.runs = unnested(c.simple)
	}
	c.shape = c.shapeOf()
	if read, modified := c.files(); c.Failed {
		c.tried = modified
	} else {
		c.read, c.modified = read, modified
	}
	return c
}

// unwrapped is the object inside of v where v holds nothing else, as some clients pass arguments on.
func (v value) unwrapped() value {
	if inner := v.first(toolinput.Wrapped); len(v.members) == 1 && inner.object {
		return inner
	}
	return v
}

// nameWords splits camelCase, snake_case and kebab-case.
func nameWords(name string) []string {
	var b strings.Builder
	b.Grow(min(len(name), 256) + 8)
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

// commandLine is what c runs in a shell, or "". Editors that take a verb in a field of that name run nothing.
func (c *Call) commandLine() string {
	v := c.in.first(toolinput.Command)
	words := v.strings()
	if len(words) == 0 || c.in.holds(toolinput.File|toolinput.Path) && !c.named("bash", "shell", "terminal", "exec", "run", "command") {
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

func (c *Call) kindOf() Kind {
	switch {
	case c.mcp:
		return MCP
	case len(c.patched) > 0:
		return Edit
	case c.command != "":
		return Command
	case c.in.has("url", "urls") || c.named("web", "browser", "internet") && c.in.has("query", "q"):
		return Web
	case c.writes() && len(c.paths()) > 0:
		return Edit
	case c.in.holds(toolinput.Query) || c.named("glob", "grep", "search", "ls", "list"):
		return Search
	case c.in.has("prompt", "task", "message") && (c.in.has(agentKeys()...) || c.named("task", "agent", "subagent")):
		return Task
	case (c.in.holds(toolinput.File|toolinput.Path) || len(c.paths()) > 0) && !c.isAboutFolders():
		return Read
	}
	return c.kindByOutput()
}

// kindByOutput is for calls whose input was cut before anything could be told.
func (c *Call) kindByOutput() Kind {
	for _, v := range resultNests(c.out) {
		switch {
		case isWriteResult(v) && v.first(toolinput.File, toolinput.Path).text:
			return Edit
		case v.first(toolinput.File).text:
			return Read
		}
	}
	return Other
}

func agentKeys() []string { return []string{"subagenttype", "agenttype", "agent", "agentname"} }
