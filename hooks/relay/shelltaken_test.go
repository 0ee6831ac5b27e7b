package relay

import "testing"

// TestSearchesCountByProgram: the same letter lists files for one search, and follows links for another.
func TestSearchesCountByProgram(t *testing.T) {
	t.Parallel()
	checkLines(t, false, `
rg -L PASS .env
rg -Ln KEY .env
rg -rL x .env
rg -rq y .env
rg -r -q y .env
rg --replace -l y .env
rg --silent x .env
rg -l --json x .env
grep -e -c .env
grep -ie -c .env
grep --regexp -l .env
grep -f -c .env
grep -n -- -c .env
git grep -l -Ocat PASS -- .env
git grep -n -e -l -- .env
ag -q x .env
ag --silent x .env
ag -G -l x .env
`)
	checkLines(t, true, `
rg -l x .env
rg -iLl x .env
rg --hidden -c x .env
rg --quiet x .env
rg -A 3 -l x .env
grep -rlL x .env
grep -hc x .env
grep --color -l x .env
grep -A3 -q x .env
grep -e NOTE -l .env
grep -ie NOTE -c .env
git grep -hL x -- .env
git grep -l x -- .env
ag -l x .env
ag -c x .env
`)
}

// checkLines looks at lines whose output is to stay as it is, or to go.
func checkLines(t *testing.T, stays bool, text string) {
	t.Helper()
	for _, line := range lines(text) {
		f := (&Rules{}).Look("/s", `{"command":`+quotedText(line)+`}`)
		if stayed := f.Left == "" || f.OutputStays; stayed != stays {
			t.Errorf("%s: got %+v", line, f)
		}
	}
}
