package evidence

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClaims(t *testing.T) {
	t.Parallel()
	const full = "4f2c9d1e0b7a3c5d6e8f9a0b1c2d3e4f5a6b7c8d"
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		// Words for a commit.
		{"word before", "Commit 4f2c9d1 landed.", []string{"4f2c9d1"}},
		{"quoted subject", `Commit 4f2c9d1 "Add sprite atlas builder" landed.`, []string{"4f2c9d1"}},
		{"as code", "shipped in commit `9d3e7aa`", []string{"9d3e7aa"}},
		{"whole hash", "The commit is " + full + ".", []string{full}},
		{"words between", "commit hash is now 4f2c9d1", []string{"4f2c9d1"}},
		{"commit id", "commit id 4f2c9d1", []string{"4f2c9d1"}},
		{"with a colon", "commit: 4f2c9d1", []string{"4f2c9d1"}},
		{"with an equals sign", "commit=4f2c9d1", []string{"4f2c9d1"}},
		{"word after", "the 4f2c9d1 commit broke it", []string{"4f2c9d1"}},
		{"verb after", "`4f2c9d1` was reverted, 9d3e7aa merged", []string{"4f2c9d1", "9d3e7aa"}},
		{"sha", "SHA 4f2c9d1", []string{"4f2c9d1"}},
		{"HEAD", "HEAD is now at 4f2c9d1 Fix the parser", []string{"4f2c9d1"}},
		{"merge", "Merged 4f2c9d1 into main", []string{"4f2c9d1"}},
		{"cherry-pick", "cherry-picked 9d3e7aa onto release", []string{"9d3e7aa"}},
		{"revert", "This reverts 9d3e7aa", []string{"9d3e7aa"}},
		{"bisect", "bisected the crash to 9d3e7aa", []string{"9d3e7aa"}},
		{"git command", "ran git show 4f2c9d1", []string{"4f2c9d1"}},
		{"git reset", "git reset --hard 4f2c9d1", []string{"4f2c9d1"}},
		{"list of them", "Commits 4f2c9d1, 9d3e7aa and 1a2b3c4 fix it", []string{"4f2c9d1", "9d3e7aa", "1a2b3c4"}},
		{"list as code", "commits `4f2c9d1`, `9d3e7aa`", []string{"4f2c9d1", "9d3e7aa"}},
		{"each once", "commit 4f2c9d1, again commit 4f2c9d1", []string{"4f2c9d1"}},
		{"uppercase", "commit 4F2C9D1", []string{"4F2C9D1"}},
		{"line break", "fixed in commit\n4f2c9d1", []string{"4f2c9d1"}},
		{"German", "Der Commit 4f2c9d1 behebt das", []string{"4f2c9d1"}},
		{"German preposition", "behoben im 4f2c9d1", []string{"4f2c9d1"}},
		{"Spanish", "corregido en la revisión 4f2c9d1", []string{"4f2c9d1"}},
		{"Russian", "исправлено в коммите 4f2c9d1", []string{"4f2c9d1"}},
		{"Chinese without blanks", "在提交4f2c9d1中修复", []string{"4f2c9d1"}},
		{"Japanese", "コミット 4f2c9d1 で修正", []string{"4f2c9d1"}},
		{"Korean", "커밋 4f2c9d1에서 수정", []string{"4f2c9d1"}},
		// Digits alone, letters alone.
		{"digits right behind the word", "commit 1234567", []string{"1234567"}},
		{"digits behind git", "git show 1234567", []string{"1234567"}},
		{"digits far behind", "the commit changed line 1234567", nil},
		{"a date", "released with the commit of 20261120", nil},
		{"letters right behind the word", "commit deadbeef", []string{"deadbeef"}},
		{"an English word", "The commit defaced the page", nil},
		{"an English word as code", "commit `defaced`", []string{"defaced"}},
		// Forms without a word.
		{"preposition", "Fixed in 9d3e7aa: the pool opens before the listener.", []string{"9d3e7aa"}},
		{"two of them", "Startup order fixed in 9d3e7aa; atlas builder in 4f2c9d1", []string{"9d3e7aa", "4f2c9d1"}},
		{"parentheses", "Raised the limit (4f2c9d1).", []string{"4f2c9d1"}},
		{"parentheses and code", "Raised the limit (`4f2c9d1`).", []string{"4f2c9d1"}},
		{"log lines", "Done:\n4f2c9d1 fix the parser\n- 9d3e7aa add a test", []string{"4f2c9d1", "9d3e7aa"}},
		{"range", "git log over 4f2c9d1..9d3e7aa", []string{"4f2c9d1", "9d3e7aa"}},
		{"range of three dots", "see 4f2c9d1...9d3e7aa", []string{"4f2c9d1", "9d3e7aa"}},
		{"range to HEAD", "see 4f2c9d1..HEAD", []string{"4f2c9d1"}},
		{"from to", "moved from 4f2c9d1 to 9d3e7aa", []string{"4f2c9d1", "9d3e7aa"}},
		{"parent", "compared with 4f2c9d1^", []string{"4f2c9d1"}},
		{"ancestor", "compared with 4f2c9d1~2", []string{"4f2c9d1"}},
		{"at mark", "deployed main@4f2c9d1", []string{"4f2c9d1"}},
		{"link", "see https://github.com/o/n/commit/4f2c9d1e0b7a", []string{"4f2c9d1e0b7a"}},
		{"link with a fragment", "https://gitlab.com/o/n/-/commit/4f2c9d1#note_1", []string{"4f2c9d1"}},
		{"describe", "built v1.2.0-14-g4f2c9d1 today", []string{"4f2c9d1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, Claims(tc.text)); diff != "" {
				t.Errorf("Claims(%q) (-want +got):\n%s", tc.text, diff)
			}
		})
	}
}

func TestNoClaims(t *testing.T) {
	t.Parallel()
	const full = "4f2c9d1e0b7a3c5d6e8f9a0b1c2d3e4f5a6b7c8d"
	for _, tc := range []struct{ name, text string }{
		{"colour", "commit changed the border to #aabbcc1"},
		{"colour with alpha", "merged the colours #1a2b3c4d and #5e6f7a8b"},
		{"colour by word", "commit with colour 4f2c9d1"},
		{"build number", "Merged build 12345678"},
		{"build hash", "pushed build 4f2c9d1"},
		{"issue number", "commit closes #1234567"},
		{"UUID", "commit by session 550e8400-e29b-41d4-a716-446655440000"},
		{"UUID right behind", "commit 550e8400-e29b-41d4-a716-446655440000"},
		{"SHA-256", "commit " + strings.Repeat("4f2c9d1e", 8)},
		{"digest", "pushed sha256:4f2c9d1e0b7a"},
		{"image", "merged image 4f2c9d1e0b7a"},
		{"constant", "the commit sets 0x4f2c9d1"},
		{"address", "crash at address 7fff5fbff8c0 after commit"},
		{"address by word", "pointer 00007ffd1234abcd"},
		{"checksum", "commit with checksum 4f2c9d1e"},
		{"session id", "session id 4f2c9d1e"},
		{"some id", "from id 4f2c9d1e"},
		{"no context", "The parser printed 4f2c9d1 and went on"},
		{"file name", "commit adds app.4f2c9d1e.js"},
		{"path", "commit removes .git/objects/4f2c9d1e0b7a"},
		{"pseudo version", "commit pins v0.0.0-20240822202345-3c0e61ca19c9"},
		{"another repository's", "merged actions/checkout@8f4b7f84864484a7bf31766abe9204da3cbe65b3"},
		{"query", "commit loads app.js?v=4f2c9d1"},
		{"identifier", "commit renames test_4f2c9d1 and 4f2c9d1_test"},
		{"six digits", "commit 4f2c9d"},
		{"mixed case", "commit 4f2C9d1"},
		{"too long", "commit " + full + "0"},
		{"another sentence", "I made a commit. The printer says 4f2c9d1 here"},
		{"another paragraph", "I made a commit\n\nThe printer says 4f2c9d1 here"},
		{"number with a unit", "commit raised the limit to 10485760 bytes"},
		{"container listing", "4f2c9d1e0b7a nginx"},
		{"index of a diff", "commit:\ndiff --git a/x b/x\nindex 4f2c9d1..9d3e7aa 100644\n--- a/x"},
		{"mail", "commit by 4f2c9d1@example.org"},
		{"empty", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := Claims(tc.text); got != nil {
				t.Errorf("Claims(%q) = %q", tc.text, got)
			}
		})
	}
}

func TestClaimsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 200 {
		b.WriteString("commit a00000" + string(rune('0'+i%10)) + string(rune('0'+i/10%10)) + string(rune('0'+i/100)) + "\n")
	}
	if got := Claims(b.String()); len(got) != maxClaims {
		t.Errorf("%d claims, want %d", len(got), maxClaims)
	}
}

func FuzzClaims(f *testing.F) {
	for _, s := range []string{"commit 4f2c9d1, `9d3e7aa`", "a..4f2c9d1", "v1-2-g4f2c9d1", "(4f2c9d1)", "x@4f2c9d1", "提交4f2c9d1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Claims(text)
		if len(got) > maxClaims {
			t.Fatalf("%d claims", len(got))
		}
		for _, h := range got {
			if len(h) < 7 || len(h) > 40 || strings.Trim(strings.ToLower(h), "0123456789abcdef") != "" || !strings.Contains(text, h) {
				t.Errorf("%q is no hash of the text", h)
			}
		}
		if again := Claims(text); !slices.Equal(got, again) {
			t.Errorf("first %q, then %q", got, again)
		}
	})
}
