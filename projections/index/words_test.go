package index

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func termsOf(text string, query bool) []string {
	var out []string
	newAnalyzer().terms(text, query, func(term []byte, _ role) { out = append(out, string(term)) })
	return out
}

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		want       string // terms, separated by spaces
	}{
		{"stems", "Running tests failed", "run test fail"},
		{"case", "SQLite WAL", "sqlite sq lite wal"},
		{"contractions", "don't it's we're", "don it we"},
		{"typographic apostrophe", "the observer\u2019s log", "the observ log"},
		{"camel case", "parseAgentXml", "parseagentxml pars agent xml"},
		{"acronym in camel case", "HTTPServer", "httpserver http server"},
		{"snake case", "session_store", "sessionstor session store"},
		{"shouting snake case", "MAX_RESTARTS", "maxrestart maximum restart"},
		{"kebab case", "read-only", "readon read onli"},
		{"qualified name", "fmt.Println", "fmt.println fmt println"},
		{"file", "session_store.go", "sessionstore.go session store go"},
		{"path", "internal/auth/token_cache.go", "intern auth tokencache.go token cach go internal/auth/tokencache.go"},
		{"absolute path", "/etc/hosts", "etc host etc/hosts"},
		{"windows path", `src\main.rs`, "src main.rs main rs src/main.rs"},
		{"flag", "--no-verify", "noverifi no verifi --noverify"},
		{"short word flag", "--force", "forc --force"},
		{"languages", "C++ and C# in Go", "c c++ and c c# in go"},
		{"version", "v2.6.1", "v2.6.1 v2"},
		{"hash", "af12a84", "af12a84"},
		{"mail", "ann@example.org", "ann@example.org ann exampl org"},
		{"punctuation", "(why?) yes, now: end.", "whi yes now end"},
		{"umlauts", "Größe über Straße", "gross uber strass"},
		{"decomposed umlaut", "fu\u0308r", "fur"},
		{"french", "déjà été", "deja ete"},
		{"cyrillic", "Ещё Йод", "еще иод"},
		{"full width", "ＡＢＣ", "abc"},
		{"han", "検索結果", "検 検索 索 索結 結 結果 果"},
		{"one letter of han", "猫", "猫"},
		{"kana beside ascii", "Goのログ", "go の のロ ロ ログ グ"},
		{"hangul", "검색", "검 검색 색"},
		{"nothing", " \t-- ... '", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(termsOf(tc.text, false), " "); got != tc.want {
				t.Errorf("terms of %q: got %q, want %q", tc.text, got, tc.want)
			}
		})
	}
}

func TestQueryOfScriptWithoutSpacesUsesPairs(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"検索", "索結", "結果"}, termsOf("検索結果", true)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Whoever writes a name in another style must find it.
func TestStylesOfANameMeet(t *testing.T) {
	t.Parallel()
	want := termsOf("sessionStore", false)[0]
	for _, style := range []string{"session_store", "session-store", "SessionStore", "SESSION_STORE"} {
		if got := termsOf(style, true); !slices.Contains(got, want) {
			t.Errorf("%s gives %q, which lacks %q", style, got, want)
		}
	}
}

func TestLongWordsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x1", 400)
	for _, text := range []string{long, "a/" + long, long + "_" + long, strings.Repeat("ü9", 300), "é" + long} {
		for _, term := range termsOf(text, false) {
			if len(term) > maxCompoundBytes+2 {
				t.Errorf("a term of %d bytes from %.20s", len(term), text)
			}
		}
	}
	if got := termsOf(long, true); !slices.Equal(got, termsOf(long, false)) {
		t.Error("a long word is cut differently in queries")
	}
}

func TestQueryTermsLeaveStopWordsOut(t *testing.T) {
	t.Parallel()
	names := func(text string) []string {
		var out []string
		for _, t := range queryTerms(newAnalyzer(), text) {
			out = append(out, t.text)
		}
		return out
	}
	if diff := cmp.Diff([]string{"log", "logopen", "open"}, names("where is the log opened")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"is", "the", "where"}, names("where is the")); diff != "" {
		t.Errorf("only stop words: -want +got\n%s", diff)
	}
}

func TestSuffixes(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]string{
		"/a/b/c.go": {"c.go", "b/c.go", "a/b/c.go"},
		"./x.go":    {"x.go"},
		`w\v\u.go`:  {"u.go", "v/u.go", "w/v/u.go"},
	} {
		if diff := cmp.Diff(want, suffixes(path)); diff != "" {
			t.Errorf("%s: -want +got\n%s", path, diff)
		}
	}
	deep := "/a/b/c/d/e/f/g/h/i/j/k.go"
	if !slices.Contains(suffixes(deep), fileTerm(deep)) {
		t.Errorf("%s is not found by itself: %q", deep, fileTerm(deep))
	}
	if got := len(suffixes(strings.Repeat("d/", 500) + "f")); got != maxFolders {
		t.Errorf("a deep path gives %d terms, want %d", got, maxFolders)
	}
}

// FuzzTerms holds that analysis ends, bounds its terms, gives valid text, and that a text's own words find it.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"parseAgentXml --no-verify a/b_c.go", "検索 Größe\u0308", "''\u2019s c++ c#", "\xff\xfe_-.", "ǅz İx ß"} {
		f.Add(s)
	}
	a := newAnalyzer()
	f.Fuzz(func(t *testing.T, text string) {
		have := map[string]bool{}
		a.terms(text, false, func(term []byte, _ role) {
			if len(term) == 0 || len(term) > 4*maxCompoundBytes || !utf8.Valid(term) {
				t.Fatalf("term %q of %d bytes", term, len(term))
			}
			have[string(term)] = true
		})
		a.terms(text, true, func(term []byte, _ role) {
			if !have[string(term)] {
				t.Fatalf("%q asks for %q, which its own text lacks", text, term)
			}
		})
	})
}
