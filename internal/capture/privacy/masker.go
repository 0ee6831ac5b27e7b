package privacy

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// A masker goes through outputs line by line, and leaves out lines of private and of ignored files.
type masker struct {
	rules  *Rules
	dirs   []string // in which paths may be
	left   []string // the kinds of what was left out
	known  map[string]mask
	in     mask // of the file whose lines come
	begun  mask // of the line whose beginning came
	mode   maskMode
	marked bool // what is left out now has its mark
}

// A mask is why a line is left out; the zero value is that it is not.
type mask struct{ kind, what string }

type maskMode byte

const (
	noFile   maskMode = iota
	gitDiff           // behind a line that begins with diff, up to the next
	section           // behind a line that has the name of a file between signs, up to the next
	diff              // behind --- and +++
	findings          // behind a path on a line of its own, before lines with numbers
)

func newMasker(r *Rules, cwd string, f Finding) *masker {
	m := &masker{rules: r, dirs: []string{cwd}}
	if f.dir != "" {
		m.dirs = []string{f.dir, cwd}
	}
	return m
}

// text is a text without such lines, and without listings of the environment.
func (m *masker) text(s string) string {
	m.in, m.begun, m.mode, m.marked = mask{}, mask{}, noFile, false
	listings := environments(s)
	if len(listings) == 0 {
		return m.lines(s, 0, len(s))
	}
	var out strings.Builder
	at := 0
	for _, e := range listings {
		out.WriteString(m.lines(s, at, e.from) + leftMark(environment))
		m.count(LeftEnvironment)
		m.marked, at = false, e.to
	}
	out.WriteString(m.lines(s, at, len(s)))
	return out.String()
}

// lines is a part of a text without lines of private and of ignored files. One that a listing before the part cuts in two is
// of the file of which its beginning is.
func (m *masker) lines(s string, from, to int) string {
	var out strings.Builder
	for at := from; at < to; {
		end := min(lineEnd(s, at), to)
		line := plainLine(s[at:end])
		why := m.begun
		switch {
		case at == 0 || s[at-1] == '\n':
			if why = m.line(line, s[end:]); why.kind == "" && strings.IndexByte(s[at:end], escape) >= 0 {
				why = m.searchHit(strings.ReplaceAll(s[at:end], string(escape), "")) // which may stand before a name by itself
			}
		case line == "": // its break
			why = mask{}
		case m.in.kind != "":
			why = m.in
		}
		m.begun = mask{}
		if s[end-1] != '\n' {
			m.begun = why
		}
		if why.kind == "" {
			m.marked, at = false, end
			continue
		}
		out.WriteString(s[from:at])
		if !m.marked {
			out.WriteString(leftMark(why.what) + s[end-trailing(s[at:end]):end])
		}
		m.count(why.kind)
		m.marked, at, from = true, end, end
	}
	return out.String() + s[from:to]
}

// trailing is how long the line break of a line is.
func trailing(line string) int { return len(line) - len(strings.TrimRight(line, "\r\n")) }

// escape begins the escape sequences of terminals.
const escape = '\x1b'

// plainLine is a line without its break and without the escape sequences of terminals, as it is recorded.
func plainLine(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if strings.IndexByte(line, escape) < 0 {
		return line
	}
	var out strings.Builder
	for i := 0; i < len(line); {
		if line[i] == escape {
			i += clip.EscapeLength(line[i:])
			continue
		}
		out.WriteByte(line[i])
		i++
	}
	return out.String()
}

func (m *masker) count(kind string) {
	if !slices.Contains(m.left, kind) {
		m.left = append(m.left, kind)
	}
}

// line says whether a line is left out. Rest is what follows it.
func (m *masker) line(line, rest string) mask {
	if old, file, mode := m.header(line, rest); mode != noFile {
		m.in, m.mode = m.of(file), mode
		if m.in.kind == "" && old != "" {
			m.in = m.of(old)
		}
		if m.in.kind == LeftFile {
			return mask{} // its name stays
		}
		return m.in
	}
	if m.in.kind != "" && m.goesOn(line) {
		return m.in
	}
	if m.mode != noFile && (m.in.kind != "" || !isDiffLine(line)) {
		m.in, m.mode = mask{}, noFile
	}
	if strings.HasPrefix(line, "{") { // as ripgrep writes what it finds
		if in := scopes(line, m.member); len(in) > 0 {
			return in[0].what
		}
	}
	return m.searchHit(line)
}

// goesOn reports whether a line may still be one of the file whose lines come.
func (m *masker) goesOn(line string) bool {
	switch m.mode {
	case findings:
		return numbered(line)
	case diff:
		return isDiffLine(line)
	}
	hash, ok := strings.CutPrefix(withoutGraph(line), "commit ")
	return !ok || len(hash) < 3 || strings.Trim(hash[:3], "0123456789abcdef") != ""
}

// withoutGraph is a line without what git draws before it.
func withoutGraph(line string) string {
	if line == "" || line[0] != '|' && line[0] != '*' {
		return line
	}
	return strings.TrimLeft(line, `|*\/_ `)
}

// header reads a line that begins the lines of a file; mode is noFile for any other.
func (m *masker) header(line, rest string) (old, file string, mode maskMode) {
	next := rest[:min(len(rest), 32)]
	bare := withoutGraph(line)
	titled := cmp.Or(between(line, "==> ", " <=="), between(line, "--- ", " ---"))
	switch {
	case strings.HasPrefix(bare, "diff -") && len(line) <= 2*maxPath:
		fields := strings.Fields(bare) // at least two
		return diffName(fields[len(fields)-2]), diffName(fields[len(fields)-1]), gitDiff
	case strings.HasPrefix(line, "--- ") && strings.HasPrefix(next, "+++ ") && m.mode != gitDiff:
		return diffName(line[4:]), diffName(strings.TrimRight(rest[4:lineEnd(rest, 0)], "\r\n")), diff
	case titled != "":
		return "", titled, section
	case line == "" || len(line) > maxPath || !numbered(next) || isLint(next):
		return "", "", noFile
	}
	if named, ok := strings.CutPrefix(strings.TrimLeft(line, " │"), "File: "); ok { // as bat writes it
		return "", named, findings
	}
	if file = strings.TrimSuffix(line, ":"); !numbered(line) && mayBePrivate(file) && strings.IndexByte(file, ' ') < 0 {
		return "", file, findings
	}
	return "", "", noFile
}

// between is what stands between two signs that begin and end a line, if that may be the name of a file.
func between(line, begin, end string) string {
	if len(line) <= len(begin)+len(end) || len(line) > maxPath || !strings.HasPrefix(line, begin) || !strings.HasSuffix(line, end) {
		return ""
	}
	return line[len(begin) : len(line)-len(end)]
}

// diffName is the name of a file in the header of a difference.
func diffName(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.Trim(s, `"`)
	if len(s) > 2 && s[1] == '/' && (s[0] == 'a' || s[0] == 'b') {
		return s[2:]
	}
	return s
}

// diffLines are how lines of a difference begin, below its header.
var diffLines = newList(
	" *", "+*", "-*", "@*", "\\*", "index *", "new file*", "deleted file*", "old mode*", "new mode*", "similarity*", "rename *", "copy *", "Binary *",
)

// isDiffLine reports whether a line may stand in a difference, below its header.
func isDiffLine(line string) bool { return line == "" || diffLines.has(line) }

// numbered reports whether a line begins with its number, as a search shows it, or is drawn between such.
func numbered(line string) bool {
	line = strings.TrimLeft(line, " ")
	if strings.HasPrefix(line, "─") || strings.HasPrefix(line, "│") {
		return true
	}
	line = strings.TrimPrefix(line, "Line ")
	n := leadingDigits(line)
	return n > 0 && n < len(line) && (strings.IndexByte(":-\t", line[n]) >= 0 || strings.HasPrefix(line[n:], "   ") || strings.HasPrefix(line[n:], " │"))
}

// isLint reports whether a line begins as one in which a linter says what is wrong at a place: so many spaces, 3:5, error.
func isLint(line string) bool {
	bare := strings.TrimLeft(line, " ")
	row, rest, _ := strings.Cut(bare, ":")
	column := leadingDigits(rest)
	says := strings.TrimLeft(rest[column:], " ")
	return len(bare) < len(line) && row != "" && leadingDigits(row) == len(row) && column > 0 && len(says) < len(rest)-column &&
		(strings.HasPrefix(says, "error ") || strings.HasPrefix(says, "warning "))
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// searchHit says whether a line is one that a search found in such a file: PATH:3:TEXT, PATH-3-TEXT or PATH:TEXT.
func (m *masker) searchHit(line string) mask {
	head, colon := line[:min(len(line), maxPath)], false
	for i, tries := 1, 0; i < len(head) && tries < 4; i++ {
		c := head[i]
		if c != ':' && c != '-' {
			continue
		}
		n := leadingDigits(head[i+1:])
		if n > 0 && i+1+n < len(head) && head[i+1+n] == c {
			if why := m.of(head[:i]); why.kind != "" {
				return why
			}
			tries++
		}
		if c == ':' && !colon {
			colon = true
			if i+1 == len(line) { // as ls names a folder
				continue
			}
			if head[0] != '.' && strings.IndexByte(head[:i], '/') < 0 || strings.IndexByte(head[:i], ' ') >= 0 {
				continue
			}
			if why := m.of(head[:i]); why.kind != "" {
				return why
			}
		}
	}
	return mask{}
}

// of says whether the lines of a file are left out.
func (m *masker) of(path string) mask {
	if path == "" || path == "/dev/null" || strings.Contains(path, "://") {
		return mask{}
	}
	if why, ok := m.known[path]; ok {
		return why
	}
	why := m.lookUp(path)
	if m.known == nil {
		m.known = map[string]mask{}
	}
	if len(m.known) < maxLookedUp {
		m.known[path] = why
	}
	return why
}

func (m *masker) lookUp(path string) mask {
	if what := privateFile(path); what != "" {
		return mask{LeftFile, what}
	}
	if m.rules.Ignore == nil || len(m.known) >= maxLookedUp {
		return mask{}
	}
	for _, dir := range m.dirs {
		full := path
		if !filepath.IsAbs(path) {
			if full = filepath.Join(dir, path); dir == "" {
				continue
			}
		}
		if m.rules.Ignore.Ignored(full) {
			return mask{LeftIgnored, "lines of an ignored file"}
		}
	}
	return mask{}
}

// LeftIgnored is the kind under which it is counted that lines of an ignored file were left out of an output that had others.
const LeftIgnored = "ignored-path"

// member is why what stands beside a member of an object is left out. Without a text it is that of the member's own value.
func (m *masker) member(outer, name, text string) mask {
	switch {
	case text == "":
		if mayBePrivate(name) && !isAnyName(name) && privateFile(name) != "" {
			return m.of(name)
		}
	case len(text) < 3 || len(text) > maxPath:
	case name == "" && environmentNames.has(outer) && strings.HasPrefix(jsonscan.Unquote(text), "PATH="), name == "PATH" && environmentNames.has(outer):
		return mask{LeftEnvironment, environment}
	case toolinput.Of(name).Is(mayNameUses):
		return m.of(jsonscan.Unquote(text))
	}
	return mask{}
}

// environmentNames are the members that hold the environment of a process, if they hold a PATH.
var environmentNames = newList("Env", "env", "ENV", "environ", "environment", "Environment")
