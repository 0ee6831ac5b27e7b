package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/redact"
)

// TestHiddenTokens: what terminals, pages and tools do to a token does not keep it or a half of it.
func TestHiddenTokens(t *testing.T) {
	t.Parallel()
	r := redact.New()
	const a, b = "q7Zr2Lw9Xk4Tn8Vb3", "Md6Pf5Hs1Jc0Gy2Ktw9Qe4"
	token := "gh" + "p_" + a + b[:19]
	facebook := "EA" + "A" + strings.Repeat(a+b, 3)
	wide := strings.Repeat("x ", 30)
	for _, c := range []struct{ name, text, gone string }{
		{"zero-width space", token[:12] + "\u200b" + token[12:], a[8:]},
		{"soft hyphen in the prefix", "g\u00adh" + token[2:], a[8:]},
		{"bidirectional mark", token[:20] + "\u202e" + token[20:], b[:8]},
		{"wrapped", wide + token[:25] + "\n" + token[25:] + "\n$ ", token[25:]},
		{"wrapped before it is long enough", wide + token[:14] + "\r\n" + token[14:] + "\n$ ", token[14:]},
		{"wrapped twice", wide + "sk-" + "ant-" + a + b + "\n" + strings.Repeat(a, 4) + "\n" + b + "\nok", b},
		{"at a line's start", "a\n" + facebook + "\nb", a + b},
		{"behind the number of a line", "     1→PGPASSWORD=swordfish psql\n", "swordfish"},
		{"behind the number of a line and a tab", "     7\tPGPASSWORD=swordfish psql\n", "swordfish"},
		{"of no known maker", "use zqx_" + a + b + " here", a},
	} {
		in, err := json.Marshal(map[string]string{"stdout": c.text})
		if err != nil {
			t.Fatal(err)
		}
		if out, found := r.Text(c.text); strings.Contains(out, c.gone) || found == nil {
			t.Errorf("%s: %q became %q, found %v", c.name, c.text, out, found)
		}
		out, found := r.JSON(string(in))
		if strings.Contains(out, c.gone) || found == nil || !json.Valid([]byte(out)) {
			t.Errorf("%s, JSON: %s became %s, found %v", c.name, in, out, found)
		}
	}
}

// TestEscapedInvisible: the same where JSON escapes the character.
func TestEscapedInvisible(t *testing.T) {
	t.Parallel()
	for _, escape := range []string{`\u200b`, `\u00AD`, `\ufeff`, `\u202e`} {
		in := `{"a":"gh` + `p_q7Zr2Lw9Xk4Tn8` + escape + `Vb3Md6Pf5Hs1Jc0Gy2Ktw9"}`
		if out, _ := redact.New().JSON(in); out != `{"a":"`+redact.Mark("github-token")+`"}` {
			t.Errorf("%s became %s", in, out)
		}
	}
}

// TestWhatOnlyLooksHidden: lines below a token, ids, digests and texts with marks of their script stay.
func TestWhatOnlyLooksHidden(t *testing.T) {
	t.Parallel()
	r := redact.New()
	const drawn = "q7Zr2Lw9Xk4Tn8Vb3Md6Pf5Hs1J"
	below := strings.Repeat("x ", 30) + "gh" + "p_" + drawn + drawn[:9] + "\nexport PATH=/bin\n"
	if out, _ := r.Text(below); !strings.HasSuffix(out, "]\nexport PATH=/bin\n") {
		t.Errorf("what stands below a token was changed: %q", out)
	}
	for _, s := range []string{
		"toolu_" + drawn, "agent_msg_" + drawn, "sha512-" + drawn + "==", "assets/index-" + drawn + ".js", "ses_" + drawn,
		"می\u200cخواهم", "\U0001f468\u200d\U0001f469", "a\u200bb", "node_modules/x-" + drawn + "/y",
	} {
		if out, found := r.Text(s); found != nil {
			t.Errorf("%q became %q", s, out)
		}
	}
}
