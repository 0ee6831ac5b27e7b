package privacy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/testkit/growth"
)

// TestOrdinaryWorkStays: commands and tools that speak of what looks like a private file, or use one, and print nothing of it.
func TestOrdinaryWorkStays(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"grep -rn process.env src/", "rg 'import.meta.env'", `grep -rn "event.key" src/`, "rg -n -A 3 event.key src", "git log -S event.key", "git log --grep this.key",
		"git grep event.key", "jq -r .metadata.key x.json", "npm test -- --grep this.key", "go doc crypto/tls.Config.key", "go test ./internal/credentials",
		"go test google.golang.org/grpc/credentials", "ls src/credentials", "source .env && go test ./...", ". ./.env; make", "test -f .env && npm test",
		"[ -f .env ] || exit 1", "docker run --env-file .env app", "docker run --env-file=.env app", "docker compose --env-file .env up", "ls -la .env",
		"echo .env >> .gitignore", "cp .env.example .env", "mv .env .env.old", "rm -f .env", "chmod 600 .env", "stat .env", "touch .env", "git add .env",
		"git rm --cached .env", "git check-ignore .env", "curl --cacert ca.pem https://localhost", "curl --cert a.pem --key server.key https://localhost",
		"ssh -i ~/.ssh/id_rsa host uptime", "git commit -m 'print .env'", "find . -name .env", "find . -name '*.key'", "export $(cat .env | xargs) && npm test", "env $(cat .env | xargs) npm start", "ENV_FILE=.env npm start", "dotenv -e .env -- go test", "direnv allow .envrc", "gh secret set -f .env",
		"kubectl create secret generic x --from-env-file=.env", "node --env-file=.env app.js", "export A=$(cat id_rsa)",
		"sed -n 's/process.env//p' a.js", "awk '/event.key/' a.js", "node -e \"t('process.env.PORT')\"", "cat > README.md <<'EOF'\nRun source .env, then cat .env.\nEOF",
		"git commit -m \"$(cat <<'EOF'\nread .env\n\ncat .env\nEOF\n)\"", "cat *.json", "cat *", "ls # cat .env", "ls -d .*", "sed 's/.*//' x", "grep -rn '.*' src", "rg -n .* src", "find . -name '.*'", "rm -rf .*", "expr x : '.*'", "rg --glob '!.env' TODO", "go test -run 'A.*' ./env",
		"ps aux", "ps -ef", "ps -u alice", "jq .env x.json", "jq -n 'env.HOME'", "systemctl status x", "env -u X make", "grep -rn 'console.log(process.env)' src",
	} {
		if f := (&Rules{}).Inspect("/s", `{"command":`+quotedText(line)+`}`); f != (Finding{}) {
			t.Errorf("%s: got %+v", line, f)
		}
	}
	for _, input := range []string{
		`{"file_path":"/s/src/locales/en/auth.json"}`, `{"url":"https://docs.example/process.env"}`, `{"command":["grep","-rn","process.env","src"]}`,
		`{"command":["grep","env","x"]}`, `{"args":["source",".env"]}`, `{"chars":"y\n"}`, `{"args":["go","test","./env"]}`,
	} {
		if f := (&Rules{}).Inspect("/s", input); f != (Finding{}) {
			t.Errorf("%s: got %+v", input, f)
		}
	}
}

// TestContentsAreFound in the ways in which a file is named without its name standing there alone.
func TestContentsAreFound(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"cat .*", "head -n 1 -- .*", "cat .env*", "cat .en?", "cat .{env,envrc}", "cat conf/.env.[lp]*", "cat *.pem", "cat ~/.ssh/*", "head -3 .e*", `python3 -c "print(open('.env').read())"`,
		`node -e "console.log(require('fs').readFileSync('.env').toString())"`, `node -e "fs.readFileSync('server.key')"`, "cd ~/.ssh && cat deploy",
		"cd /s/x; cd ~/.aws; cat credentials", "pushd /etc && cat shadow", "python3 - <<'X'\nprint(open('.env').read())\nX", "bash <<X\ncat .env\nX",
		"find . -name .env -exec cat {} \\;", "echo .env | xargs cat", "grep -v '^#' .env", "grep -e A .env", "awk -F= '{print $2}' .env", "cat < .env",
		"while read l; do echo $l; done < .env", "git show HEAD:.env", "sudo -u bob cat .env", "openssl rsa -in server.key -text", "cat server.key", "cp .env /dev/stdout",
		"ssh host 'cat .env'", "docker exec web cat .env", "xargs -a .env -n1 echo", "FOO=1 timeout 5 cat .env", "env $(cat .env) printenv A; cat .env", "set -x; source .env; cat .env", "cat \"$(pwd)/.env\"",
	} {
		if f := (&Rules{}).Inspect("/s", `{"command":`+quotedText(line)+`}`); f.LeftOut != LeftFile || f.OutputStays {
			t.Errorf("%s: got %+v", line, f)
		}
	}
	for _, input := range []string{`{"args":["cat",".env"]}`, `{"uris":["file:///w/.env"]}`, `{"command":["bash","-lc","cat .env"]}`, `{"a":[{"command":["ls"]},{"command":["cat",".env"]}]}`} {
		if f := (&Rules{}).Inspect("/s", input); f.LeftOut != LeftFile || f.OutputStays {
			t.Errorf("%s: got %+v", input, f)
		}
	}
	if f := (&Rules{}).Inspect("/home/a/.ssh", `{"command":"cat deploy"}`); f.LeftOut != LeftFile {
		t.Errorf("in a private folder: got %+v", f)
	}
	if f := (&Rules{}).Inspect("/s", `{"command":"echo A=1 > .env && go test ./x"}`); f.LeftOut != LeftFile || !f.OutputStays {
		t.Errorf("a file that is only written: got %+v", f)
	}
}

// TestListingsAreFound in the ways in which the environment is listed without a plain env.
func TestListingsAreFound(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		`{"command":"bash -lc env"}`, `{"command":["bash","-lc","env"]}`, `{"command":"sh -c printenv"}`, `{"chars":"env\n"}`, `{"command":"env -u X"}`, `{"command":"env -u X -C /"}`,
		`{"command":"python3 - <<'X'\nimport os\nprint(os.environ)\nX"}`, `{"command":"ps eww"}`, `{"command":"ps auxe"}`, `{"command":"node -p process.env"}`,
		`{"command":"ruby -e 'p ENV'"}`, `{"command":"jq -n env"}`, `{"command":"jq -n '$ENV'"}`, `{"command":"systemctl --user show-environment"}`, `{"command":"php -i"}`,
		`{"command":"awk 'BEGIN{for(k in ENVIRON)print k, ENVIRON[k]}'"}`, `{"command":"sudo -E env"}`, `{"command":"bash <<X\nenv\nX"}`,
	} {
		if f := (&Rules{}).Inspect("/s", input); f.LeftOut != LeftEnvironment || f.OutputStays {
			t.Errorf("%s: got %+v", input, f)
		}
	}
}

// TestOutputsAreCut: between « and » stands what goes.
func TestOutputsAreCut(t *testing.T) {
	t.Parallel()
	const variables = "SHELL=/bin/sh\nPATH=/bin\nHOME=/root\nTOKEN=hunter\nLANG=C"
	for _, c := range []string{
		"«.env:3:SMTP=x»", "a.go:1:x\n«.env:3:SMTP=x\n.env:4:A=b\n.env-5-c»\nb.go:2:y", "«./conf/.env:SMTP=x»\nok", "«\x1b[35m.env\x1b[0m:3:SMTP=x»",
		"«\x1b]0;a title\a.env:3:SMTP=x»", "«\x1b.env:3:SMTP=x»", "«./\x1bDc.env:3:SMTP=x»\nok",
		"diff --git a/.env b/.env\n«index 1..2\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-A=1\n+A=2»\ndiff --git a/x.go b/x.go\n@@ -1 +1 @@\n+y",
		"diff --git a/x b/.env\n«--- -- a\n+++ ++ b\n+A=1»\ncommit 123\n+ok", "--- a/.env\n«+++ b/.env\n@@ @@\n+A=1»\nok", "diff --cc .env\n«++A=1»",
		".env\n«3:SMTP=x\n4-y»\n\nsrc/a.go\n3:z", "before\n«" + variables + "»\nafter", "«declare -x " + strings.ReplaceAll(variables, "\n", "\ndeclare -x ") + "»",
		"environ({«'PATH': '/bin', 'HOME': '/root', 'A': 'x'»})",
	} {
		want := c
		for strings.Contains(want, "«") {
			before, rest, _ := strings.Cut(want, "«")
			gone, after, _ := strings.Cut(rest, "»")
			mark := leftMark("contents of a dotenv file")
			if strings.Contains(gone, "PATH") {
				mark = leftMark(environment)
			}
			want = before + mark + after
		}
		output := strings.NewReplacer("«", "", "»", "").Replace(c)
		got, left := (&Rules{}).CutOutput("/s", output, Finding{})
		if got != want || len(left) != 1 {
			t.Errorf("%q:\n got %q (%v)\nwant %q", output, got, left, want)
		}
		quoted := `{"mode":"content","content":` + quotedText(output) + `}`
		if got, _ := (&Rules{}).CutOutput("/s", quoted, Finding{}); got != `{"mode":"content","content":`+quotedText(want)+`}` && !strings.Contains(want, environment) {
			t.Errorf("%s:\n got %s", quoted, got)
		}
	}
}

// TestOutputsStay that only look like it.
func TestOutputsStay(t *testing.T) {
	t.Parallel()
	for _, output := range []string{
		"", "ok", "--- FAIL: TestX (0.00s)\n    x_test.go:12: got .env", "src/a.js:3: const x = process.env.PORT", "-rw-r--r-- 1 a a 45 Nov 21 05:15:11 .env",
		"modified:   .env\n", "server.key: wrong type", "credentials: none", "2026-11-21 05:15:00 x", "PATH=/bin\nHOME=/root\n", "diff --git a/x.go b/x.go\n+y\n.env is new",
		`{"PATH":"/bin","HOME":"/root","A":1}`, ".env\n.env.example\nmain.go", "GOPATH=/go\nGOROOT=/x\nGOOS=a\nGOARCH=b\nGOFLAGS=\nGOENV=/h",
		"#!/bin/sh\nHOME=$(mktemp -d)\nPATH=$HOME/bin:$PATH\nfail=0\n" + strings.Repeat("run it\n", 50) + "count=3\nname=x\nexit $fail",
		"HOME=/h\nPATH=/b\n" + strings.Repeat("run it\n", 20) + "a=1\nb=2\nc=3\n",
		"const names = {HTTP:'x', PATH:'/a', GET:'g', POST:'p', PUT:'u', DELETE:'d', HEAD:'h'}\n" + strings.Repeat("go()\n", 300) + "x = {HOME:'/h'}",
	} {
		if got, left := (&Rules{}).CutOutput("/s", output, Finding{}); got != output || left != nil {
			t.Errorf("%q: got %q, %v", output, got, left)
		}
	}
}

// TestListingsAreCutAlone leaves what stands around a listing of the environment.
func TestListingsAreCutAlone(t *testing.T) {
	t.Parallel()
	lines := "PATH=/bin\nHOME=/root\nTERM=x\nKEY=hunter22\nbegun\nand ended\nLANG=C"
	members := `PATH:'/bin', HOME:'/root', TERM:'x', KEY:'hunter22', LANG:'C', A1:'a', B1:'b', SHELL:'sh'`
	around := strings.Repeat("some work\n", 150)
	for _, listed := range []string{lines, members} {
		got, left := (&Rules{}).CutOutput("/s", around+listed+"\n"+around, Finding{})
		if !strings.HasPrefix(got, around) || !strings.HasSuffix(got, around) || strings.Contains(got, "hunter22") || len(got) > 2*len(around)+300 || len(left) != 1 {
			t.Errorf("%.20s: got %d bytes of %d, %v", listed, len(got), 2*len(around)+len(listed), left)
		}
	}
	whole := `{"` + strings.NewReplacer(":'", `":"`, "', ", `", "`, "'", `"`).Replace(members) + `}`
	if got, left := (&Rules{}).CutOutput("/s", whole, Finding{}); strings.Contains(got, "hunter22") || len(left) != 1 {
		t.Errorf("as JSON: got %s, %v", got, left)
	}
}

// TestLongCommandsAreCutToTheirEnd has a file of which only the beginning is looked at.
func TestLongCommandsAreCutToTheirEnd(t *testing.T) {
	t.Parallel()
	command := "cat > .env <<'EOF'\n" + strings.Repeat("A=1234567\n", maxCommand/9) + "SMTP=hunter22\nEOF\n"
	f := (&Rules{}).Inspect("/s", `{"command":`+quotedText(command)+`}`)
	if f.LeftOut != LeftFile {
		t.Fatalf("got %+v", f)
	}
	cut := (&Rules{}).Cut(`{"command":`+quotedText(command)+`}`, f)
	if strings.Contains(cut, "hunter22") || strings.Contains(cut, "A=1234567") {
		t.Errorf("%d bytes of the file stay", len(cut))
	}
}

// TestIgnoredByOtherNames looks at ignored files behind links, folders that are entered, patterns, variables and scripts.
func TestIgnoredByOtherNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{"secret", "sub/priv", "open"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{ignore.File: "secret/\n/sub/priv/\n", "secret/a.txt": "x", "open/b.txt": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "secret", "one": "secret/a.txt", "away": dir} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	rules := NewRules(filepath.Join(dir, "home"), Switches{})
	for input, want := range map[string]bool{
		`{"file_path":"` + dir + `/link/a.txt"}`: true, `{"file_path":"` + dir + `/link/new/b"}`: true, `{"file_path":"` + dir + `/away/secret/a.txt"}`: true,
		`{"command":"cat one"}`: true, `{"command":"cd sub && cat priv/x"}`: true, `{"command":"cat sec*/a.txt"}`: true, `{"command":"cat ` + dir + `/s?cret/*"}`: true,
		`{"command":"cat {secret,open}/a.txt"}`: true, `{"command":"cat \"$PWD/secret/a.txt\""}`: true, `{"command":"cat \"$(pwd)/secret/a.txt\""}`: true,
		`{"command":"python3 -c \"open('secret/a.txt')\""}`: true, `{"command":"bash -c 'cd sub; cat priv/x'"}`: true,
		`{"command":"cat open/*"}`: false, `{"command":"cat $PWD/open/b.txt"}`: false, `{"command":"cd open && cat b.txt"}`: false, `{"file_path":"` + dir + `/away/open/b.txt"}`: false,
	} {
		if f := rules.Inspect(dir, input); f.Ignored != want {
			t.Errorf("%s: got %+v", input, f)
		}
	}
	if why := rules.Skips("x", dir+"/link"); why == "" {
		t.Error("a link to an ignored folder is recorded")
	}
	f := rules.Inspect(dir, `{"command":"cd sub && grep -rn x ."}`)
	got, left := rules.CutOutput(dir, "./priv/x:1:hunter\n./pub:2:y", f)
	if want := leftMark("lines of an ignored file") + "\n./pub:2:y"; got != want || len(left) != 1 || left[0] != LeftIgnored {
		t.Errorf("got %q, %v", got, left)
	}
}

func TestLookTakesLinearTime(t *testing.T) {
	t.Parallel()
	between := strings.Repeat("ok\n", maxLinesBetween+1)
	listed, printed := "PATH=/b\nHOME=/x\nA=\nB=\nC=\n"+between, "environ({'PATH': '/b', 'HOME': '/x'})\n"
	members, userprofile := "PATH:'b',HOME:'x',A1:'a',B1:'b',C1:'c',D1:'d',E1:'e',F1:'f'\n"+strings.Repeat(between, mostApart/len(between)+1), strings.ReplaceAll(listed, "HOME", "USERPROFILE")
	for _, unit := range []string{
		"environ({})\n", "{\"path\":\".env\"}\n", "==> .env <==\nA\n", "| * ", "{\"a\":[", "PATH=/b\n", ".env\n3:x\n", "diff --git a/.env b/.env\n+A\n", "PATH=/b\nHOME=/x\nB=\nC=\n", listed, printed, members, userprofile, listed + printed + members, "environ({", "environ({'PATH':",
		"-a-1-", "x:1:y\n", "A=1 ", "sudo env ", "env -u ", "sudo set > a ", "cat <<A ", "cat <<A\n", "$(", "(", "`", "bash -c 'x y' ", "a ; ", "'", "\"$(", "{a,b}", ".env* ", "export ", "cd x;", "cd $(", "*/",
	} {
		growth.Linear(t, unit, 16<<10, func(size int) {
			input := strings.Repeat(unit, size/len(unit))
			f := (&Rules{}).Inspect("/s", input)
			(&Rules{}).Cut(input, f)
			(&Rules{}).CutOutput("/s", input, Finding{})
		})
	}
}

// FuzzOutputs: what is cut of JSON is JSON, and what is not the same has been counted.
func FuzzOutputs(f *testing.F) {
	f.Add("a.go:1:x\n.env:3:SMTP=x\n")
	f.Add("diff --git a/.env b/.env\n+A=1\n--- a\n+++ b")
	f.Add("diff \ndiff -\n")
	f.Add("PATH=/b\nHOME=/x\nA=\nB=\nC=\n")
	f.Add(`{"a":".env:1:x","b":[".env\n1:x"]}`)
	f.Fuzz(func(t *testing.T, output string) {
		got, left := (&Rules{}).CutOutput("/s", output, Finding{})
		if len(left) == 0 && got != output {
			t.Errorf("%q became %q, and nothing is counted", output, got)
		}
		if !utf8.ValidString(output) || !strings.HasPrefix(output, "{") || got == leftMark(environment) {
			return
		}
		if jsonscan.Valid([]byte(output)) && !jsonscan.Valid([]byte(got)) {
			t.Errorf("%s became %s", output, got)
		}
	})
}
