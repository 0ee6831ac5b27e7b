package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/sentence"
)

// shape is what a block of text looks like.
type shape uint8

const (
	paragraph shape = iota
	heading         // "# x", or a line that is bold as a whole
	item            // of a list
	box             // an item with a check box
	code            // fenced or indented
	quote
	table
)

// block is one piece of Markdown-like text.
type block struct {
	shape shape
	raw   string // as written, without blanks around it
	text  string // what it says, on one line; of code, as written
	done  bool   // a check box that is ticked
	gap   bool   // a blank line stands before it
}

// leads tells whether b announces what follows it.
func (b block) leads() bool {
	return b.shape == heading || b.shape != code && (strings.HasSuffix(b.text, ":") || strings.HasSuffix(b.text, "："))
}

// continues tells whether an indented line behind b is a part of it.
func (b block) continues() bool { return b.shape != code && (b.shape != paragraph || !b.leads()) }

// marked is what b says on one line with the marks of code left in: what stands between them is a name.
func (b block) marked() string {
	_, s := cutMarker(strings.TrimLeft(b.raw, " \t"))
	return tidy(line(sentence.WithoutEmphasis(sentence.WithoutLinks(s))))
}

// maxBlocks bounds how much structure is kept of one text.
const maxBlocks = 2000

// blocks cuts cleaned text into blocks. It knows as much Markdown as agents and people write; what it does not know
// is a paragraph.
func blocks(s string) []block {
	var all []block
	gap := false
	for s != "" && len(all) < maxBlocks {
		var line string
		line, s, _ = strings.Cut(s, "\n")
		line = strings.TrimRight(line, " \t")
		if line == "" {
			gap = true
			continue
		}
		if fence := fenceOf(line); fence != "" {
			var body string
			body, s = cutFence(s, fence)
			all = append(all, block{shape: code, raw: "```\n" + body + "\n```", text: body, gap: gap})
			gap = false
			continue
		}
		b := readLine(line, !gap && len(all) > 0 && all[len(all)-1].continues())
		b.gap = gap
		all = join(all, b)
		gap = false
	}
	return all
}

// fenceOf is the fence that line opens, perhaps as an item of a list, or "".
func fenceOf(line string) string {
	_, line = cutMarker(strings.TrimLeft(line, " \t"))
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && !strings.Contains(line[n:], "`") {
			return line[:n]
		}
	}
	return ""
}

// cutFence cuts the fenced body off s. A fence that is never closed holds the rest.
func cutFence(s, fence string) (body, rest string) {
	for at := 0; at < len(s); {
		line, _, _ := strings.Cut(s[at:], "\n")
		if t := strings.TrimSpace(line); strings.HasPrefix(t, fence) && strings.Trim(t, fence[:1]) == "" {
			return strings.TrimRight(s[:at], "\n"), s[min(len(s), at+len(line)+1):]
		}
		at += len(line) + 1
	}
	return strings.TrimRight(s, "\n"), ""
}

// readLine says what a line that stands for itself is. After a line of text an indented line is its continuation.
func readLine(line string, after bool) block {
	text := strings.TrimLeft(line, " \t")
	b := block{raw: strings.TrimSpace(line), text: text}
	marker, rest := cutMarker(text)
	switch {
	case marker != "":
		b.shape, b.text, b.raw = item, rest, strings.TrimRight(line, " ")
		if tick, body, ok := cutBox(rest); ok {
			b.shape, b.text, b.done = box, body, tick
		}
	case !after && len(line)-len(text) >= 4, strings.HasPrefix(line, "\t"):
		b.shape, b.raw = code, line
		return b
	case strings.HasPrefix(text, "#") && strings.HasPrefix(strings.TrimLeft(text, "#"), " "):
		b.shape, b.text = heading, strings.Trim(text, "# ")
	case isBold(text):
		b.shape = heading
	case strings.HasPrefix(text, ">"):
		b.shape, b.text = quote, strings.TrimLeft(text, "> ")
	case strings.HasPrefix(text, "|"):
		b.shape = table
	case strings.Trim(text, "-=_*~ ") == "":
		return block{}
	}
	b.text = plain(b.text)
	return b
}

// cutMarker cuts the marker of a list's item off text.
func cutMarker(text string) (marker, rest string) {
	for _, m := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if rest, ok := strings.CutPrefix(text, m); ok {
			return m, strings.TrimLeft(rest, " ")
		}
	}
	n := 0
	for n < len(text) && n < 3 && isDigit(text[n]) {
		n++
	}
	if n > 0 && n+1 < len(text) && (text[n] == '.' || text[n] == ')') && text[n+1] == ' ' {
		return text[:n+2], strings.TrimLeft(text[n+2:], " ")
	}
	return "", text
}

// cutBox cuts a check box off the text of an item.
func cutBox(text string) (ticked bool, rest string, ok bool) {
	if len(text) < 4 || text[0] != '[' || text[2] != ']' || text[3] != ' ' {
		return false, text, false
	}
	return text[1] != ' ', strings.TrimSpace(text[4:]), strings.IndexByte(" xX", text[1]) >= 0
}

func isBold(text string) bool {
	text = strings.TrimRight(text, ": ")
	inner, ok := strings.CutPrefix(text, "**")
	inner, ok2 := strings.CutSuffix(inner, "**")
	return ok && ok2 && inner != "" && !strings.Contains(inner, "**")
}

// join adds b to all, as part of the last block where it only continues it.
func join(all []block, b block) []block {
	if b.raw == "" {
		return all
	}
	if len(all) == 0 || b.gap {
		return append(all, b)
	}
	last := &all[len(all)-1]
	switch {
	case b.shape == code && last.shape == code, b.shape == table && last.shape == table:
		last.raw += "\n" + b.raw
		last.text = last.raw
	case b.shape == paragraph && last.shape == paragraph && (last.leads() || !prosy(last.text) || !prosy(b.text)):
		return append(all, b)
	case b.shape == paragraph && (last.shape == paragraph || last.shape == item || last.shape == box):
		last.raw += "\n" + b.raw
		last.text += " " + b.text
	case b.shape == quote && last.shape == quote:
		last.raw += "\n" + b.raw
		last.text += " " + b.text
	default:
		return append(all, b)
	}
	return all
}

// unlabelled takes a label such as "Title: " off the first block of a text, where a sentence stands behind it.
func unlabelled(all []block) []block {
	if len(all) == 0 || all[0].shape != paragraph && all[0].shape != heading {
		return all
	}
	label, said, ok := strings.Cut(all[0].text, ": ")
	if first, _ := utf8.DecodeRuneInString(said); !ok || !isCapitalised(label) || !unicode.IsUpper(first) || !sentence.Telling(said) {
		return all
	}
	all[0].text = said
	for _, mark := range []string{label + ": ", "**" + label + ":** ", "**" + label + "**: "} {
		if rest, ok := strings.CutPrefix(all[0].raw, mark); ok {
			all[0].raw = rest
			break
		}
	}
	return all
}

// isCapitalised is for one word of letters of which only the first is a capital.
func isCapitalised(w string) bool {
	first, n := utf8.DecodeRuneInString(w)
	return unicode.IsUpper(first) && len(w) > n && strings.IndexFunc(w[n:], func(r rune) bool { return !unicode.IsLower(r) }) < 0
}

// plain takes the marks of emphasis and links off one line.
func plain(s string) string {
	if !strings.ContainsAny(s, "*`[\t") {
		return strings.TrimSpace(s)
	}
	s = strings.ReplaceAll(sentence.WithoutEmphasis(sentence.WithoutLinks(s)), "`", "")
	return strings.TrimSpace(strings.ReplaceAll(s, "\t", " "))
}
