package relay

import "strings"

// LeftIgnored is the kind under which it is counted that lines of an ignored file were left out of an output that had others.
const LeftIgnored = "ignored-path"

// CutOutput is what came of a tool use without what the rules leave out of it: all of it where f says so, else what stands
// in there line by line of a private or ignored file, in a difference or found by a search, and listings of the
// environment. Cwd and f are those of Look. Left are the kinds of what was left out, each once.
func (r *Rules) CutOutput(cwd, output string, f Finding) (out string, left []string) {
	if output == "" {
		return "", nil
	}
	if f.Left != "" && !f.OutputStays {
		return f.Mark(), []string{f.Left}
	}
	if output[0] == '{' || output[0] == '[' {
		if cut, kinds, whole := r.cutStrings([]byte(output), cwd, f, func(value) bool { return true }); whole {
			if from, to := mapped(string(cut)); from < to { // its own members are the listing
				return leftMark(environment), []string{LeftEnvironment}
			}
			return string(cut), kinds
		}
	}
	m := newMasker(r, cwd, f)
	return m.text(output), m.left
}

// cutResults is a report without such lines in what came of the tool use.
func (r *Rules) cutResults(body []byte, cwd string, f Finding) (out []byte, left []string) {
	out, left, _ = r.cutStrings(body, cwd, f, func(v value) bool { return isResult(plainName(v.outer)) || isResult(plainName(v.key)) })
	return out, left
}

func (r *Rules) cutStrings(body []byte, cwd string, f Finding, is func(value) bool) (out []byte, left []string, whole bool) {
	m := newMasker(r, cwd, f)
	out, whole = replaceValues(body, func(v value) (string, bool) {
		if !is(v) {
			return "", false
		}
		text := v.string()
		cut := m.text(text)
		return cut, cut != text
	})
	return out, m.left, whole
}

// hasPrivateLines reports whether something would be cut out of a text.
func (r *Rules) hasPrivateLines(cwd, text string) bool {
	m := newMasker(r, cwd, Finding{})
	m.text(strings.ReplaceAll(text, `\n`, "\n"))
	return len(m.left) > 0
}
