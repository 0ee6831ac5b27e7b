package evidence

import (
	"maps"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// Rework is what the edits of a session put into files, and what later ones took out again: by other edits, by git, or with the file. It
// goes by the words of the calls alone, in their order; the disk is not looked at. The zero value has seen nothing. It belongs to one
// goroutine.
//
// What bites: what a formatter or a script changes is not seen, and neither is a reset to a commit of which the calls do not tell. A commit
// is taken to hold all that was written before it.
type Rework struct {
	steps []step
}

// step is one thing that a call did.
type step struct {
	at     events.Position
	effect stepKind

	text        rewrite  // of stepRewrote
	files       []string // of stepDeleted and stepMoved (from, to); of stepRestored, none: all
	commitsBack int      // of stepReset and stepReverted: how many commits before the last
	hash        string   // of stepCommitted; of stepReset and stepReverted, where the call names one
}

type stepKind uint8

const (
	stepRewrote stepKind = iota
	stepDeleted
	stepMoved
	stepRestored // to the last commit
	stepStashed
	stepUnstashed
	stepCommitted
	stepAmended
	stepReset    // to an earlier commit
	stepReverted // what one commit had changed
)

// Add takes the next call of the session, which was recorded at a position.
func (w *Rework) Add(at events.Position, c *Call) {
	for _, text := range c.rewrites() {
		w.steps = append(w.steps, step{at: at, effect: stepRewrote, text: text})
	}
	if c.kind != Command {
		return
	}
	if c.shape.Failed || c.shape.Background {
		return
	}
	commits, folder := c.shape.Commits, c.folderOf()
	for _, run := range c.runs {
		s, ok := stepOf(run, folder)
		if name, args := program(run.Words); name == "cd" && len(args) == 1 {
			folder = join(folder, args[0])
		}
		if !ok {
			continue
		}
		if s.at = at; s.effect == stepCommitted || s.effect == stepAmended {
			if len(commits) > 0 {
				s.hash, commits = commits[0].Hash, commits[1:]
			}
		}
		w.steps = append(w.steps, s)
	}
}

// Empty reports whether nothing was seen that changes a file.
func (w *Rework) Empty() bool { return len(w.steps) == 0 }

// Touches reports whether a call may have taken something out of any of files: it names the file or its folder, or has git put back what
// it does not name.
func (w *Rework) Touches(files []string) bool {
	return slices.ContainsFunc(w.steps, func(s step) bool {
		switch s.effect {
		case stepRewrote:
			return slices.Contains(files, s.text.file)
		case stepDeleted, stepMoved, stepRestored:
			return s.files == nil || slices.ContainsFunc(files, func(f string) bool { return isIn(f, s.files) })
		case stepStashed, stepReset, stepReverted:
			return true
		}
		return false
	})
}

// stepOf is what a simple command does to files, if its words say so.
func stepOf(run Simple, folder string) (s step, ok bool) {
	name, args := program(run.Words)
	sub, subArgs := run.Git()
	if sub != "" {
		name, args = "git "+sub, subArgs
	}
	has := func(options ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(options, a) })
	}
	switch name {
	case "rm", "unlink", "git rm":
		files := filesIn(folder, args)
		return step{effect: stepDeleted, files: files}, len(files) > 0 && !has("--cached")
	case "mv", "git mv":
		files := filesIn(folder, args)
		return step{effect: stepMoved, files: files}, len(files) == 2
	case "git checkout", "git restore":
		files := filesIn(folder, args)
		return step{effect: stepRestored, files: files}, len(files) > 0 && (!has("--staged", "-S") || has("--worktree", "-W"))
	case "git stash":
		return stashed(args)
	case "git commit":
		if has("--amend") {
			return step{effect: stepAmended}, !has("--dry-run")
		}
		return step{effect: stepCommitted}, !has("--dry-run")
	case "git reset":
		back, hash := commitNamed(args)
		if s = (step{effect: stepReset, commitsBack: back, hash: hash}); back == 0 && hash == "" {
			s.effect = stepRestored
		}
		return s, has("--hard", "--merge", "--keep")
	case "git revert":
		back, hash := commitNamed(args)
		return step{effect: stepReverted, commitsBack: back, hash: hash}, !has("--abort", "--quit", "--skip", "--continue")
	}
	return step{}, false
}

// filesIn are the files that arguments name, from the folder in which the command ran.
func filesIn(folder string, args []string) (files []string) {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			files = append(files, join(folder, a))
		}
	}
	return files
}

func stashed(args []string) (step, bool) {
	switch first := firstOf(operands(args)); first {
	case "", "push", "save":
		return step{effect: stepStashed}, true
	case "pop", "apply":
		return step{effect: stepUnstashed}, true
	}
	return step{}, false
}

// commitNamed is the commit that arguments of git name: how many before the last, or its hash.
func commitNamed(args []string) (back int, hash string) {
	for _, a := range operands(args) {
		if rest, ok := strings.CutPrefix(a, "HEAD"); ok {
			if n, counts := strings.CutPrefix(rest, "~"); counts && len(n) == 1 && '1' <= n[0] && n[0] <= '9' {
				return int(n[0] - '0'), ""
			}
			return strings.Count(rest, "^") + strings.Count(rest, "~"), ""
		}
		if len(a) >= 7 && isLowerHex(a) {
			return 0, a
		}
	}
	return 0, ""
}

// UndoneBy tells whether the work between two positions was undone later: nothing is left of those marks that it put into files and that
// stood when it ended; or, where all is asked for, half or less of the lines that did. It returns the position of the call that took
// out what decided it, and how; 0: it stands, or it put nothing there.
func (w *Rework) UndoneBy(first, last events.Position, marks []string, all bool) (by events.Position, how events.Undoing) {
	if len(marks) > 0 {
		by, how = w.follow(first, last, marks)
	}
	if by == 0 && all {
		by, how = w.follow(first, last, nil)
	}
	return by, how
}

// leastLeft is which part of the lines that some work wrote must stand for the work to stand. Of 23 rows of real sessions of which half or
// less stood at the end of their session, a reader found 18 wrong by then, three trivial, and two of use.
const leastLeft = 1. / 2

// follow is UndoneBy of marks; of lines, where there are none.
func (w *Rework) follow(first, last events.Position, marks []string) (by events.Position, how events.Undoing) {
	f := followed{lines: len(marks) == 0, wanted: map[string]bool{}, now: wordCounts{}}
	for _, m := range marks {
		f.wanted[m] = true
	}
	for _, s := range w.steps {
		if s.at > last && !f.begun && !f.begin() {
			return 0, ""
		}
		if s.effect != stepRewrote || s.at >= first {
			f.take(s)
		}
		switch {
		case !f.begun:
		case f.stands():
			by, how = 0, ""
		case by == 0:
			by, how = s.at, s.effect.undoing()
		}
	}
	return by, how
}

// undoing is a step as a reason.
func (k stepKind) undoing() events.Undoing {
	switch k {
	case stepRewrote:
		return events.UndoneRewritten
	case stepDeleted:
		return events.UndoneDeleted
	}
	return events.UndoneRestored
}

// wordCounts is how often what is followed stands in files, by file and word.
type wordCounts map[string]map[string]int

func (s wordCounts) clone() wordCounts {
	all := make(wordCounts, len(s))
	for f, words := range s {
		all[f] = maps.Clone(words)
	}
	return all
}

// add adds n of a word to a file. What the work never put there cannot be taken out of it.
func (s wordCounts) add(file, word string, n int) {
	if s[file] == nil {
		s[file] = map[string]int{}
	}
	s[file][word] = max(0, s[file][word]+n)
}

// followed is what is followed through a session's files.
type followed struct {
	lines   bool            // while the work goes on, each line that it writes is followed
	wanted  map[string]bool // the words, and the lines
	begun   bool            // the work has ended, and what comes is later
	now     wordCounts
	stash   wordCounts
	commits []commitState
}

// commitState is what stood at a commit.
type commitState struct {
	hash string
	wordCounts
}

// begin ends the work: what of it stands now is followed on. It is false where nothing does.
func (f *followed) begin() bool {
	f.begun = true
	stand := map[string]bool{}
	for _, words := range f.now {
		for word, n := range words {
			stand[word] = stand[word] || n > 0
		}
	}
	maps.DeleteFunc(f.wanted, func(word string, _ bool) bool { return !stand[word] })
	return len(f.wanted) > 0
}

// stands reports whether enough of it does: a word, or so many of the lines.
func (f *followed) stands() bool {
	left := map[string]bool{}
	for _, words := range f.now {
		for word, n := range words {
			if n > 0 && f.wanted[word] {
				left[word] = true
			}
		}
	}
	if f.lines {
		return float64(len(left)) > leastLeft*float64(len(f.wanted))
	}
	return len(left) > 0
}

func (f *followed) take(s step) {
	switch s.effect {
	case stepRewrote:
		f.rewrite(s.text)
	case stepDeleted:
		maps.DeleteFunc(f.now, func(file string, _ map[string]int) bool { return isIn(file, s.files) })
	case stepMoved:
		if words, ok := f.now[s.files[0]]; ok {
			delete(f.now, s.files[0])
			f.now[s.files[1]] = words
		}
	case stepRestored:
		f.restore(f.commitAt(0, "").wordCounts, s.files)
	case stepStashed:
		f.stash = f.now.clone()
		f.restore(f.commitAt(0, "").wordCounts, nil)
	case stepUnstashed:
		f.restore(f.stash, nil)
	case stepAmended:
		f.commits = f.commits[:max(0, len(f.commits)-1)]
		fallthrough
	case stepCommitted:
		f.commits = append(f.commits, commitState{s.hash, f.now.clone()})
	case stepReset:
		f.restore(f.commitAt(s.commitsBack, s.hash).wordCounts, nil)
		f.commits = f.commits[:f.find(s.commitsBack, s.hash)+1]
	case stepReverted:
		f.revert(s)
	}
}

func (f *followed) rewrite(w rewrite) {
	if w.whole {
		delete(f.now, w.file)
	}
	if f.lines && !f.begun {
		for word := range w.words {
			if word[0] == '\n' {
				f.wanted[word] = true
			}
		}
	}
	for word := range f.wanted {
		n := w.words[word]
		if n < 0 && w.every {
			n = -f.now[w.file][word]
		}
		if n != 0 {
			f.now.add(w.file, word, n)
		}
	}
}

// restore makes some files what they were; no files: all.
func (f *followed) restore(then wordCounts, files []string) {
	if files == nil {
		f.now = then.clone()
		return
	}
	maps.DeleteFunc(f.now, func(file string, _ map[string]int) bool { return isIn(file, files) })
	for file, words := range then {
		if isIn(file, files) {
			f.now[file] = maps.Clone(words)
		}
	}
}

// commitAt is what stood at the commit of a hash, or at one before the last; at none, where it was made before the session.
func (f *followed) commitAt(back int, hash string) commitState {
	if i := f.find(back, hash); i >= 0 {
		return f.commits[i]
	}
	return commitState{}
}

func (f *followed) find(back int, hash string) int {
	if hash == "" {
		return max(-1, len(f.commits)-1-back)
	}
	return slices.IndexFunc(f.commits, func(c commitState) bool {
		return c.hash != "" && (strings.HasPrefix(c.hash, hash) || strings.HasPrefix(hash, c.hash))
	})
}

// revert takes out what one commit had put in, and puts back what it had taken out.
func (f *followed) revert(s step) {
	i := f.find(s.commitsBack, s.hash)
	if i < 0 {
		return
	}
	before := wordCounts{}
	if i > 0 {
		before = f.commits[i-1].wordCounts
	}
	for file, words := range f.commits[i].wordCounts {
		for word, n := range words {
			f.now.add(file, word, before[file][word]-n)
		}
	}
	f.commits = append(f.commits, commitState{wordCounts: f.now.clone()})
}

// isIn reports whether a file is one of files, or in one that is a folder, or in a folder whose files a pattern names.
func isIn(file string, files []string) bool {
	return slices.ContainsFunc(files, func(f string) bool {
		f = strings.TrimSuffix(f, "/*")
		return file == f || strings.HasPrefix(file, strings.TrimSuffix(f, "/")+"/")
	})
}
