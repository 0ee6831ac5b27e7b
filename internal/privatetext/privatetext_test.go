package privatetext

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/testkit/growth"
)

var privateCases = []struct{ name, in, want string }{
	{"nothing", "hello", "hello"},
	{"empty", "", ""},
	{"a pair", "a<private>s</private>b", "ab"},
	{"all of it", "<private>s</private>", ""},
	{"an empty pair", "a<private></private>b", "ab"},
	{"two pairs", "a<private>s</private>b<private>t</private>c", "abc"},
	{"nested", "a<private>s<private>t</private>u</private>b", "ab"},
	{"nested deeper", "a<private><private><private>s</private></private></private>b", "ab"},
	{"unclosed", "a<private>s", "a"},
	{"unclosed outer", "a<private>s<private>t</private>b", "a"},
	{"closed, then unclosed", "a<private>s</private>b<private>t", "ab"},
	{"capitals", "a<PRIVATE>s</PRIVATE>b", "ab"},
	{"mixed capitals", "a<Private>s</pRIVATE>b", "ab"},
	{"an attribute", `a<private reason="x">s</private>b`, "ab"},
	{"attributes over lines", "a<private\n  x=1\n>s</private>b", "ab"},
	{"a space in the tag", "a<private >s</private >b", "ab"},
	{"a line break in the closing tag", "a<private>s</private\n>b", "ab"},
	{"a quoted > ends the tag; the rest is private too", `a<private x=">">s</private>b`, "ab"},
	{"an empty element", "a<private/>b", "ab"},
	{"an empty element with a space", "a<private />b", "ab"},
	{"an empty element inside", "a<private>s<private/>t</private>b", "ab"},
	{"a lone closing tag", "a</private>b", "a</private>b"},
	{"a lone closing tag before a pair", "</private>a<private>s</private>b", "</private>ab"},
	{"two closing tags", "a<private>s</private></private>b", "a</private>b"},
	{"a longer name", "a<privateer>s</privateer>b", "a<privateer>s</privateer>b"},
	{"a name with a dash", "a<private-note>s</private-note>b", "a<private-note>s</private-note>b"},
	{"a longer closing name", "a<private>s</privately>t</private>b", "ab"},
	{"a closing tag with an attribute closes nothing", "a<private>s</private x>t</private>b", "ab"},
	{"a space before the name", "a< private>s", "a< private>s"},
	{"a space before the slash", "a<private>s< /private>t", "a"},
	{"a tag without its end", "a<private s", "a"},
	{"a tag that ends the text", "a<private", "a"},
	{"a closing tag without its end", "a<private>s</private", "a"},
	{"a doubled bracket", "a<<private>s</private>b", "a<b"},
	{"only brackets", "<<<>>></>", "<<<>>></>"},
	{"other tags", "<b>a</b><private><b>s</b></private>", "<b>a</b>"},
	{"letters of other scripts", "ä<private>ß</private>ö", "äö"},
	{"bytes that are not UTF-8", "\xff<private>\xfe</private>\xfd", "\xff\xfd"},
	{"as words", "private /private <public>", "private /private <public>"},
	{"control characters in the tags", "a<pri\x00vate>s<\x1b/private\x7f>b", "ab"},
	{"control characters beside a pair", "a\x01<private>s</private>b", "ab"},
	{"control characters and no tag", "a\x00<privat>\xff", "a\x00<privat>\xff"},
	{"a comparison", "if a <private b", "if a "},
	{"characters that nobody sees in the tags", "a<pri\u200bvate>s</\u00adprivate\ufe0f>b", "ab"},
	{"such characters elsewhere stay", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645<private>s</private>\U0001f468\u200d\U0001f469", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645\U0001f468\u200d\U0001f469"},
	{"bidirectional marks", "a\u202e<\u2066private\u2069>s</private>b", "a\u202eb"},
	{"entities", "a&lt;private&gt;s&lt;/private&gt;b", "ab"},
	{"entities, in capitals", "a&LT;PRIVATE&GT;s&LT;/PRIVATE&GT;b", "ab"},
	{"an entity opens, a bracket closes", "a&lt;private&gt;s</private>b", "ab"},
	{"entities by number", "a&#60;private&#x3E;s&#060;&#112;rivate>t&#x3c;/private&#62;&#60;/private>b", "ab"},
	{"an entity without an end", "a&#60private>s", "a&#60private>s"},
	{"an entity of another sign", "a&amp;private&gt;s", "a&amp;private&gt;s"},
	{"escapes", `log: {"a":"\u003cprivate\u003es\u003c\/private\u003e"}`, `log: {"a":""}`},
	{"escapes of escapes", `log: "\\u003Cprivate\\u003Es\\u003C/private\\u003E"`, `log: ""`},
	{"an escaped character that nobody sees", `log: "\u003cpri\u200bvate\u003es\u003c/private\u003e"`, `log: ""`},
	{"an escape that is cut off", `log: "\u003`, `log: "\u003`},
	{"a tag behind a run that nobody sees", "a&#8203;&#8203;&lt;private&gt;s&lt;/private&gt;&#8203;b", "a&#8203;b"},
	{"such a run before its end", "a<private &#8203;&#0;\u200b\u200b\\\\>s</private&#8203;>b", "ab"},
	{"such a run, then another sign", "&#8203;&#8203;a&#0;<private>s</private>b", "&#8203;&#8203;ab"},
	{"backslashes before a tag", `a\\\<private \\\>s\\</private>\\b`, `a\\\\\b`},
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range privateCases {
		got, cut := Cut(c.in)
		if got != c.want || cut != (c.in != c.want) {
			t.Errorf("%s: Cut(%q) = %q, %v; want %q", c.name, c.in, got, cut, c.want)
		}
	}
}

// referenceCut cuts by the same rule with expressions, in one pass over all tags.
func referenceCut(s string) string {
	var out strings.Builder
	depth, from := 0, 0
	for _, m := range referenceTag.FindAllStringIndex(s, -1) {
		tag := s[m[0]:m[1]]
		if depth == 0 && tag[1] != '/' {
			out.WriteString(s[from:m[0]])
			from = m[1]
		}
		switch {
		case tag[1] == '/':
			if depth == 1 {
				from = m[1]
			}
			depth = max(depth-1, 0)
		case !strings.HasSuffix(tag, "/>"):
			depth++
		}
	}
	if depth == 0 {
		out.WriteString(s[from:])
	}
	return out.String()
}

var referenceTag = regexp.MustCompile(`(?is)</private[ \t\r\n\f]*>|<private(?:[ \t\r\n\f/][^>]*)?(?:>|$)`)

var referenceControl = regexp.MustCompile(`[\x00-\x08\x0b\x0e-\x1f\x7f]`)

func FuzzCut(f *testing.F) {
	for _, c := range privateCases {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			Cut(s)
			return // expressions fold and step over runes
		}
		got, cut := Cut(s)
		if isEscapedJSON(s) {
			checkInner(t, s, got)
			return
		}
		if mayBeEscaped(s) || strings.ContainsFunc(s, isInvisible) {
			return // the expressions know no such tags
		}
		plain := referenceControl.ReplaceAllString(s, "")
		want := referenceCut(plain)
		if want == plain {
			want = s
		}
		if got != want {
			t.Fatalf("Cut(%q) = %q, want %q", s, got, want)
		}
		if !cut && got != s {
			t.Fatalf("Cut(%q) = %q, but says that nothing was cut", s, got)
		}
	})
}

// checkInner compares what became of a text that is JSON with what its decoded strings should be.
func checkInner(t *testing.T, s, got string) {
	t.Helper()
	if strings.Contains(s, `\\`) || strings.Contains(s, `&`) || strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf && isInvisible(r) }) {
		return
	}
	plain, _, _ := cutOpen(s, 0)
	var before, after any
	if !json.Valid([]byte(plain)) || json.Unmarshal([]byte(plain), &before) != nil || hasKeyTag(before) {
		return
	}
	if err := json.Unmarshal([]byte(got), &after); err != nil {
		t.Fatalf("Cut(%q) = %q: %v", s, got, err)
	}
	if diff := cmp.Diff(cutAll(before, innerLevels-1), after); diff != "" {
		t.Fatalf("Cut(%q) = %q: -want +got\n%s", s, got, diff)
	}
}

// pieces makes texts in which tags are frequent.
var pieces = rapid.Custom(func(t *rapid.T) string {
	part := rapid.SampledFrom([]string{
		"<private>", "</private>", "<PRIVATE x='1'>", "<private/>", "</Private >", "<private", ">", "<", "/", "a", "\n", `"`, `\x`, "é", "\u2028", "<b>",
	})
	return strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
})

func TestCutProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := pieces.Draw(t, "text")
		got, _ := Cut(s)
		if want := referenceCut(s); got != want {
			t.Fatalf("Cut(%q) = %q, want %q", s, got, want)
		}
		before := rapid.StringMatching(`[a-z ]*`).Draw(t, "before")
		inside := rapid.StringMatching(`[^<]*`).Draw(t, "inside")
		got, cut := Cut(before + "<private>" + inside + "</private>" + s)
		rest, _ := Cut(s)
		if got != before+rest || !cut {
			t.Fatalf("Cut = %q, %v; want %q", got, cut, before+rest)
		}
	})
}

func TestCutIsLinear(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{
		"brackets": "<", "closing": "</private ", "opening": "<private>", "open and close": "<private></private", "names": "<privat",
	} {
		growth.Linear(t, name, 128<<10, func(size int) { Cut(strings.Repeat(unit, size/len(unit))) })
	}
}

// TestCutIsLinearInAnySpelling: runs of what nobody sees, and of what a tag could begin with, in every spelling and wherever they stand.
func TestCutIsLinearInAnySpelling(t *testing.T) {
	t.Parallel()
	quoted := func(text string) string {
		body, _ := json.Marshal(map[string]string{"a": text})
		return string(body)
	}
	texts := map[string]func(run string) string{
		"alone":               func(run string) string { return run },
		"in an opening tag":   func(run string) string { return "<private " + run },
		"in its name":         func(run string) string { return "<pri" + run },
		"in a closing tag":    func(run string) string { return "<private>s</private" + run },
		"in an escaped tag":   func(run string) string { return "&lt;private " + run },
		"in a string of JSON": func(run string) string { return `{"a":"\u003c","b":"` + run + `"}` },
	}
	for _, unit := range []string{
		"&#0;", "&#8203;", "&#x200B;", "&#00000000000;", `\u200b`, `\\u200b`, "\u200b", "\u0085", "\x01", `\`, `\\/`, "&", "&#", "&#60;", "&lt;p", "&gt;", "&#47;",
		`\u0020`, "&#32;", " ", "/", "<\u200b", "<private &#0;",
	} {
		t.Run(unit, func(t *testing.T) {
			for where, text := range texts {
				growth.Linear(t, where, 2<<10, func(size int) {
					in := text(strings.Repeat(unit, size/len(unit)))
					body := quoted(in)
					Cut(in)
					CutJSON([]byte(body))
					CutJSON([]byte(body[:len(body)-1]))
				})
				if t.Failed() {
					return // each failure takes seconds
				}
			}
		})
	}
}

func TestCutJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"nothing", `{"a":"b<c"}`, `{"a":"b<c"}`},
		{"plain", `{"a":"x<private>s</private>y"}`, `{"a":"xy"}`},
		{"white space stays", "{ \"a\" : \"<private>s</private>\" ,\n\"b\":1.50}", "{ \"a\" : \"\" ,\n\"b\":1.50}"},
		{"escaped slash", `{"a":"x<private>s<\/private>y"}`, `{"a":"xy"}`},
		{"escaped brackets", `{"a":"x\u003cprivate\u003es\u003c/private\u003ey"}`, `{"a":"xy"}`},
		{"escaped brackets, capital", `{"a":"x\u003Cprivate\u003Es\u003C\/private\u003Ey"}`, `{"a":"xy"}`},
		{"escaped letters", `{"a":"x<\u0070rivate>s</privat\u0065>y"}`, `{"a":"xy"}`},
		{"control characters in a tag", `{"a":"x<pri\u0000vate>s</\u001bprivate>y","b":"\u0000"}`, `{"a":"xy","b":"\u0000"}`},
		{"not JSON, control characters in a tag", `{"a":"x<pri\u0000vate>s</private\u007F>y`, `{"a":"xy`},
		{"only the changed string is written anew", `{"a":"\u0041","b":"\u0041<private>s</private>"}`, `{"a":"\u0041","b":"A"}`},
		{"quotes and line breaks", `{"a":"\"x\"\n<private>s\"\n</private>\\"}`, `{"a":"\"x\"\n\\"}`},
		{"unclosed takes its string only", `{"a":"x<private>s","b":"t</private>"}`, `{"a":"x","b":"t</private>"}`},
		{"nested values", `{"a":[{"b":["<private>s</private>x"]}]}`, `{"a":[{"b":["x"]}]}`},
		{"in a key", `{"a<private>s</private>":1}`, `{"a":1}`},
		{"a string alone", `"<private>s</private>x"`, `"x"`},
		{"not JSON", `prompt: <private>s</private>x`, `prompt: x`},
		{"not JSON, unclosed", `{"a":"x<private>s`, `{"a":"x`},
		{"not JSON, escaped", `{"a":"x\u003cprivate\u003es\u003c\/private\u003ey`, `{"a":"xy`},
		{"not JSON at its end", `{"a":"x<private>s</private>y"}}`, `{"a":"xy"}}`},
		{"not JSON, and escapes that are none", `["\uax01",`, `["\uax01",`},
		{"not JSON, quoted twice", `{"a":"{\"b\":\"x\\u003cprivate\\u003es`, `{"a":"{\"b\":\"x`},
		{"not JSON and nothing private", `{"a":"\u003cb\u003e`, `{"a":"\u003cb\u003e`},
		{"lines of a patch", `{"lines":[" a","+<private>","+my salary","+</private>","-b"]}`, `{"lines":[" a","+","","","-b"]}`},
		{"lines, nested tags", `["<private>","<private>s</private>","t","</private>u"]`, `["","","","u"]`},
		{"lines, closed in the middle", `["a<private>s","t</private>b","c"]`, `["a","b","c"]`},
		{"lines, a tag over two", `["<private","reason='x'>","s","</private>","a"]`, `["","","","","a"]`},
		{"lines, unclosed: to the end of the array", `{"a":["<private>","s","t"],"b":["c"]}`, `{"a":["","",""],"b":["c"]}`},
		{"lines, unclosed, then another array", `[["<private>","s"],["a"],"b"]`, `[["",""],["a"],"b"]`},
		{"lines, escaped", `["\u003cprivate\u003e","s","\u003c/private\u003e","a"]`, `["","","","a"]`},
		{"lines of several hunks", `[{"lines":["<private>"]},{"lines":["a"]}]`, `[{"lines":[""]},{"lines":["a"]}]`},
		{"a closing tag alone", `["a</private>","b"]`, `["a</private>","b"]`},
		{"numbers and words between", `["<private>",90000,true,null,"</private>",1]`, `["",null,null,null,"",1]`},
		{"containers between", `["<private>",{"pay":"s","n":[1]},["t","</private>","u"],"v</private>","a"]`, `["",{"pay":"","n":[null]},["","","u"],"","a"]`},
		{"members of an object", `{"a":"<private>","b":"c","d":"</private>"}`, `{"a":"","b":"c","d":"</private>"}`},
		{"JSON in a string, escaped", `{"text":"{\"a\":\"x\\u003cprivate\\u003es\\u003c/private\\u003ey\"}"}`, `{"text":"{\"a\":\"xy\"}"}`},
		{"JSON in JSON in a string", `{"text":"[{\"text\":\"{\\\"a\\\":\\\"\\\\u003cprivate\\\\u003es\\\"}\"}]"}`, `{"text":"[{\"text\":\"{\\\"a\\\":\\\"\\\"}\"}]"}`},
		{"JSON in a string, lines", `{"text":" [\"\\u003cprivate>\",\"s\"]"}`, `{"text":" [\"\",\"\"]"}`},
		{"JSON in a string, cut off", `{"text":"{\"a\":\"x\\u003cprivate\\u003es"}`, `{"text":"{\"a\":\"x"}`},
		{"escapes in a string that is no JSON", `{"text":"say \\u003cprivate\\u003es\\u003c/private\\u003e it"}`, `{"text":"say  it"}`},
		{"JSON inside of a text", `{"text":"log: {\"a\":\"\\u003cprivate\\u003es\\u003c\\/private\\u003e\"}"}`, `{"text":"log: {\"a\":\"\"}"}`},
		{"entities by number", `{"text":"a &#60;private&#x3E;s&#60;/private> b"}`, `{"text":"a  b"}`},
		{"entities", `{"text":"a &lt;private&gt;s&lt;/private&gt; b"}`, `{"text":"a  b"}`},
		{"empty", ``, ``},
	} {
		got, cut := CutJSON([]byte(c.in))
		if string(got) != c.want || cut != (c.in != c.want) {
			t.Errorf("%s: CutJSON(%s) = %s, %v; want %s", c.name, c.in, got, cut, c.want)
		}
	}
}

// cutAll cuts every string of a decoded JSON value; levels is how deep those that are JSON are looked into.
func cutAll(v any, levels int) any { return reference{levels}.cut(v, new(int), false) }

type reference struct{ levels int }

// cut cuts a value behind open tags; list says that it stands in one, which goes on with what is open behind it.
func (r reference) cut(v any, open *int, list bool) any {
	switch v := v.(type) {
	case string:
		text, n := r.text(v, *open)
		if list {
			*open = n
		}
		return text
	case []any:
		inside := *open
		for i := range v {
			v[i] = r.cut(v[i], &inside, true)
		}
		return v
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			key, _ := r.text(k, 0)
			inside := *open
			out[key] = r.cut(e, &inside, false)
		}
		return out
	}
	if *open > 0 {
		return nil
	}
	return v
}

// text cuts a text that stands behind so many open tags, and counts how many are open behind it.
func (r reference) text(s string, before int) (out string, open int) {
	plain := referenceControl.ReplaceAllString(s, "")
	out = referenceCut(strings.Repeat("<private>", before) + plain)
	if before == 0 && out == plain {
		out = s
	}
	for _, tag := range referenceTag.FindAllString(plain, -1) {
		switch {
		case tag[1] == '/':
			before = max(before-1, 0)
		case !strings.HasSuffix(tag, "/>"):
			before++
		}
	}
	out, _ = cutWithin(out, r.levels)
	return out, before
}

func FuzzCutJSON(f *testing.F) {
	f.Add([]byte(`{"a":"x<private>s</private>y","b":[1,"\u003cprivate>"]}`))
	f.Add([]byte(`["\ud800<private>"]`))
	f.Add([]byte(`{"a":"<private>`))
	f.Add([]byte(`{"a":"&#8203;&#0;\\u200b\\\\\u200b<private &#8203;\u200b","b":"\u003c"}`))
	f.Add([]byte(`["+<private>","x",{"a":["<private>","</private>"],"b":7},[true,null],"<private","/>","</private>"]`))
	f.Add([]byte(`{"a":"{\"b\":[\"\\u003cprivate\\u003e\",\"x\"],\"c\":\"d\"}"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		in := string(body)
		out, cut := CutJSON(body)
		if string(body) != in {
			t.Fatalf("the body was changed: %q", body)
		}
		if !cut && string(out) != in {
			t.Fatalf("CutJSON(%q) = %q, but says that nothing was cut", in, out)
		}
		var before, after any
		if len(in) > 4<<10 || !utf8.ValidString(in) || json.Unmarshal(body, &before) != nil || !plainTagsOnly(before) {
			return
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("CutJSON(%q) = %q: %v", in, out, err)
		}
		if strings.Contains(strings.ToLower(in), "private") && hasKeyTag(before) {
			return // two keys may become one
		}
		if diff := cmp.Diff(cutAll(before, innerLevels), after); diff != "" {
			t.Fatalf("CutJSON(%q) = %q: -want +got\n%s", in, out, diff)
		}
	})
}

// plainTagsOnly reports whether no string in a value could hold a tag that the expressions do not know.
func plainTagsOnly(v any) bool {
	switch v := v.(type) {
	case string:
		return !strings.Contains(v, "&") && !strings.Contains(v, `\`) && !strings.ContainsFunc(v, func(r rune) bool { return r >= utf8.RuneSelf && isInvisible(r) })
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !plainTagsOnly(e) })
	case map[string]any:
		for k, e := range v {
			if !plainTagsOnly(k) || !plainTagsOnly(e) {
				return false
			}
		}
	}
	return true
}

// TestTagsHoweverTheyAreWritten hides a word between tags in every spelling.
func TestTagsHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	invisible := rapid.SampledFrom([]string{"", "", "", "\u200b", "\u200d", "\u00ad", "\u2060", "\ufeff", "\u202a", "\ufe0f", "\U000e0041", "\u034f", "\x01", "\x7f", "\u0085", "\u009b"})
	forms := map[rune][]string{
		'<': {"<", "&lt;", "&#60;", "&#0060;", "&#x3c;", "&#X3C;", `\u003c`, `\u003C`, `\\u003c`},
		'>': {">", "&gt;", "&#62;", "&#x3E;", `\u003e`, `\\u003E`},
		'/': {"/", "&#47;", "&#x2f;", `\/`},
	}
	rapid.Check(t, func(t *rapid.T) {
		write := func(tag string) string {
			var out strings.Builder
			for _, r := range tag {
				form := string(r)
				if forms[r] != nil {
					form = rapid.SampledFrom(forms[r]).Draw(t, "form")
				} else if rapid.Bool().Draw(t, "capital") {
					form = strings.ToUpper(form)
				}
				if r != '<' {
					out.WriteString(invisible.Draw(t, "invisible"))
				}
				out.WriteString(form)
			}
			return out.String()
		}
		text := "before " + write("<private>") + "hunter2" + write("</private>") + " after\u200d"
		if got, cut := Cut(text); got != "before  after\u200d" || !cut || !MayHoldTag(text) {
			t.Fatalf("Cut(%q) = %q", text, got)
		}
		body, err := json.Marshal(map[string]any{"tool_response": []any{text}})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		out, cut := CutJSON(body)
		if err := json.Unmarshal(out, &got); err != nil || !cut || got["tool_response"].([]any)[0] != "before  after\u200d" {
			t.Fatalf("CutJSON(%q) = %q, %v", body, out, err)
		}
	})
}

func hasKeyTag(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if hasKeyTag(e) {
				return true
			}
		}
	case map[string]any:
		for k, e := range v {
			if strings.Contains(k, "<") || hasKeyTag(e) {
				return true
			}
		}
	}
	return false
}

func TestCutJSONProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{
			"hook_event_name": "UserPromptSubmit", "prompt": pieces.Draw(t, "prompt"),
			"list": []any{pieces.Draw(t, "item"), 1.5, nil, true}, "nested": map[string]any{"x": pieces.Draw(t, "nested")},
		}
		body, err := json.Marshal(value) // writes < and > as \u003c and \u003e
		if err != nil {
			t.Fatal(err)
		}
		out, _ := CutJSON(body)
		var got any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if diff := cmp.Diff(cutAll(value, innerLevels), got); diff != "" {
			t.Fatalf("%s: -want +got\n%s", body, diff)
		}
	})
}

// TestCutJSONIsLinear: neither what is nested, nor what is quoted, nor what stays open makes it slow.
func TestCutJSONIsLinear(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]func(n int) string{
		"open in each":  func(n int) string { return "[" + strings.Repeat(`"<private>",`, n) + "1]" },
		"lists of none": func(n int) string { return "[" + strings.Repeat(`[],`, 2*n) + `"<private>"]` },
		"deep":          func(n int) string { return strings.Repeat(`["<private>",`, n/8) + "1" + strings.Repeat("]", n/8) },
		"up and down": func(n int) string {
			return strings.Repeat("[", n/8) + strings.Repeat(`[["<"]],`, n) + "1" + strings.Repeat("]", n/8)
		},
		"quoted": func(n int) string {
			quoted, _ := json.Marshal("[" + strings.Repeat(`"\u003cprivate>",`, n) + "1]")
			return string(quoted)
		},
	} {
		growth.Linear(t, name, 8_000, func(n int) { CutJSON([]byte(body(n))) })
	}
}

func BenchmarkCutJSON(b *testing.B) {
	body := []byte(`{"tool_response":"` + strings.Repeat("some code <b> and more \\n", 3000) + `<private>s</private>"}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		CutJSON(body)
	}
}
