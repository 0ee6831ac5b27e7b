package evidence

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIsTest(t *testing.T) {
	t.Parallel()
	for _, c := range []string{
		"go test ./...", "cd x && go test -run 'A|B' ./... 2>&1 | tail -20", "CGO_ENABLED=1 go test -race ./...", "timeout 60 go test",
		"gotestsum -- ./...", "npm test", "npm t", "npm run test", "npm run test:unit", "npm --prefix web test", "yarn test", "pnpm -r test",
		"pnpm --filter web test", "bun test", "npx jest", "npx --yes vitest run", "node_modules/.bin/mocha", "./node_modules/.bin/jest src", "node --test",
		"pytest -q", "python -m pytest tests", "python3 -m unittest", "uv run pytest", "poetry run pytest -x", "tox -e py", "python manage.py test",
		"python tests/test_parser.py", "cargo test", "cargo nextest run", "cargo +nightly test", "mvn -q test", "./mvnw verify", "./gradlew :app:testDebugUnitTest",
		"gradle test", "make test", "make -C sub check", "make -j4 unit-test", "ninja test", "ctest --output-on-failure", "cmake --build . --target test",
		"bazel test //...", "rspec spec/a_spec.rb", "bundle exec rspec", "rake test", "bin/rails test", "phpunit", "vendor/bin/phpunit", "php artisan test",
		"composer test", "dotnet test", "swift test", "mix test", "zig build test", "stack test", "just test", "task test", "mise run test", "deno test",
		"flutter test", "sudo env A=b make test", "OUT=$(go test ./... 2>&1)", "diff want <(npm test)", "bash -lc 'go test ./...'", "time go test", "(cd x && make test)", "echo start; go test",
		"if go test; then echo ok; fi", "until go test ./...; do sleep 1; done", "if a; then b; elif make test; then c; fi", `'C:\Go\bin\go.exe' test`, "prove -l t", "bats test.bats", "go vet &&\\\n go test", "turbo run test", "playwright test",
	} {
		if !slices.ContainsFunc(Split(c), Simple.IsTest) {
			t.Errorf("%q runs tests", c)
		}
	}
	for _, c := range []string{
		"", "ls", "go build ./...", "go vet", "echo go test", `echo "go test ./..."`, `echo "$(go test)"`, "grep -r 'go test' .", "cat test.go", "git commit -m 'go test'",
		"npm install", "npm run build", "npm install jest", "cat <<EOF\ngo test ./...\nEOF", "# go test", "go test --help", "pytest --collect-only",
		"python main.py", "make", "make build", "make latest", "cargo build", "cd test", "mkdir test", "vim tests/test_a.py", "test -f x", "[ -f test ]",
		"docker build -t test .", "pip install pytest", "go install test", "ls > go test",
	} {
		if slices.ContainsFunc(Split(c), Simple.IsTest) {
			t.Errorf("%q runs no tests", c)
		}
	}
}

func TestGitCommands(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		command      string
		commit, push bool
	}{
		{"git commit -m x", true, false},
		{"git -C /p -c user.name=x commit --amend", true, false},
		{"git add . && git commit -qm 'a; b' && git push", true, true},
		{"GIT_EDITOR=true git commit", true, false},
		{"out=$(git commit -m x && git push); echo $out", true, true},
		{"git push --force-with-lease origin main", false, true},
		{"git commit --dry-run", false, false},
		{"git commit --help", false, false},
		{"git push --dry-run", false, false},
		{"git log --grep commit", false, false},
		{"echo git commit", false, false},
		{"git commit-tree x", false, false},
		{"git stash push", false, false},
		{"git", false, false},
	} {
		if got := runsGit(commands(tc.command), "commit"); got != tc.commit {
			t.Errorf("%q commits: %t", tc.command, got)
		}
		if got := slices.ContainsFunc(Split(tc.command), Simple.IsPush); got != tc.push {
			t.Errorf("%q pushes: %t", tc.command, got)
		}
	}
}

func TestCommits(t *testing.T) {
	t.Parallel()
	const out = "[main 4b44602] first commit\r\n 1 file changed, 1 insertion(+)\n[feature/x (root-commit) 0123456789ab] Fix [all] of it\n" +
		" Date: Fri Nov 27 2026\n 48 files changed, 900 insertions(+), 7 deletions(-)\n 3 files changed\n" +
		"[detached HEAD abc1234] x\n[main] no hash\n[main zzz1234] no hex\n[INFO 20261120] a log line\n [main 4b44602] indented\n[4b44602] alone\n[main 12345678] digits\n"
	want := []Commit{
		{"main", "4b44602", "first commit", 1}, {"feature/x", "0123456789ab", "Fix [all] of it", 48}, {"detached HEAD", "abc1234", "x", 0},
		{"INFO", "20261120", "a log line", 0}, {"main", "12345678", "digits", 0},
	}
	if diff := cmp.Diff(want, Commits(out)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ line, want string }{
		{"a b && c|d || e; f & g", "a b && | c | | d || | e ; | f & | g"},
		{`a 'b c' "d \" e" f\ g`, `a <b c> <d " e> <f g>`},
		{"a 2>&1 >out 3< in b", "a b"},
		{"a &>out b", "a b"},
		{"a |& b", "a | | b"},
		{"a <<E\nb && c\nE\nd", "a ; | d"},
		{"a <<-'E' x\n\tb\n\tE\nd", "a x ; | d"},
		{"a <<<b c", "a c"},
		{"a # b && c\nd", "a ; | d"},
		{"a#b", "a#b"},
		{"(a; b) | c", "a ; | b | | c"},
		{"time (a b)", "time a b"},
		{"a=$(b c; d) e", "<a=$(b c; d)> e"},
		{`a $(b "$(c)" \) ')') d`, `a <$(b "$(c)" \) ')')> d`},
		{"a $(b; c", "a <$(b; c>"},
		{"a $b ${c} $", "a $b ${c} $"},
		{"a <(b c) > >(d) e", "a <<(b c)> e"},
		{"a; ; b ;; c", "a ; | b ; | c"},
		{"a \\\n b", "a b"},
		{"a ''", "a <>"},
		{"'unclosed && a", "<unclosed && a>"},
		{"&& ; |", ""},
		{"a <<E", "a"},
	} {
		var parts []string
		for _, c := range Split(tc.line) {
			words := make([]string, len(c.Words))
			for i, w := range c.Words {
				if words[i] = w; w == "" || strings.Contains(w, " ") {
					words[i] = "<" + w + ">"
				}
			}
			parts = append(parts, strings.TrimSpace(strings.Join(words, " ")+" "+c.Next))
		}
		if got := strings.Join(parts, " | "); got != tc.want {
			t.Errorf("Split(%q) = %s, want %s", tc.line, got, tc.want)
		}
	}
}

func TestSplitKeepsTheText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line string
		want []string
	}{
		{" a  'b' >c 2>&1 && d", []string{"a  'b' >c 2>&1", "d"}},
		{"(a; b) | c", []string{"(a", "b)", "c"}},
		{"a <<E | b\nx && y\nE\n c", []string{"a <<E", "b", "c"}},
		{"# no\na # yes\n", []string{"a # yes"}},
		{"a \\\n b", []string{"a \\\n b"}},
		{"do a; done", []string{"do a", "done"}},
	} {
		var got []string
		for _, c := range Split(tc.line) {
			got = append(got, c.Text)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("Split(%q) (-want +got):\n%s", tc.line, diff)
		}
	}
}

// TestSplitInput: a here-document belongs to the command that it is announced in, and is not split itself.
func TestSplitInput(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"a <<E\nb && c\nE\nd":                    {"b && c\n", ""},
		"a <<E && b <<-F | c\nx\nE\n\ty\n\tF\nd": {"x\n", "\ty\n", "", ""},
		"a <<E <<F\nx\nE\ny\nF":                  {"y\n"},
		"a; b <<'E'\n$(x)\nno end":               {"", "$(x)\nno end"},
		"<<E a\nx\nE":                            {"x\n"},
		"a <<E":                                  {""},
	} {
		var got []string
		for _, c := range Split(line) {
			got = append(got, c.Input)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Split(%q) (-want +got):\n%s", line, diff)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a && b | c", "x <<E\ny\nE", `bash -c "bash -c 'a'"`, "$((", "<(", `"'`, "\\", "<<''", "(a;)&", "2>(a)", "'", "\v"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		rest := line
		for _, c := range Split(line) {
			_, after, ok := strings.Cut(rest, c.Text)
			if len(c.Words) == 0 || c.Text == "" || !ok {
				t.Fatalf("%+v is not in %q, or empty", c, rest)
			}
			rest = after
			c.IsTest()
			c.IsPush()
		}
	})
}
