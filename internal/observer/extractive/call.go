package extractive

import (
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/sentence"
)

// action is what one tool call did.
type action uint8

const (
	actionOther  action = iota
	actionEdit          // changed files
	actionRead          // read files
	actionRun           // a shell command
	actionSearch        // in files
	actionFetch         // from the web, or searched there
	actionTask          // handed work to a subagent, or got its report
	actionAsk           // the user, to choose or to approve
	actionServer        // another server's tool
)

// call is one tool call, told by what it did. Its texts are as long as the agent made them.
type call struct {
	action       action
	made         *evidence.Call
	tool         string
	at           time.Time
	subagent     string // who did it; "" is the agent itself
	subagentType string
	failed       bool
	refused      bool // by the person: it was never run

	read, changed []string // absolute paths
	failedPaths   []string // the files of an edit that failed
	created       bool     // the changed files were not there before
	known         bool     // created was told, not guessed
	whole         bool     // it gave all that the changed file holds
	moved         bool     // a file was moved
	plus, minus   int      // lines, where the agent told them
	comments      []comment
	replaced      []replacement // what an edit put in the place of what, where it told
	command       string
	steps         []step
	ends          []outcome // of steps
	commits       []commit
	uncommitted   *[]string // files that git said are not committed; nil: it was not asked
	cwd           string
	target        string // what was searched, fetched, asked or handed over
	found         bool   // a search found something, as far as is told
	report        string // what came back, where it is language
	output        string // of a failed call, and the end of what a command wrote
	exit          int    // of a failed command, where it is known
	kind          string // of the subagent that work was handed to
	todos         []todo // the whole list, where the call kept one
	keptTodos     bool
}

// edit is one call that changed files or removed them.
type edit struct {
	callIndex int            // call
	made      *evidence.Call // nil: it removed them
	files     []string
	created   bool
}

type commit struct {
	hash, subject string
	amends        bool   // it replaced the commit before it
	preexisting   bool   // its subject was there before this work
	inOtherFolder bool   // made in another folder than the session's
	files         int    // that it changed; 0: git did not say
	reason        string // what its message says below the subject
}

type todo struct {
	text string
	done bool
}

// observeCall looks at one tool use.
func observeCall(u *evidence.Call) call {
	shape := u.Shape()
	c := call{made: u, tool: u.Tool, subagent: u.SubagentID, subagentType: u.SubagentType, failed: shape.Failed, refused: u.Refused, cwd: u.Cwd}
	c.read, c.changed = u.Files()
	in := fields(u.Input)
	switch c.action = deedOf(u, shape); {
	case len(c.changed) > 0 && c.action != actionRun:
		c.action = actionEdit
		c.measure(u, in)
		c.comments = comments(c.changed[0], in)
		c.replaced = replacements(in)
	case c.action == actionRun:
		c.run(u, shape, u.Commands())
	case c.action == actionOther && c.keeps(in):
	case c.action == actionOther && asks(in):
		c.ask(u, in)
	case c.action == actionTask:
		c.target, c.kind, c.report = text(in, "description", "title"), shape.Target, outputText(u.Output)
	default:
		c.target = shape.Target + shape.Query
		c.found = !foundNothing(u.Output)
	}
	if c.failed {
		c.output = outputText(u.Output)
	} else if c.action == actionRun {
		c.output = shape.Output
	}
	if c.failed && c.action == actionEdit {
		c.failedPaths = u.Tried()
	}
	return c
}

// foundNothing is for what tools answer that search where nothing was found: a count of nought, or a line that begins with "No".
func foundNothing(out string) bool {
	out = strings.TrimSpace(outputText(out))
	first, rest, _ := strings.Cut(out, "\n")
	word, _, _ := strings.Cut(first, " ")
	return word == "0" || strings.EqualFold(word, "no") && strings.TrimSpace(rest) == ""
}

func deedOf(u *evidence.Call, s evidence.Shape) action {
	switch s.Kind {
	case evidence.Edit:
		return actionEdit
	case evidence.Read:
		return actionRead
	case evidence.Command:
		return actionRun
	case evidence.Search:
		return actionSearch
	case evidence.Web:
		return actionFetch
	case evidence.Task:
		return actionTask
	case evidence.MCP:
		return actionServer
	}
	if u.Tool == subagentStop {
		return actionTask
	}
	return actionOther
}

// subagentStop is the tool's name under which the end of a subagent is captured: its output is the last message.
const subagentStop = "SubagentStop"

// measure counts the lines that a call changed, and finds out whether the file is new.
func (c *call) measure(u *evidence.Call, in []field) {
	out := fields(u.Output)
	if patch := raw(out, "structuredPatch"); patch != "" {
		c.plus, c.minus = patchLines(patch)
	}
	body, given := raw(in, "content", "file_text", "contents"), raw(in, "old_string", "old_str", "edits")
	c.whole = body != "" && given == ""
	switch kind := text(out, "type"); {
	case kind == "create", raw(out, "originalFile") == "null":
		c.created, c.known = true, true
	case kind == "update", raw(out, "originalFile") != "":
		c.known = true
	case raw(in, "old_string") == `""`:
		c.created, c.known = true, true
	case c.whole:
		c.created = true
	}
	if c.created && c.plus == 0 && body != "" {
		c.plus = strings.Count(body, `\n`)
	}
	if patch := text(in, "patch", "input"); strings.Contains(patch, "*** ") || strings.HasPrefix(u.Input, "*** ") {
		c.created = strings.Contains(patch+u.Input, "*** Add File: ") && !strings.Contains(patch+u.Input, "*** Update File: ")
		c.moved = strings.Contains(patch+u.Input, "*** Move to: ")
		c.known = true
	}
}

// patchLines counts the added and removed lines of a structured patch: its strings that begin with '+' or '-'.
func patchLines(patch string) (plus, minus int) {
	for i := 0; ; {
		n := strings.IndexByte(patch[i:], '"')
		if n < 0 {
			return plus, minus
		}
		i += n
		switch {
		case strings.HasPrefix(patch[i:], `"+`):
			plus++
		case strings.HasPrefix(patch[i:], `"-`):
			minus++
		}
		n = jsonscan.StringEnd(patch[i:])
		if n == 0 {
			return plus, minus
		}
		i += n
	}
}

// run fills in what a shell command did.
func (c *call) run(u *evidence.Call, shape evidence.Shape, simple []evidence.Simple) {
	c.command = shape.Command
	c.steps, c.exit = steps(simple), shape.ExitCode
	c.ends = make([]outcome, len(c.steps))
	if !shape.Background && (shape.ExitKnown || shape.Failed || u.Output != "" && u.Output != `""`) {
		c.ends = ended(c.steps, !shape.Failed)
	}
	for _, s := range c.steps {
		c.moved = c.moved || s.words[0] == "git" && s.sub(1) == "mv"
	}
	c.uncommitted = leftOpen(c.steps, shape)
	reasons := reasons(c.steps)
	for _, made := range shape.Commits {
		c.commits = append(c.commits, commit{hash: made.Hash, subject: clean(made.Subject), files: made.Files, reason: reasons[made.Subject]})
	}
	for _, s := range c.steps {
		if subject, quiet := s.QuietCommit(); quiet && subject != "" && !shape.Failed && len(shape.Commits) == 0 {
			c.commits = append(c.commits, commit{subject: clean(subject), reason: reasons[subject]})
		}
	}
}

// reasons are what the messages of commits say below their subjects, by these.
func reasons(all []step) map[string]string {
	bySubject := map[string]string{}
	for _, s := range all {
		if subject, body, ok := strings.Cut(s.CommitMessage(), "\n"); ok {
			bySubject[strings.TrimSpace(subject)] = reason(body)
		}
	}
	return bySubject
}

// reason is the beginning of what stands below a commit's subject, up to the lines for programs at its end, or to a link: tools sign by one.
func reason(body string) string {
	said, mark := "", ""
	var text strings.Builder
	for l := range strings.Lines(body) {
		if isTrailer(l) {
			break
		}
		text.WriteString(l)
	}
	for _, b := range blocks(unwrap(clean(text.String()), false)) {
		if b.shape != paragraph && b.shape != item || strings.Contains(b.raw, "://") {
			break
		}
		said, mark = said+mark+b.text, " "
		if b.shape == item {
			mark = "; "
		}
	}
	if !sentence.Telling(said) {
		return ""
	}
	return lead(line(said), maxFact*2/3)
}

// isTrailer is for lines for programs at the end of a commit's message, such as Signed-off-by.
func isTrailer(l string) bool {
	word, _, _ := strings.Cut(l, " ")
	return strings.HasSuffix(word, ":") && strings.Contains(word, "-") && word[0] >= 'A' && word[0] <= 'Z'
}

// ask fills in what the user was asked, and what came of it.
func (c *call) ask(u *evidence.Call, in []field) {
	c.action = actionAsk
	c.target = text(in, "plan", "question")
	for _, q := range elements(raw(in, "questions")) {
		if s := text(fields(q), "question"); s != "" && c.target == "" {
			c.target = s
		}
	}
	answers := raw(fields(u.Output), "answers")
	for _, a := range fields(answers) {
		if s := unquote(a.raw); s != "" && c.report == "" {
			c.report = s
		}
	}
}

// asks is for calls that put a question with options, or a plan, before the user.
func asks(in []field) bool {
	return strings.Contains(raw(in, "questions"), `"options"`) || strings.HasPrefix(raw(in, "plan"), `"`)
}

// keeps reads a list of things to do, if the call's input is one: a list of objects with a status and a text.
func (c *call) keeps(in []field) bool {
	for _, key := range []string{"todos", "plan", "items", "tasks"} {
		list := elements(raw(in, key))
		if list == nil {
			continue
		}
		for _, e := range list {
			f := fields(e)
			status, what := text(f, "status"), text(f, "content", "step", "description", "title", "text")
			if status == "" || what == "" {
				return false
			}
			c.todos = append(c.todos, todo{what, status == "completed" || status == "done" || status == "cancelled"})
		}
		c.keptTodos = true
		return true
	}
	return false
}

// outputText is what a call's output says: the text inside of the usual shapes, or all of it.
func outputText(out string) string {
	switch trimmed := strings.TrimLeft(out, " \t\r\n"); {
	case strings.HasPrefix(trimmed, `"`):
		return unquote(strings.TrimSpace(trimmed))
	case strings.HasPrefix(trimmed, "[{"):
		return partsText(trimmed)
	case strings.HasPrefix(trimmed, "{"):
		f := fields(trimmed)
		if s := partsText(raw(f, "content")); s != "" {
			return s
		}
		stdout, stderr := text(f, "stdout", "output", "result", "content", "text", "message"), text(f, "stderr", "error")
		return strings.TrimSpace(stdout + "\n" + stderr)
	}
	return out
}

// partsText joins the texts of a list of content parts.
func partsText(list string) string {
	var b strings.Builder
	for _, e := range elements(list) {
		if s := text(fields(e), "text"); s != "" {
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
	return strings.TrimSpace(b.String())
}
