package watch

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Errors of NewRule.
var (
	// ErrRelative is a pattern that is not absolute.
	ErrRelative = errors.New("watch: not an absolute path")
	// ErrRoot is a pattern that would have the whole file system looked through.
	ErrRoot = errors.New("watch: would look through the whole file system")
	// ErrPattern is a pattern that cannot be read.
	ErrPattern = errors.New("watch: bad pattern")
)

// transcripts is what a mere folder stands for.
const transcripts = "**/*.jsonl"

// Rule says whose transcripts lie where.
type Rule struct {
	Agent   string
	Pattern string // as it was given
	base    string // the folder that all files lie below: no part of it is a pattern
	below   []string
}

// NewRule reads a pattern: an absolute path in which * and ? stand for any characters of a name, [a-z] for one of them, and **
// for any number of folders. A path without any of these is a folder with all .jsonl files below it, or one such file. Errors
// are ErrRelative, ErrRoot and ErrPattern.
func NewRule(agent, pattern string) (Rule, error) {
	r := Rule{Agent: agent, Pattern: pattern}
	if !filepath.IsAbs(pattern) {
		return Rule{}, fmt.Errorf("%w: %s", ErrRelative, pattern)
	}
	volume := filepath.VolumeName(pattern)
	parts := strings.Split(strings.Trim(filepath.ToSlash(filepath.Clean(pattern[len(volume):])), "/"), "/")
	fixed := slices.IndexFunc(parts, func(s string) bool { return strings.ContainsAny(s, "*?[") })
	switch {
	case fixed < 0 && path.Ext(pattern) == ".jsonl":
		fixed = len(parts) - 1
	case fixed < 0:
		fixed, parts = len(parts), append(parts, strings.Split(transcripts, "/")...)
	}
	if fixed == 0 || parts[0] == "" {
		return Rule{}, fmt.Errorf("%w: %s", ErrRoot, pattern)
	}
	for _, p := range parts[fixed:] {
		if _, err := path.Match(p, ""); err != nil {
			return Rule{}, fmt.Errorf("%w: %s", ErrPattern, pattern)
		}
	}
	r.base = volume + string(filepath.Separator) + filepath.Join(parts[:fixed]...)
	r.below = parts[fixed:]
	return r, nil
}

// matches reports whether a file, relative to the base and with slashes, is one of the rule's.
func (r Rule) matches(rel string) bool { return match(r.below, strings.Split(rel, "/")) }

// match takes time in proportion to the product of both lengths.
func match(pattern, parts []string) bool {
	reach := make([]bool, len(parts)+1) // which beginnings of parts the pattern so far stands for
	reach[0] = true
	for _, p := range pattern {
		next := make([]bool, len(parts)+1)
		for i := range reach {
			switch {
			case p == "**":
				next[i] = reach[i] || i > 0 && next[i-1]
			case i > 0 && reach[i-1]:
				next[i], _ = path.Match(p, parts[i-1]) // checked by NewRule
			}
		}
		reach = next
	}
	return reach[len(parts)]
}

// deep is how many folders below the base files of the rule may lie; below 0 it is any number.
func (r Rule) deep() int {
	if slices.Contains(r.below, "**") {
		return -1
	}
	return len(r.below) - 1
}

// String is AGENT=PATTERN.
func (r Rule) String() string { return fmt.Sprintf("%s=%s", r.Agent, r.Pattern) }
