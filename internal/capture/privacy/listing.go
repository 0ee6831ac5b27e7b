package privacy

import "strings"

// minListedVariables is how many variables behind one another are a listing of the environment, if those are among them that each
// has; maxLinesBetween is how many other lines may stand between two: values may have several.
const (
	minListedVariables = 5
	maxLinesBetween    = 8
)

// A part is a part of a text.
type part struct{ from, to int }

// environments are the parts of a text that show an environment, in their order. It takes linear time.
func environments(s string) []part {
	var found []part
	for _, in := range [...]func(string) []part{printed, mapped, listing} {
		found = beside(found, s, in)
	}
	return found
}

// beside adds to parts of a text those that are found in what lies before, between and behind them.
func beside(found []part, s string, in func(string) []part) []part {
	var all []part
	at := 0
	for _, p := range append(found, part{len(s), len(s)}) {
		for _, more := range in(s[at:p.from]) {
			all = append(all, part{at + more.from, at + more.to})
		}
		if p.from < p.to {
			all = append(all, p)
		}
		at = p.to
	}
	return all
}

// printed finds what Python prints of its environment: environ({...}), on one line. A source that sets some variables has others.
func printed(s string) (found []part) {
	const begin = "environ({"
	for at := 0; ; {
		i := strings.Index(s[at:], begin)
		if i < 0 {
			return found
		}
		from := at + i + len(begin)
		to := lineEnd(s, from)
		if i := strings.LastIndex(s[from:to], "})"); i >= 0 {
			to = from + i
		}
		if in := s[from:to]; strings.Contains(in, "'PATH':") && (strings.Contains(in, "'HOME':") || strings.Contains(in, "'USERPROFILE':")) {
			found = append(found, part{from, to})
		}
		at = to // in there is less of it than in all
	}
}

// A run is variables that stand behind one another in a text.
type run struct {
	from, to   int
	count      int
	path, home bool
}

// add takes in the variable that stands from from to to.
func (r *run) add(name string, from, to int) {
	if r.count == 0 {
		r.from = from
	}
	r.count++
	r.to = to
	r.path = r.path || strings.EqualFold(name, "PATH")
	r.home = r.home || name == "HOME" || name == "USERPROFILE"
}

// flush adds r to what was found if it is a listing of as many as least, and begins another one.
func (r *run) flush(found []part, least int) []part {
	if r.count >= least && r.path && r.home {
		found = append(found, part{r.from, r.to})
	}
	*r = run{}
	return found
}

// listing finds lines of a text that list an environment, whoever printed them: NAME=value, with PATH and HOME among them. A
// script that sets such variables is none: an environment has their values.
func listing(s string) (found []part) {
	if !strings.Contains(s, "PATH=") || !strings.Contains(s, "HOME=") && !strings.Contains(s, "USERPROFILE=") {
		return nil
	}
	var r run
	between := 0
	for at := 0; at < len(s); {
		end := lineEnd(s, at)
		line := strings.TrimRight(s[at:end], "\r\n")
		if name, ok := variableLine(line); ok {
			r.add(name, at, at+len(line))
			between = 0
		} else if between++; between > maxLinesBetween {
			found = r.flush(found, minListedVariables)
		}
		at = end
	}
	return r.flush(found, minListedVariables)
}

// variableLine is the name of the variable that a line shows. One whose value is still to be worked out is set by a script.
func variableLine(line string) (name string, ok bool) {
	for _, begin := range [...]string{"export ", "declare -x ", "declare -rx ", "setenv "} {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			line = rest
			break
		}
	}
	name, value, ok := strings.Cut(line, "=")
	return name, ok && len(name) < 128 && isVariable(name) && !strings.ContainsAny(value, "$`")
}

// The same for variables as members of a map: a test that sets the environment of a child names fewer of them, and one value is
// hardly longer than mostApart bytes.
const (
	leastMembers = 8
	mostApart    = 1 << 10
)

// mapped finds the parts of a text that show an environment as a map of a script: 'PATH': '/bin', PATH: '/bin', "PATH":"/bin".
func mapped(s string) (found []part) {
	if !strings.Contains(s, "PATH") || !strings.Contains(s, "HOME") && !strings.Contains(s, "USERPROFILE") {
		return nil
	}
	var r run
	for i := 0; i < len(s); {
		n := capitals(s[i:])
		if n < 2 || !isMemberValue(s[i+n:]) {
			i += max(n, 1)
			continue
		}
		if r.count > 0 && i-r.to > mostApart {
			found = r.flush(found, leastMembers)
		}
		r.add(s[i:i+n], i, valueEnd(s, i+n))
		i += n
	}
	return r.flush(found, leastMembers)
}

// valueEnd is where the string ends that is the value of the name that ends at a place; at the latest mostApart behind it.
func valueEnd(s string, at int) int {
	rest := s[at:min(len(s), at+mostApart)]
	begin := strings.IndexAny(rest, ":=")
	if begin < 0 {
		return at
	}
	open := strings.IndexAny(rest[begin:], "'\"")
	if open < 0 {
		return at + len(rest)
	}
	open += begin
	end := strings.IndexByte(rest[open+1:], rest[open])
	if end < 0 {
		return at + len(rest)
	}
	return at + open + 1 + end + 1
}

// capitals measures the name of a variable that begins a text.
func capitals(s string) int {
	n := 0
	for n < len(s) && (s[n] == '_' || 'A' <= s[n] && s[n] <= 'Z' || n > 0 && '0' <= s[n] && s[n] <= '9') {
		n++
	}
	return n
}

// isMemberValue reports whether a text begins with what stands between a name and a string.
func isMemberValue(s string) bool {
	s = strings.TrimLeft(s[:min(len(s), 6)], `"'\`)
	for _, sign := range [...]string{": ", ":", "=>", " => "} {
		if rest, ok := strings.CutPrefix(s, sign); ok && rest != "" && strings.IndexByte("'\"\\", rest[0]) >= 0 {
			return true
		}
	}
	return false
}

// lineEnd is where the line that begins at a place ends, its line break included.
func lineEnd(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s)
}
