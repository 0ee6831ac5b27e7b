package redact

import "strings"

// secret reports whether the literal says a secret.
func (v literal) secret(n name, text string) bool {
	text = text[:min(len(text), decisiveBytes)]
	if v.quoted && strings.ContainsAny(text, " \t") && n.kind != scheme && !v.isPhrase(n, text) {
		return false
	}
	switch n.kind {
	case scheme:
		text = text[strings.LastIndexByte(text, ' ')+1:]
		return len(text) >= 16 && secretive(text)
	case password:
		return v.isLiteral(n, text) && v.password(n, text)
	case secret:
		return v.isLiteral(n, text) && (len(text) >= 12 && v.looksGenerated(n, text) || v.canBeSecret(n, text) || v.quoted && len(text) >= 8 && isMixed(text))
	}
	return len(text) >= 16 && v.looksGenerated(n, text) && v.isLiteral(n, text)
}

// isPhrase reports whether text, which has blanks, can be a secret of several words. What begins with a blank or a sign stands
// between two texts in quotes.
func (v literal) isPhrase(n name, text string) bool {
	return v.words && n.kind != token && isAlnum(text[0]) && !isBlank(text[len(text)-1])
}

// looksGenerated reports whether text looks as if a program had drawn it by lot. What stands in code without quotes is the name of
// something, however many capitals it has.
func (v literal) looksGenerated(n name, text string) bool {
	switch {
	case n.upper && v.bare:
		return holds(text, isDigit) && holds(text, isLetter) && looksRandom(text)
	case v.quoted:
		return secretive(text)
	}
	return changesOften(text, 4)
}

// password reports whether text is one that somebody chose, and no word of code about passwords.
func (v literal) password(n name, text string) bool {
	switch {
	case v.canBeSecret(n, text):
		return true
	case v.quoted, v.bare && !holds(text, isDotOrLow):
		return len(text) >= 5 && isMixed(text)
	}
	counts := strings.EqualFold(n.text, "pass") // what tests and benchmarks do
	return v.last && len(text) >= 6 && (churn(text) > 0 && isMixed(text) || holds(text, isLetter) && holds(text, isSign) || isNumber(text) && !counts)
}

// canBeSecret reports whether text, behind a name of the environment, can be any secret: all but what is none by its form.
func (v literal) canBeSecret(n name, text string) bool {
	return n.upper && (v.bare || v.quoted) && len(text) >= 6 && !isSwitch(text)
}

// isLiteral reports whether text is neither a path nor an expression.
func (v literal) isLiteral(n name, text string) bool {
	if isPath(text) || strings.HasPrefix(text, `\u`) {
		return false
	}
	return v.quoted || n.line && v.bare || !v.call && !strings.Contains(text, "::") && !strings.Contains(text, "->")
}

func isDotOrLow(c byte) bool { return c == '.' || c == '_' }
func isSign(c byte) bool     { return strings.IndexByte("!@#$%^&*+~?", c) >= 0 }

// isMixed reports whether s is more than one word: it has digits or signs between letters.
func isMixed(s string) bool {
	if !holds(s, isLetter) {
		return isNumber(s)
	}
	return holds(s, isDigit) || holds(s, isSign)
}

// isNumber reports whether s, in which no letter stands, can be a secret of digits: it is no date, time, version or range.
func isNumber(s string) bool {
	return len(s) >= 6 && holds(s, isDigit) && !holds(s, isLetter) && !strings.ContainsAny(s, ".:-/")
}

// isPath reports whether s names a file, or a place on the web.
func isPath(s string) bool {
	switch {
	case strings.Contains(s, "://"), strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"), strings.HasPrefix(s, "~/"):
		return true
	case strings.HasPrefix(s, "/"), len(s) > 3 && isLetter(s[0]) && s[1] == ':' && (s[2] == '\\' || s[2] == '/'):
		return !secretive(s) || strings.Count(s, "/") > len(s)/12
	}
	return false
}

// isSwitch knows the words that a setting says instead of a secret.
func isSwitch(s string) bool {
	for _, w := range [...]string{
		"true", "false", "none", "null", "required", "optional", "enabled", "disabled", "string", "prompt", "password",
	} {
		if strings.EqualFold(s, w) {
			return true
		}
	}
	return false
}
