package extractive

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// noCall is the number of a call that does not come.
const noCall = math.MaxInt

// maxCommandRuns bounds the commands that are distinguished in one batch; a batch has 500 calls at most.
const maxCommandRuns = 2000

// maxWrote is how much of a command is searched for the name of a file that it may have written, in bytes.
const maxWrote = 4 << 10

// work is what a batch of tool calls came to.
type work struct {
	cwd       string
	calls     int
	callTimes []time.Time // of each call

	files         []*file // that were changed, in the order of their first change
	byPath        map[string]*file
	reads         []string // files, each once
	seen          map[string]bool
	restored      []string // files that are again what they were
	changingCalls []int    // calls that changed files
	edits         []edit   // what they changed and removed
	firstChange   int      // the first call that changed more than tests
	moved         bool
	removed       []string // files and folders that a shell removed, absolute where that is known

	runs          []run
	commits       []commit
	searches      []string
	emptySearches []string // searches that found nothing
	fetches       []string
	fetched       bool // a call brought in what somebody else says
	askCalls      []call
	reports       []*report
	servers       []server
	subagent      map[string]*report
	todos         []todo
	uncommitted   []string // files that were not committed when git was last asked
	failures      []call   // of calls that are no commands
	wrote         []string // commands behind a failed call that went well and may have written files
}

// file is one changed file.
type file struct {
	path        string
	edits       int
	created     bool
	plus, minus int
	subagent    string // the type of the one that changed it first
	comments    []comment
	net         netChange
}

// run is one command that was run, or of a list of commands the one that counts.
type run struct {
	callIndex   int // call
	step        step
	commandLine string // the command line that it stood in
	isTest      bool
	runOutcome  outcome
	exit        int
	output      string // its end, where the command line wrote it
	family      string
}

// report is what one subagent did.
type report struct {
	id, kind, task string
	calls          int
	text           string
}

// server is another server, with its tools that were called.
type server struct {
	name  string
	tools []string
	calls int
}

func newWork(cwd string) *work {
	return &work{
		firstChange: noCall, cwd: cwd, byPath: map[string]*file{}, seen: map[string]bool{}, subagent: map[string]*report{},
	}
}

// add folds one call in.
func (w *work) add(c call) {
	if c.refused && c.action != actionEdit {
		return // it was never run, and so did not fail
	}
	w.calls++
	w.callTimes = append(w.callTimes, c.at)
	w.attribute(c)
	w.fetched = w.fetched || c.made.Fetches()
	if c.failed && c.action != actionRun {
		w.failures = append(w.failures, c)
		return
	}
	for _, p := range c.read {
		w.read(p)
	}
	switch c.action {
	case actionEdit:
		w.edit(c)
	case actionRun:
		w.run(c)
		for _, f := range c.made.ChangedByShell() {
			w.editByShell(c, f)
		}
	case actionSearch:
		if c.found {
			w.searches = addOnce(w.searches, c.target)
		} else {
			w.emptySearches = addOnce(w.emptySearches, c.target)
		}
	case actionFetch:
		w.fetches = addOnce(w.fetches, c.target)
	case actionAsk:
		w.askCalls = append(w.askCalls, c)
	case actionTask:
		w.hand(c)
	case actionServer:
		w.serve(c)
	case actionOther: // which settles what failed before
		w.failures = slices.DeleteFunc(w.failures, func(f call) bool { return f.action == actionOther && f.tool == c.tool })
	}
	if c.keptTodos {
		w.todos = c.todos
	}
}

func addOnce(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func (w *work) read(p string) {
	if p != "" && !w.seen[p] {
		w.seen[p] = true
		w.reads = append(w.reads, p)
	}
}

func (w *work) edit(c call) {
	w.changingCalls = append(w.changingCalls, w.calls)
	if w.firstChange == noCall && slices.ContainsFunc(c.changed, func(p string) bool { return !isTestFile(p) }) {
		w.firstChange = w.calls
	}
	w.moved = w.moved || c.moved
	fresh := false
	for _, p := range c.changed {
		f := w.byPath[p]
		if f == nil {
			fresh = c.created && (c.known || !w.seen[p])
			f = &file{path: p, created: fresh, subagent: c.subagentType}
			w.byPath[p] = f
			w.files = append(w.files, f)
		}
		f.edits++
		if len(c.changed) == 1 {
			f.plus += c.plus
			f.minus += c.minus
			f.comment(c)
			f.net.add(c.replaced)
		} else {
			f.net.add(nil)
		}
	}
	w.edits = append(w.edits, edit{callIndex: w.calls, made: c.made, files: c.changed, created: fresh})
}

// editByShell notes what a command line did to a file, as the client says.
func (w *work) editByShell(c call, f evidence.Changed) {
	if f.Deleted { // run notes by its words what was removed; what was made for this alone is nothing
		if made := w.byPath[f.Path]; made != nil && made.created {
			w.files = slices.DeleteFunc(w.files, func(f *file) bool { return f == made })
			delete(w.byPath, f.Path)
		}
		return
	}
	c.changed, c.created, c.known, c.moved, c.plus, c.minus = []string{f.Path}, f.Created, true, false, f.Plus, f.Minus
	w.edit(c)
}

// comment notes the comments that a call wrote or took out, and forgets those that it took out again. In a file that was there before and is
// given whole nobody can say which are new: none is noted.
func (f *file) comment(c call) {
	if c.whole {
		f.comments = nil
	}
	if c.whole && !f.created {
		return
	}
	for _, gone := range c.comments {
		if n := len(f.comments); gone.gone {
			f.comments = slices.DeleteFunc(f.comments, func(old comment) bool { return old.text == gone.text })
			if len(f.comments) < n {
				c.comments = slices.DeleteFunc(slices.Clone(c.comments), func(c comment) bool { return c == gone })
			}
		}
	}
	f.comments = append(f.comments, c.comments[:min(len(c.comments), 2*maxComments)]...)
}

// attribute counts the calls of subagents.
func (w *work) attribute(c call) {
	if c.subagent == "" {
		return
	}
	r := w.subagent[c.subagent]
	if r == nil {
		r = &report{id: c.subagent, kind: c.subagentType}
		w.subagent[c.subagent] = r
		w.reports = append(w.reports, r)
	}
	if c.tool == subagentStop {
		r.text = c.report
		return
	}
	r.calls++
}

// hand notes what a subagent was asked to do, and its report if that came at once.
func (w *work) hand(c call) {
	if c.tool != subagentStop {
		w.reports = append(w.reports, &report{kind: c.kind, task: c.target, text: c.report})
	}
}

// subagents is how many there were: one that was handed work and whose calls are known stands in reports as both.
func (w *work) subagents() int {
	handed := 0
	for _, r := range w.reports {
		if r.id == "" {
			handed++
		}
	}
	return max(handed, len(w.reports)-handed)
}

func (w *work) serve(c call) {
	i := slices.IndexFunc(w.servers, func(s server) bool { return s.name == c.target })
	if i < 0 {
		i = len(w.servers)
		w.servers = append(w.servers, server{name: c.target})
	}
	s := &w.servers[i]
	s.calls++
	s.tools = addOnce(s.tools, strings.TrimPrefix(c.tool[max(0, strings.LastIndex(c.tool, "__")):], "__"))
}

func (w *work) run(c call) {
	w.moved = w.moved || c.moved
	for _, m := range c.commits {
		w.commit(m, c)
	}
	switch {
	case c.uncommitted != nil:
		w.uncommitted = *c.uncommitted
	case len(c.commits) > 0:
		w.uncommitted = nil
	}
	if c.failed {
		w.fail(c)
		return
	}
	if len(w.failures) > 0 && (strings.Contains(c.command, ">") || slices.ContainsFunc(c.steps, func(s step) bool { return !s.onlyReads() })) {
		w.wrote = append(w.wrote, c.command[:min(len(c.command), maxWrote)])
	}
	last := lastStep(c.steps)
	for i, s := range c.steps {
		if s.words[0] == "rm" || s.words[0] == "git" && s.sub(1) == "rm" {
			w.remove(s.words[slices.Index(s.words, "rm")+1:], c)
		}
		if !s.onlyReads() && len(w.runs) < maxCommandRuns {
			w.runs = append(w.runs, run{
				callIndex: w.calls, step: s, commandLine: c.command, isTest: s.IsTest(), runOutcome: c.ends[i], family: s.family(),
			})
			if i == last {
				w.runs[len(w.runs)-1].output = c.output
			}
		}
	}
}

// lastStep is the last that does anything but move about or print: what was written is taken for its output.
func lastStep(all []step) int {
	for i, s := range slices.Backward(all) {
		if !s.quiet() {
			return i
		}
	}
	return len(all) - 1
}

// fail notes a command line that failed.
func (w *work) fail(c call) {
	at := blamed(c)
	if at < 0 || len(w.runs) >= maxCommandRuns {
		return
	}
	s := c.steps[at]
	w.runs = append(w.runs, run{
		callIndex: w.calls, step: s, commandLine: c.command, isTest: s.IsTest(), runOutcome: failed, exit: c.exit, output: c.output,
		family: s.family(),
	})
}

// blamed is the step of a command line that failed which is to blame, or else the last that does anything: what stands before it prepares
// it. One whose output goes into a pipe is to blame only where no other does anything: a shell does not report how it ended, unless it was
// set to.
func blamed(c call) int {
	last, piped, pipefail := -1, -1, false
	for i, s := range c.steps {
		pipefail = pipefail || s.words[0] == "set" && slices.Contains(s.words, "pipefail")
		switch {
		case c.ends[i] == failed:
			return i
		case s.quiet():
		case s.Next == "|" && !pipefail:
			piped = i
		default:
			last = i
		}
	}
	switch {
	case last >= 0:
		return last
	case piped >= 0:
		return piped
	}
	return len(c.steps) - 1
}

// commit notes a commit that git reported. One that was amended again stands for itself only in its last form.
func (w *work) commit(m commit, c call) {
	folder := c.cwd
	for _, s := range c.steps {
		switch {
		case s.words[0] == "cd" && len(s.words) > 1:
			folder = absolute(folder, s.words[1])
		case s.words[0] != "git":
		case s.sub(1) != "commit":
			m.preexisting = m.preexisting || s.sub(1) == "cherry-pick" || s.sub(1) == "revert" || s.sub(1) == "rebase"
		default:
			m.amends = slices.Contains(s.words, "--amend")
			m.preexisting = m.preexisting || slices.Contains(s.words, "--no-edit")
		}
	}
	m.inOtherFolder = path.IsAbs(folder) && path.IsAbs(w.cwd) && !under(folder, w.cwd) && !under(w.cwd, folder)
	if n := len(w.commits); m.amends && n > 0 && w.commits[n-1].subject == m.subject {
		m.preexisting, m.reason = w.commits[n-1].preexisting, cmp.Or(m.reason, w.commits[n-1].reason)
		w.commits = w.commits[:n-1]
	}
	w.commits = append(w.commits, m)
}

// laterEnd says how the newest run of r's family behind r ended: unknown where it was not run again or did not tell.
func (w *work) laterEnd(r run) outcome {
	end := unknown
	for _, other := range w.runs {
		if other.callIndex > r.callIndex && other.runOutcome != unknown && akin(other.family, r.family) {
			end = other.runOutcome
		}
	}
	return end
}

// ranBehind reports whether the newest run of r's family is behind r, and neither reported how it ended nor printed what r's output says again.
func (w *work) ranBehind(r run) bool {
	for _, other := range slices.Backward(w.runs) {
		if akin(other.family, r.family) {
			return other.callIndex > r.callIndex && other.runOutcome == unknown && !holds(other.output, problem(r.output))
		}
	}
	return false
}

// holds reports whether what was printed later has a line of what was printed before, which may be cut.
func holds(later, line string) bool {
	line = strings.TrimSuffix(line, "…")
	return line != "" && strings.Contains(later, line)
}

// absolute is p in folder.
func absolute(folder, p string) string {
	if path.IsAbs(p) || !path.IsAbs(folder) {
		return path.Clean(p)
	}
	return path.Join(folder, p)
}

// under tells whether p is folder, or in it.
func under(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// maxRemoved bounds what is remembered of removed files.
const maxRemoved = 100

func (w *work) remove(words []string, c call) {
	from := len(w.removed)
	for _, p := range words {
		if !strings.HasPrefix(p, "-") && len(w.removed) < maxRemoved {
			gone := absolute(c.cwd, p)
			for _, f := range w.files {
				if under(f.path, gone) {
					f.comments = nil
				}
			}
			w.removed = append(w.removed, gone)
		}
	}
	w.edits = append(w.edits, edit{callIndex: w.calls, files: w.removed[from:]})
}

// replaces tells whether f is a new file that stands for one of the same name that was removed.
func (w *work) replaces(f *file) bool {
	if !f.created {
		return false
	}
	for _, gone := range w.removed {
		if path.Base(gone) == path.Base(f.path) && gone != f.path {
			return true
		}
		for _, p := range w.reads {
			if p != f.path && path.Base(p) == path.Base(f.path) && under(p, gone) {
				return true
			}
		}
	}
	return false
}

// createdCount counts the new files, those that were only moved left out.
func (w *work) createdCount() int {
	n := 0
	for _, f := range w.files {
		if f.created && !w.replaces(f) {
			n++
		}
	}
	return n
}

// show is p as people read it: under the session's folder, or else whole.
func (w *work) show(p string) string { return clean(evidence.Rel(w.cwd, p)) }
