package privacy

import (
	"os"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/redact"
)

// Keep returns what of a report of an agent a hook without a daemon may keep, by the rules of a home as its file of settings
// and the environment say them: without private text, secrets and private contents. cut reports that private text was
// removed, and left counts by kind the secrets and contents that were. ok is false if nothing of the report may be kept.
// What was JSON stays JSON; kept may be body itself. It is safe for concurrent use.
func Keep(home, agent string, body []byte) (kept []byte, cut bool, left map[string]int, ok bool) {
	rules := NewRules(home, ReadSwitches(home, os.Getenv))
	body, kinds, ok := rules.payload(agent, body)
	if !ok {
		return nil, false, nil, false
	}
	body, cut = CutPrivateJSON(body)
	kept, left = redactBody(body)
	for _, kind := range kinds {
		left = counted(left, kind)
	}
	return kept, cut, left, true
}

// counted is counts with one more of a kind.
func counted(counts map[string]int, kind string) map[string]int {
	if counts == nil {
		counts = make(map[string]int, 1)
	}
	counts[kind]++
	return counts
}

// redactBody takes the secrets out of a payload, and counts them by kind. What was JSON stays JSON; the result may be body
// itself. The rules are made for the one payload that this process may have to keep: others pay nothing.
func redactBody(body []byte) (out []byte, found map[string]int) {
	r, text := redact.New(), string(body)
	if plain := unescaped(text); plain != text {
		if plain, found = r.JSON(plain); found != nil {
			return []byte(plain), found
		}
	}
	if text, found = r.JSON(text); found != nil {
		return []byte(text), found
	}
	return body, nil
}

// unescaped is a JSON text without the escapes that hide what a string says and need not be: those of printable ASCII, and
// of control characters and terminal colours, which are not stored. It is JSON if s is, with the same members.
func unescaped(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 || !strings.Contains(s, `\u00`) && !strings.Contains(s, `\/`) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for {
		out.WriteString(s[:i])
		s = s[i:]
		by, n := plainEscape(s)
		out.WriteString(by)
		s = s[n:]
		if i = strings.IndexByte(s, '\\'); i < 0 {
			out.WriteString(s)
			return out.String()
		}
	}
}

// plainEscape returns what the escape sequence that starts s becomes, and how much of s it stands for.
func plainEscape(s string) (by string, n int) {
	r, ok := jsonscan.CodeUnit([]byte(s[:min(len(s), 6)]))
	switch {
	case strings.HasPrefix(s, `\/`):
		return "/", 2
	case !ok:
		return s[:min(len(s), 2)], min(len(s), 2)
	case r == 0x1b:
		return "", 6 + colour(s[6:])
	case r < 0x80 && isControl(byte(r)):
		return "", 6
	case r < ' ' || r >= 0x7f || r == '"' || r == '\\':
		return s[:6], 6
	}
	return string(r), 6
}

// colour returns how long the rest of a terminal's control sequence at the start of s is, behind its escape character.
func colour(s string) int {
	if len(s) > 1 && strings.IndexByte("()*+", s[0]) >= 0 && (s[1] == '0' || s[1] >= 'A' && s[1] <= 'Z') {
		return 2 // it chooses a set of characters
	}
	if s == "" || s[0] != '[' {
		return 0
	}
	i := 1
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == ';') {
		i++
	}
	if i == len(s) || (s[i] < 'a' || s[i] > 'z') && (s[i] < 'A' || s[i] > 'Z') {
		return 0
	}
	return i + 1
}

// Inspect says what the rules say of what a tool was given in a folder: the files that it names, in a member for a path, in a
// patch or in a shell command, and what the command lists. Input is JSON, or a shell command or patch as it is.
func (r *Rules) Inspect(cwd, input string) Finding {
	l := inspection{rules: r, cwd: cwd}
	l.value(input)
	return l.finding()
}

// Cut is an input of which Inspect said that its contents are not recorded, without them: names of files stay, and shell
// commands that only read.
func (r *Rules) Cut(input string, f Finding) string {
	if f.Left == LeftEnvironment {
		return input // its output tells, not the command
	}
	if out, ok := cutContents([]byte(input), f); ok {
		return string(out)
	}
	return cutCommand(input, f)
}

// payload is a report as it may be kept, and the kinds of contents that were left out; ok is false if nothing of it may be.
func (r *Rules) payload(agent string, body []byte) (out []byte, left []string, ok bool) {
	p := readReport(body)
	if r.Skips(agent, p.cwd) != "" || r.SkipsTool(p.tool) != "" {
		return nil, nil, false
	}
	l := inspection{rules: r, cwd: p.cwd}
	whole := l.json(body, "", maxInner)
	f := l.finding()
	switch {
	case f.Ignored:
		return nil, nil, false
	case !whole && (f.Left != "" || r.hasPrivateLines(p.cwd, string(body))):
		return nil, nil, false // where its contents end cannot be told
	case !whole:
		return body, nil, true
	}
	if f.Left != "" {
		if body, whole = cutReport(body, f); !whole {
			return nil, nil, false
		}
		left = append(left, f.Left)
	}
	out, more := r.cutResults(body, p.cwd, f)
	return out, append(left, more...), true
}
