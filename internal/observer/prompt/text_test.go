package prompt

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// bytesOf are n bytes that encode to a mixed text.
func bytesOf(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*73 + i*i>>3)
	}
	return b
}

func encoded(n int) string { return base64.StdEncoding.EncodeToString(bytesOf(n)) }

func wrapped(s string, width int) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + "\n")
		s = s[width:]
	}
	return b.String() + s
}

func TestElide(t *testing.T) {
	t.Parallel()
	letters := "abcdefghijklmnopqrst" // 20
	for _, tc := range []struct {
		name, s      string
		chars, bytes int
		want         string
	}{
		{"fits", letters, 20, -1, letters},
		{"one too many", letters, 19, -1, "abcdefghijk\n[... 4 of 20 characters left out ...]\npqrst"},
		{"head and tail", letters, 10, -1, "abcdef\n[... 11 of 20 characters left out ...]\nrst"},
		{"bytes", letters, 20, 10, "abcdef\n[... 11 of 20 characters left out ...]\nrst"},
		{"the smaller of both", letters, 10, 5, "abc\n[... 16 of 20 characters left out ...]\nt"},
		{"nothing", letters, 20, 0, "\n[... 20 of 20 characters left out ...]\n"},
		{"characters of two bytes", strings.Repeat("é", 20), 10, -1, "éééééé\n[... 11 of 20 characters left out ...]\nééé"},
		{"no character is cut", strings.Repeat("é", 20), 20, 11, "ééé\n[... 16 of 20 characters left out ...]\né"},
		{"empty", "", 0, 0, ""},
	} {
		if diff := cmp.Diff(tc.want, elide(tc.s, tc.chars, tc.bytes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// Whatever is kept is the head and the tail of what there was, within both limits, and the marker counts the rest.
func TestElideKeepsHeadAndTail(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringN(0, 300, -1).Draw(t, "s")
		chars, bytes := rapid.IntRange(0, 320).Draw(t, "chars"), rapid.IntRange(-1, 600).Draw(t, "bytes")
		got, count := elide(s, chars, bytes), utf8.RuneCountInString(s)
		if got == s {
			if count > chars || bytes >= 0 && len(s) > bytes {
				t.Fatalf("%q is over the limits and whole", s)
			}
			return
		}
		for gone := 0; gone <= count; gone++ {
			head, tail, ok := strings.Cut(got, fmt.Sprintf(leftOut, gone, count))
			if !ok || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
				continue
			}
			kept := utf8.RuneCountInString(head) + utf8.RuneCountInString(tail)
			if kept+gone == count && kept <= chars && (bytes < 0 || len(head)+len(tail) <= bytes) && utf8.ValidString(got) {
				return
			}
		}
		t.Fatalf("%q within %d characters, %d bytes became %q", s, chars, bytes, got)
	})
}

func TestEvenly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		sizes []int
		room  int
		want  int
	}{
		{nil, 0, -1},
		{[]int{1, 2, 3}, 6, -1},
		{[]int{3, 1, 2}, 5, 2},
		{[]int{100, 1, 100}, 101, 50},
		{[]int{5, 5}, -7, 0},
		{[]int{0, 0}, 0, -1},
	} {
		if got := evenly(tc.sizes, tc.room); got != tc.want {
			t.Errorf("evenly(%v, %d) = %d, want %d", tc.sizes, tc.room, got, tc.want)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	persian := "می\u200cخواهم"
	family := "👩\u200d👩\u200d👧 ✈\ufe0f"
	for _, tc := range []struct{ name, s, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"line ends", "a\r\nb\rc\u2028d\u2029e", "a\nb\nc\nd\ne"},
		{"controls", "a\x00b\x1b[31mred\x07 and enough text around them", "ab[31mred and enough text around them"},
		{"C1 controls", "a\u0085b\u009bc", "abc"},
		{"a few bad bytes", "latin \xe9t\xe9 and more text", "latin \uFFFDt\uFFFD and more text"},
		{"bidirectional", "a\u202eb\u2066c\u200fd\u061ce", "abcde"},
		{"zero width", "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg", "abcdefg"},
		{"tags", "a\U000e0041\U000e007fb", "ab"},
		{"variation selectors that hide bytes", "a\U000e0101b", "ab"},
		{"fillers", "a\u3164b\u115fc\uffa0d", "abcd"},
		{"joined letters", persian, persian},
		{"joined emoji", family, family},
		{"a number sign of Arabic", "\u0600\u0661", "\u0600\u0661"},
		{"NULs", "a\x00b\x00", "[binary: 4 bytes]"},
		{"a program", "\x7fELF\x02\x01\x01\x00\x00\x00", "[binary: 10 bytes]"},
		{"UTF-16", "h\x00e\x00l\x00l\x00o\x00", "[binary: 10 bytes]"},
		{"bad bytes", "\xff\xfe\xfd\xfc text", "[binary: 9 bytes]"},
		{"nothing", "", ""},
	} {
		if diff := cmp.Diff(tc.want, clean(tc.s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// led is s with a lead before each of its lines.
func led(lead, s string) string { return lead + strings.ReplaceAll(s, "\n", "\n"+lead) }

// numbered is s as cat -n shows it.
func numbered(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = fmt.Sprintf("%6d\t%s", i+1, l)
	}
	return strings.Join(lines, "\n")
}

// xxd is n bytes as that program shows them.
func xxd(n int) string {
	var lines []string
	b := bytesOf(n)
	for i := 0; i < n; i += 16 {
		row := b[i:min(n, i+16)]
		var groups []string
		for j := 0; j < len(row); j += 2 {
			groups = append(groups, hex.EncodeToString(row[j:min(len(row), j+2)]))
		}
		lines = append(lines, fmt.Sprintf("%08x: %-39s  %s", i, strings.Join(groups, " "), strings.Repeat(".", len(row))))
	}
	return strings.Join(lines, "\n")
}

// hashes are lines of so many hexadecimal digits each.
func hashes(digits int) string {
	var b strings.Builder
	for i := range 30 {
		b.WriteString(hex.EncodeToString(bytesOf(digits + i)[i:])[:digits] + "\n")
	}
	return b.String()
}

// od is n bytes, of whole lines, as that program shows them with -t x1.
func od(n int) string {
	var b strings.Builder
	for i := 0; i < n; i += 16 {
		fmt.Fprintf(&b, "%07o % x\n", i, bytesOf(n)[i:i+16])
	}
	fmt.Fprintf(&b, "%07o\n", n)
	return b.String()
}

func listing() string {
	return "  401000:\t55                   \tpush   %rbp\n  401001:\t48 89 e5             \tmov    %rsp,%rbp\n" +
		"  401004:\t48 83 ec 10          \tsub    $0x10,%rsp\n  401008:\tc7 45 fc 00 00 00 00 \tmovl   $0x0,-0x4(%rbp)\n  40100f:\t90    \tnop\n"
}

func table() string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "%d %d %d\n", 2000+i, 1500+i*7, 90-i)
	}
	return b.String()
}

func TestFoldBlobs(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("da39a3ee5e6b4b0d3255bfef95601890afd80709", 8)
	path := strings.Repeat("internal/Deep2/", 12) + "File.go"
	for _, tc := range []struct{ name, s, want string }{
		{"data URL", "a (data:image/png;base64," + encoded(30) + ") b", "a ([image: 30 bytes]) b"},
		{"data URL of a font", "url(data:font/woff2;charset=utf-8;base64," + encoded(300) + ")", "url([base64: 300 bytes])"},
		{"data URL that holds nothing", "data:text/plain;base64,QQ==", "data:text/plain;base64,QQ=="},
		{"two", "data:image/gif;base64," + encoded(60) + " data:image/gif;base64," + encoded(90), "[image: 60 bytes] [image: 90 bytes]"},
		{"long run", "x: " + encoded(300) + "\nnext", "x: [base64: 300 bytes]\nnext"},
		{"wrapped run", "-----BEGIN X-----\n" + wrapped(encoded(600), 64) + "\n-----END X-----", "-----BEGIN X-----\n[base64: 600 bytes]\n-----END X-----"},
		{"short run", encoded(90), encoded(90)},
		{"hashes", hash, hash},
		{"ruler", strings.Repeat("=", 500), strings.Repeat("=", 500)},
		{"path", path, path},
		{"wrapped at 48", wrapped(encoded(600), 48), "[base64: 600 bytes]"},
		{"wrapped at 40", "x\n" + wrapped(encoded(300), 40) + "\ny", "x\n[base64: 300 bytes]\ny"},
		{"wrapped at 70", wrapped(encoded(300), 70), "[base64: 300 bytes]"},
		{"indented", "key: |\n" + led("    ", wrapped(encoded(600), 64)) + "\nnext: 1", "key: |\n    [base64: 600 bytes]\nnext: 1"},
		{"indented by tabs", led("\t\t", wrapped(encoded(400), 76)), "\t\t[base64: 400 bytes]"},
		{"quoted", led("> ", wrapped(encoded(600), 76)) + "\n> Regards", "> [base64: 600 bytes]\n> Regards"},
		{"quoted twice", led(">> ", wrapped(encoded(600), 76)), ">> [base64: 600 bytes]"},
		{"context of a difference", "@@ -1 +1 @@\n" + led(" ", wrapped(encoded(600), 64)) + "\n-a", "@@ -1 +1 @@\n [base64: 600 bytes]\n-a"},
		{"added", "@@ -1 +1 @@\n" + led("+", wrapped(encoded(600), 64)) + "\n context", "@@ -1 +1 @@\n[base64: 600 bytes]\n context"},
		{"taken away", led("-", wrapped(encoded(600), 76)) + "\n+b", "[base64: 600 bytes]\n+b"},
		{"commented out", led("// ", wrapped(encoded(600), 76)), "// [base64: 600 bytes]"},
		{"numbered", numbered(wrapped(encoded(900), 64)), "     1\t[base64: 900 bytes]"},
		{"base64 hashes", strings.Repeat(encoded(32)+"\n", 40), strings.Repeat(encoded(32)+"\n", 40)},
		{"names of one length", strings.Repeat("TheNameOfATestThatIsRatherLong2\n", 40), strings.Repeat("TheNameOfATestThatIsRatherLong2\n", 40)},
		{"xxd", "$ xxd a\n" + xxd(100) + "\n$", "$ xxd a\n[binary: 100 bytes]\n$"},
		{"xxd, indented", led("    ", xxd(160)), "[binary: 160 bytes]"},
		{"xxd, added", led("+", xxd(160)), "[binary: 160 bytes]"},
		{"xxd, numbered", numbered(xxd(160)), "[binary: 160 bytes]"},
		{"xxd of a few bytes", xxd(40), xxd(40)},
		{"hexdump -C", strings.TrimSuffix(hex.Dump(bytesOf(200)), "\n") + "\n000000c8\nend", "[binary: 200 bytes]\nend"},
		{"od -t x1", od(160), "[binary: 160 bytes]\n"},
		{"hexdump -C of zeros", "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n" + hex.Dump(bytesOf(200))[79:], "[binary: 200 bytes]\n"},
		{"xxd -p", "a\n" + wrapped(hex.EncodeToString(bytesOf(305)), 60) + "\nb", "a\n[binary: 305 bytes]\nb"},
		{"digits on one line", hex.EncodeToString(bytesOf(256)), "[binary: 256 bytes]"},
		{"hashes of commits", hashes(40), hashes(40)},
		{"sums of files", hashes(64), hashes(64)},
		{"a listing of a program", listing(), listing()},
		{"addresses", strings.Repeat("7ffd1234 7ffd5678\n", 20), strings.Repeat("7ffd1234 7ffd5678\n", 20)},
		{"a table of numbers", table(), table()},
		{"no URL", "say ;base64," + encoded(30), "say ;base64," + encoded(30)},
		{"not a URL's head", "data: see ;base64," + encoded(30), "data: see ;base64," + encoded(30)},
	} {
		if diff := cmp.Diff(tc.want, foldBlobs(tc.s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	png := encoded(300)
	for _, tc := range []struct{ name, s, want string }{
		{"no JSON", "plain {text}\n", "plain {text}\n"},
		{"a command", `{"command":"go test ./...","description":"Run tests"}`, "command: go test ./...\ndescription: Run tests"},
		{"only a command", `{"command":"go test\n./..."}`, "go test\n./..."},
		{"output of a command", `{"stdout":"a\nb","stderr":"","interrupted":false,"isImage":false}`, "a\nb"},
		{"an error that is false", `{"success":false,"n":0}`, "success: false\nn: 0"},
		{"text below what is short", `{"old_string":"a\n\tb","file_path":"/x","new_string":"c\nd"}`, "file_path: /x\nold_string:\na\n\tb\nnew_string:\nc\nd"},
		{"nested", `{"a":{"b":{"c":1}},"d":[1,"x",{"e":"f","g":[2]}]}`, "a:\n  b:\n    c: 1\nd:\n  1\n  x\n  - e: f\n    g:\n      2"},
		{"content parts", `{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`, "- one\n- two"},
		{"a JSON string", `"{\"hits\":[{\"id\":\"01\",\"title\":\"x\"}]}"`, "hits:\n  - id: 01\n    title: x"},
		{"JSON in JSON in JSON", `{"a":1,"body":"{\"b\":\"{\\\"c\\\":\\\"d\\\",\\\"e\\\":2}\"}"}`, "a: 1\nbody:\nb:\nc: d\ne: 2"},
		{"cut JSON", `{"content":"a\n\t\"b\" \\n`, "{\"content\":\"a\n\t\"b\" \\n"},
		{"an image", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png + `"}}`, "[image: 300 bytes]"},
		{"an image among parts", `[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"` + encoded(30) + `"}]`, "- see\n- [image: 30 bytes]"},
		{"an image that a client read", `{"type":"image","file":{"base64":"` + png + `","type":"image/png","originalSize":300}}`, "[image: 300 bytes]"},
		{"an image by URL", `{"type":"input_image","image_url":"data:image/png;base64,` + png + `"}`, "[image: 300 bytes]"},
		{"an image that capturing left out", `{"type":"image","source":{"data":"[cmemd: 4000 bytes of base64 left out]"}}`, "[image: 3000 bytes]"},
		{"an image on disk", `{"type":"image","path":"shots/Screenshot2026AtHome.png"}`, "type: image\npath: shots/Screenshot2026AtHome.png"},
		{"encoded bytes", `{"blob":"` + png + `","n":1}`, "blob: [base64: 300 bytes]\nn: 1"},
		{"hidden characters", `{"a\u200b":"b\u202ec","d":"\u0000\u0007 and some more text behind"}`, "a: bc\nd:  and some more text behind"},
		{"a number as it was written", `{"id":12345678901234567890,"x":1.50}`, "id: 12345678901234567890\nx: 1.50"},
		{"nothing", `{"a":null,"b":"","c":[],"d":{}}`, ""},
		{"empty", "", ""},
		{"too deep", strings.Repeat("[", 30) + "1" + strings.Repeat("]", 30), strings.Repeat("[", 30) + "1" + strings.Repeat("]", 30)},
	} {
		if diff := cmp.Diff(tc.want, readable(tc.s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
