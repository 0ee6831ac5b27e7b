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
		if !slices.ContainsFunc(group, func(s string) bool { return stands(text, strings.ToLower(s)) }) {
			return false
		}
	}
	return true
}

// stands reports whether words stand in a text; a number that they begin or end with is no part of a longer one.
func stands(text, words string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], words)
		if i < 0 || words == "" {
			return false
		}
		begin, end := from+i, from+i+len(words)
		inNumber := begin > 0 && isDigit(words[0]) && isDigit(text[begin-1]) ||
			end < len(text) && isDigit(words[len(words)-1]) && isDigit(text[end])
		if !inNumber {
			return true
		}
		from = begin + 1
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unread are members of a row, or of what stands in one, that say nothing of what happened.
var unread = []string{
	"id", "ids", "handle", "session", "agent_session", "project_root", "at", "turn", "turns", "folded_into", "superseded_by",
	"similar", "position",
}

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
		for name, x := range v {
			if !slices.Contains(unread, name) {
				out = leaves(x, out)
			}
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
