package privacy

import (
	"github.com/cmemd/cmemd/internal/toolinput"
)

// CutOutput is what came of a tool use without what the rules leave out of it: all of it where f says so, else what stands
// in there line by line of a private or ignored file, in a difference or found by a search, and listings of the
// environment. Cwd and f are those of Inspect. Left are the kinds of what was left out, each once.
func (r *Rules) CutOutput(cwd, output string, f Finding) (out string, left []string) {
	if output == "" {
		return "", nil
	}
	if f.LeftOut != "" && !f.OutputStays {
		if f.mayStay(output) {
			return output, nil
		}
		return f.Mark(), []string{f.LeftOut}
	}
	m := newMasker(r, cwd, f)
	return m.nested(output, maxNestedJSON), m.left
}

// nested is a text without such lines, in its strings if it is JSON. Levels is how deep strings in it are looked at.
func (m *masker) nested(s string, levels int) string {
	if levels == 0 || !mayBeJSON(s) {
		return m.text(s)
	}
	cut, whole := m.json(s, levels-1)
	if !whole {
		return m.text(s)
	}
	if len(mapped(cut)) > 0 { // its own members are the listing
		m.count(LeftEnvironment)
		return leftMark(environment)
	}
	return cut
}

// json is a JSON text without such lines in its strings, and without what stands beside the name of a private
// or ignored file in one object; whole is false if it is no JSON.
func (m *masker) json(body string, levels int) (out string, whole bool) {
	files := inScopes[mask]{ahead: scopes(body, m.member)}
	return replaceValues(body, func(v value) (string, bool) {
		why, masked := files.at(v.Start)
		if masked && (why.kind != LeftFile || !toolinput.Of(v.key).Is(nameUses) && !toolinput.IsIdentity(v.key)) && !(toolinput.Plain(v.key) == "text" && len(v.text) <= maxPath && m.of(v.string()) == why) {
			m.count(why.kind)
			return leftMark(why.what), true
		}
		text := v.string()
		if v.listed && toolinput.Of(v.key).Is(mayNameUses) {
			if named := m.of(text); named.kind != "" && named.kind != LeftFile { // a list of files may name an ignored one
				m.count(named.kind)
				return leftMark(named.what), true
			}
		}
		cut := m.nested(text, levels)
		return cut, cut != text
	})
}
