package relay

import "strings"

// leastVariables is how many variables in a row are a listing of the environment, if those are among them that each has.
const leastVariables = 5

// listing finds the lines of a text that list an environment, whoever printed them: NAME=value, with PATH and HOME among
// them. It is empty where there are none.
func listing(s string) (from, to int) {
	if !strings.Contains(s, "PATH=") || !strings.Contains(s, "HOME=") && !strings.Contains(s, "USERPROFILE=") {
		return 0, 0
	}
	count, path, home := 0, false, false
	for at := 0; at < len(s); {
		end := lineEnd(s, at)
		line := strings.TrimRight(s[at:end], "\r\n")
		if name, ok := variableLine(line); ok {
			if count == 0 {
				from = at
			}
			count++
			to = at + len(line)
			path = path || strings.EqualFold(name, "PATH")
			home = home || name == "HOME" || name == "USERPROFILE"
		}
		at = end
	}
	if count < leastVariables || !path || !home {
		return 0, 0
	}
	return from, to
}

// variableLine is the name of the variable that a line sets.
func variableLine(line string) (name string, ok bool) {
	for _, begin := range [...]string{"export ", "declare -x ", "declare -rx ", "setenv "} {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			line = rest
			break
		}
	}
	name, _, ok = strings.Cut(line, "=")
	return name, ok && len(name) < 128 && isVariable(name)
}

// leastMembers is the same for variables as members of a map: a test that sets the environment of a child names fewer.
const leastMembers = 8

// mapsVariables reports whether a text shows an environment as a map of a script: 'PATH': '/bin', PATH: '/bin', "PATH":"/bin".
func mapsVariables(s string) bool {
	if !strings.Contains(s, "PATH") || !strings.Contains(s, "HOME") {
		return false
	}
	count, path, home := 0, false, false
	for i := 0; i < len(s); {
		n := capitals(s[i:])
		if n < 2 {
			i += max(n, 1)
			continue
		}
		name, rest := s[i:i+n], s[i+n:]
		i += n
		if !isMemberValue(rest) {
			continue
		}
		count++
		path, home = path || name == "PATH", home || name == "HOME"
	}
	return count >= leastMembers && path && home
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
