package relay

import "strings"

// leastVariables is how many variables behind one another are a listing of the environment, if those are among them that each
// has; mostBetween is how many other lines may stand between two: values may have several.
const (
	leastVariables = 5
	mostBetween    = 8
)

// environmentIn finds the first part of a text that shows an environment; there may be another before it. It is empty where
// there is none.
func environmentIn(s string) (from, to int) {
	if from, to = printed(s); from == to {
		from, to = mapped(s)
	}
	if from == to {
		from, to = listing(s)
	}
	return from, to
}

// printed finds what Python prints of its environment: environ({...}), on one line.
func printed(s string) (from, to int) {
	const begin = "environ({"
	from = strings.Index(s, begin)
	if from < 0 {
		return 0, 0
	}
	from += len(begin)
	to = lineEnd(s, from)
	if i := strings.LastIndex(s[from:to], "})"); i >= 0 {
		return from, from + i
	}
	return from, to
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

// lists reports whether r is a listing, of as many as least.
func (r *run) lists(least int) bool { return r.count >= least && r.path && r.home }

// listing finds the first lines of a text that list an environment, whoever printed them: NAME=value, with PATH and HOME among
// them. It is empty where there are none. A script that sets such variables is none: an environment has their values.
func listing(s string) (from, to int) {
	if !strings.Contains(s, "PATH=") || !strings.Contains(s, "HOME=") && !strings.Contains(s, "USERPROFILE=") {
		return 0, 0
	}
	var r run
	between := 0
	for at := 0; at < len(s); {
		end := lineEnd(s, at)
		line := strings.TrimRight(s[at:end], "\r\n")
		if name, ok := variableLine(line); ok {
			r.add(name, at, at+len(line))
			between = 0
		} else if between++; between > mostBetween {
			if r.lists(leastVariables) {
				break
			}
			r = run{}
		}
		at = end
	}
	if !r.lists(leastVariables) {
		return 0, 0
	}
	return r.from, r.to
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

// mapped finds the first part of a text that shows an environment as a map of a script: 'PATH': '/bin', PATH: '/bin',
// "PATH":"/bin". It is empty where there is none.
func mapped(s string) (from, to int) {
	if !strings.Contains(s, "PATH") || !strings.Contains(s, "HOME") {
		return 0, 0
	}
	var r run
	for i := 0; i < len(s); {
		n := capitals(s[i:])
		if n < 2 || !isMemberValue(s[i+n:]) {
			i += max(n, 1)
			continue
		}
		if r.count > 0 && i-r.to > mostApart {
			if r.lists(leastMembers) {
				break
			}
			r = run{}
		}
		r.add(s[i:i+n], i, valueEnd(s, i+n))
		i += n
	}
	if !r.lists(leastMembers) {
		return 0, 0
	}
	return r.from, r.to
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
