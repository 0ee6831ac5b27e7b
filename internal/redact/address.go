package redact

import (
	"slices"
	"strings"
)

// maxAuthority is how much of an address may stand before its path.
const maxAuthority = 512

// address looks for a password, or a token in a user's place, in an address whose :// is s[start:end].
func (f *finder) address(_ *shape, start, end int) {
	if start < 2 || !isAlnum(f.s[start-1]) {
		return
	}
	limit := min(len(f.s), end+maxAuthority)
	stop, at := end, -1
	for ; stop < limit && isAuthority(f.s[stop]); stop++ {
		if f.s[stop] == '@' {
			at = stop
		}
	}
	if at < 0 || strings.Contains(f.s[end:at], markOpen) {
		return
	}
	user, pass, both := strings.Cut(f.s[end:at], ":")
	if both && len(pass) > 0 && !hides(pass) {
		f.weak(at-len(pass), at, "url-password")
	}
	if len(user) >= 20 && secretive(user) {
		f.weak(end, end+len(user), "url-password")
	}
}

// escapedAddress looks at an address whose slashes are escaped, however often it was quoted.
func (f *finder) escapedAddress(s *shape, start, _ int) {
	first := run(f.s, start+1, isSlash)
	second := run(f.s, first+1, isSlash)
	if f.at(first) == '/' && f.at(second) == '/' {
		f.address(s, start, second+1)
	}
}

// isAuthority is for what may stand between :// and the path.
func isAuthority(c byte) bool {
	return c > ' ' && c != 0x7f && strings.IndexByte("/?#\"'`<>\\|", c) < 0
}

// hides reports whether s stands for a value and is none: a reference to a variable, a mark, a word for what is left out.
func hides(s string) bool {
	if s == "" {
		return true
	}
	switch s[0] {
	case '$', '%', '<', '{', '[', '(':
		return true
	}
	return strings.TrimLeft(s, s[:1]) == "" || isFiller(s)
}

// maxFiller is the longest text that may be one that stands for a secret.
const maxFiller = 128

// isFiller reports whether s holds a reference, or one of the words that people write where a secret is to be put.
func isFiller(s string) bool {
	if len(s) > maxFiller {
		return false
	}
	return containsOne(strings.ToLower(s), "${", "{{", "$(", "...", markOpen, "xxxx", "your-", "your_", "changeme", "change-me", "change_me",
		"placeholder", "redacted", "undefined", "insert-", "replace-", "replace_", "<", ">")
}

// containsOne reports whether one of the words stands in s.
func containsOne(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
