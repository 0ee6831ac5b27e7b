package agents

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/harness"
	"github.com/cmemd/cmemd/internal/privatetext"
)

// The fence around memory that is handed to an agent. The opening tag may carry attributes. Text between the two is
// recognised wherever it comes back, and is not recorded again: whoever writes the fence must keep both tags out of
// what stands inside.
const (
	ContextOpen  = "<" + harness.Memory + ">"
	ContextClose = "</" + harness.Memory + ">"
)

const (
	// MaxPrompt is how many bytes of a prompt are kept.
	MaxPrompt = 256 << 10

	// MaxText is how many bytes are kept of a tool's input, a tool's output, a message or an agent's own summary: half
	// from the head, half from the tail.
	MaxText = 64 << 10

	// leftOut stands where bytes were cut. The hook's own limit uses the same words.
	leftOut = "[cmemd: %d bytes left out]"

	// maxLeftOutMark is the longest text of leftOut with its line ends.
	maxLeftOutMark = len("\n[cmemd:  bytes left out]\n") + 19
)

// clean makes s fit to be recorded: valid UTF-8, no control characters or terminal sequences but line ends and tabs, no
// private text, nothing that was injected or that cmemd showed a person of itself, no long runs of base64. Private reports
// whether private text was cut. It takes linear time, and returns s itself where nothing is to be done.
func clean(s string) (out string, private bool) {
	if isClean(s) {
		return s, false
	}
	s = dropControls(strings.ToValidUTF8(s, "\uFFFD"))
	if privatetext.MayHoldTag(s) {
		s, private = privatetext.Cut(s)
		s = cutTags(s, append(harness.Instructions(), harness.Memories()...))
	}
	if hasNoticeOrFence(s) {
		s = cutNotices(cutEscapedFences(s))
	}
	return foldBase64(s), private
}

// isClean reports that clean would return s as it is. It may say false where that is so too.
func isClean(s string) bool {
	run, ascii := 0, true
	for i := range len(s) {
		c := s[i]
		switch {
		case clip.IsBase64(c):
			if run++; run >= minRun {
				return false
			}
			continue
		case c == '<', c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			return false
		case c >= utf8.RuneSelf:
			ascii = false
		}
		run = 0
	}
	return !privatetext.MayHoldTag(s) && !hasNoticeOrFence(s) && (ascii || (utf8.ValidString(s) && !hasC1(s)))
}

// hasC1 reports whether s holds one of the control characters U+0080 to U+009F.
func hasC1(s string) bool {
	for {
		i := strings.IndexByte(s, 0xc2)
		if i < 0 || i+1 == len(s) {
			return false
		}
		if s[i+1] < 0xa0 {
			return true
		}
		s = s[i+1:]
	}
}

// dropControls removes control characters and the terminal sequences they start from the valid UTF-8 of s. Line ends
// become \n; tabs stay.
func dropControls(s string) string {
	var out strings.Builder
	from, i := 0, 0
	replace := func(n int, by string) {
		out.WriteString(s[from:i])
		out.WriteString(by)
		i += n
		from = i
	}
	for i < len(s) {
		switch c := s[i]; {
		case c == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			replace(2, "\n")
		case c == '\r':
			replace(1, "\n")
		case c == 0x1b:
			replace(clip.EscapeLength(s[i:]), "")
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			replace(1, "")
		case c == 0xc2 && s[i+1] < 0xa0:
			replace(2, "")
		default:
			i++
		}
	}
	if from == 0 {
		return s
	}
	out.WriteString(s[from:])
	return out.String()
}

// capTail keeps the last max bytes of s, or a few less: it cuts at a rune border.
func capTail(s string, max int) string {
	if len(s) <= max {
		return s
	}
	at := len(s) - max
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}

// capText keeps head and tail of s, and says between them how many bytes were cut. The result has at most max bytes,
// which must be over maxLeftOutMark.
func capText(s string, max int) string {
	if len(s) <= max {
		return s
	}
	half := (max - maxLeftOutMark) / 2
	head, tail := clip.Head(s, half), capTail(s, half)
	return head + fmt.Sprintf("\n"+leftOut+"\n", len(s)-len(head)-len(tail)) + tail
}

// cleanMessage is a text that an agent wrote, clean and at its full length; see scrubber.message.
func cleanMessage(s string) string {
	text, _ := clean(s)
	return strings.TrimSpace(text)
}

// cleanName is what is kept of an id or a name. It has at most max bytes, and keeps no more of s in memory.
func cleanName(s string, max int) string {
	s = dropControls(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > max {
		return strings.Clone(clip.Head(s, max))
	}
	return s
}
