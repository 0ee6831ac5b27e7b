package prompt

import (
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/internal/clip"
)

const (
	// minRun is the shortest run of base64 that is taken for encoded bytes: no hash, token or path is that long.
	minRun = 256

	// minLine and maxLine are the lengths of a full line of a wrapped run: encoders wrap at 76, 64, and by hand at 48 or 40.
	minLine, maxLine = 40, 160

	// sureLine is the length from which a line may have any; shorter ones hold whole groups of four.
	sureLine = 60

	// maxLead is the longest indent, quote mark or comment sign that is looked for before the lines of a wrapped run.
	maxLead = 40

	// minURL is the shortest run that is taken for encoded bytes where a data URL says so.
	minURL = 16

	imageForm  = "[image: %d bytes]"
	base64Form = "[base64: %d bytes]"
)

// foldBlobs replaces data URLs, long runs of base64 and hexadecimal dumps, in lines or not, by what they are and how many
// bytes they stand for. A run of base64 has to hold upper case, lower case and digits: rulers and long words are none. Its
// lines may stand behind an indent, a mark of quotation or of a difference, the same before each. Linear time.
func foldBlobs(s string) string {
	if len(s) < minURL {
		return s
	}
	return foldRuns(foldDumps(s))
}

// run is a run of base64 in a text.
type run struct {
	end     int // where it ends
	letters int // of it, without line ends and what leads its lines
	padding int // of those
}

// size is how many bytes r encodes.
func (r run) size() int { return (r.letters - r.padding) * 3 / 4 }

func foldRuns(s string) string {
	var out strings.Builder
	from := 0
	for i := 0; i < len(s); {
		if !clip.IsBase64(s[i]) {
			i++
			continue
		}
		start := dataURLStart(s, from, i)
		r := runAt(s, from, i)
		if start < i && r.letters >= minURL || r.letters >= minRun && clip.IsMixed(s[i:r.end]) {
			form := base64Form
			if strings.HasPrefix(s[start:], "data:image/") {
				form = imageForm
			}
			out.WriteString(s[from:start])
			fmt.Fprintf(&out, form, r.size())
			from = r.end
		}
		i = r.end
	}
	if from == 0 {
		return s
	}
	out.WriteString(s[from:])
	return out.String()
}

// dataURLStart is where the head of a data URL begins that ends at s[i], "data:image/png;base64,", or i if there is none behind
// from.
func dataURLStart(s string, from, i int) int {
	const sign, longest = ";base64,", 120
	if !strings.HasSuffix(s[from:i], sign) {
		return i
	}
	window := max(from, i-longest)
	n := strings.LastIndex(s[window:i], "data:")
	if n < 0 || strings.ContainsAny(s[window+n:i-len(sign)], " \n\t\"'<>(),") {
		return i
	}
	return window + n
}

// runAt is the run of base64 that starts at s[i], behind from. It goes on behind a full line, as encoders make them, if the
// next line is nothing but base64, behind what leads it; a shorter one is its last.
func runAt(s string, from, i int) run {
	end := clip.Base64End(s, i)
	width, sign := end-i, byte(0)
	if width%4 == 1 && (s[i] == '+' || s[i] == '-') && leads(s, from, i) { // of a difference
		sign, width = s[i], width-1
	}
	r := run{end: end, letters: width, padding: strings.Count(s[i:end], "=")}
	if width < minLine || width > maxLine || width < sureLine && width%4 != 0 || r.padding > 0 || !leads(s, from, i) {
		return r
	}
	for end < len(s) && s[end] == '\n' {
		next := skipLead(s, end+1)
		if sign != 0 && (next == len(s) || s[next] != sign) {
			return r
		}
		if sign != 0 {
			next++
		}
		end = clip.Base64End(s, next)
		if n := end - next; n == 0 || n > width || n%4 == 1 && width%4 == 0 || end < len(s) && s[end] != '\n' {
			return r
		}
		r.end, r.letters, r.padding = end, r.letters+end-next, strings.Count(s[next:end], "=")
		if end-next < width || r.padding > 0 {
			return r
		}
	}
	return r
}

// leads reports whether no more than a lead stands before s[i] in its line, behind from.
func leads(s string, from, i int) bool {
	start := strings.LastIndexByte(s[max(from, i-maxLead):i], '\n') + 1 + max(from, i-maxLead)
	return (start == 0 || start == from || s[start-1] == '\n') && skipLead(s[:i], start) == i
}

// skipLead is where a line that begins at s[i] begins to say something: behind indents, marks of quotations and comments,
// and the number of the line.
func skipLead(s string, i int) int {
	i = skipMarks(s, i)
	digits := i
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	if digits == i || digits-i > 7 || digits == len(s) {
		return i
	}
	for _, mark := range []string{"\t", ":", "→", "|", " "} {
		if strings.HasPrefix(s[digits:], mark) {
			return skipMarks(s, digits+len(mark))
		}
	}
	return i
}

// skipMarks passes over marks. A slash is base64, and a mark only where two of them and a space begin a comment.
func skipMarks(s string, i int) int {
	for i < len(s) {
		switch {
		case strings.IndexByte(" \t>|#*;", s[i]) >= 0:
			i++
		case strings.HasPrefix(s[i:], "// "):
			i += 3
		default:
			return i
		}
	}
	return i
}

// blobSize is how many bytes s stands for if it is nothing but a data URL, base64, or what capturing left of it.
func blobSize(s string) (n int, ok bool) {
	if _, err := fmt.Sscanf(s, clip.Base64LeftOut, &n); err == nil {
		return n * 3 / 4, true
	}
	if _, data, found := strings.Cut(s, ";base64,"); found && strings.HasPrefix(s, "data:") {
		s = data
	}
	s = strings.TrimRight(s, "\n")
	letters := len(s) - strings.Count(s, "\n")
	whole := run{letters: letters, padding: strings.Count(s, "=")}
	return whole.size(), len(s) >= minURL && clip.Base64End(strings.ReplaceAll(s, "\n", "A"), 0) == len(s)
}
