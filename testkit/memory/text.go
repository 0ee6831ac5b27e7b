package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// charactersPerToken is the usual estimate; it is too high a number for Chinese and Japanese.
const charactersPerToken = 4

func tokensOf(text string) int { return utf8.RuneCountInString(text) / charactersPerToken }

// holds reports whether text has an alternative of each group, in any letter case.
func holds(text string, groups [][]string) bool {
	text = strings.ToLower(text)
	for _, group := range groups {
		if !slices.ContainsFunc(group, func(s string) bool { return strings.Contains(text, strings.ToLower(s)) }) {
			return false
		}
	}
	return true
}

// unread are members of a row that say nothing of what happened.
var unread = []string{"id", "session", "agent_session", "project_root", "at"}

// wordsOf are all texts in a value as it goes over the wire, but for what names it, a line each.
func wordsOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // an answer of the API is JSON
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		panic(err)
	}
	if object, ok := tree.(map[string]any); ok {
		for _, name := range unread {
			delete(object, name)
		}
	}
	return strings.Join(leaves(tree, nil), "\n")
}

func leaves(v any, out []string) []string {
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, x := range v {
			out = leaves(x, out)
		}
	case map[string]any:
		for _, x := range v {
			out = leaves(x, out)
		}
	}
	return out
}

var (
	sentenceEnds = regexp.MustCompile(`([.!?]\s+|\s+[—–]\s+|\s--\s|:\s+|[。！？])`)
	word         = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}]|[\p{L}\p{N}_]+`)
)

// repeated counts the sentences of a context, of five words and more, and those that an earlier line says already.
func repeated(text string) (sentences, twice int) {
	var said []string
	for line := range strings.Lines(text) {
		if isFrame(line) {
			continue
		}
		var mine []string
		for _, part := range sentenceEnds.Split(line, -1) {
			if words := word.FindAllString(strings.ToLower(part), -1); len(words) >= 5 {
				mine = append(mine, strings.Join(words, " "))
			}
		}
		for _, m := range mine {
			if slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, m) || len(s) > 40 && strings.Contains(m, s) }) {
				twice++
			}
		}
		sentences += len(mine)
		said = append(said, mine...)
	}
	return sentences, twice
}

// isFrame reports whether a line of a context is about the memory, and none of it.
func isFrame(line string) bool {
	return slices.ContainsFunc([]string{"<", "Memory of", "More:", "#"}, func(p string) bool { return strings.HasPrefix(line, p) })
}
