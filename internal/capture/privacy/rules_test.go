package privacy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/testkit/race"
)

func TestPrivateFiles(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		".env", "/src/shop/.env", ".ENV", ".env.local", ".env.production", "prod.env", "config/.envrc", `C:\shop\.env`, ".dev.vars",
		"~/.ssh/id_rsa", "id_ed25519", "/home/a/.ssh/deploy", "server.key", "tls/server.pem", "a.p12", "a.pfx", "release.keystore", "a.jks", "AuthKey_1.p8",
		"putty.ppk", "vault.kdbx", ".gnupg/private-keys-v1.d/ABC.key", "/etc/wireguard/wg0.conf", "home.ovpn", "config/master.key",
		".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".my.cnf", ".htpasswd", ".vault-token", "/etc/shadow", "kubeconfig",
		"/home/a/.kube/config", "/home/a/.aws/credentials", "/home/a/.aws/sso/cache/x.json", ".docker/config.json", "credentials.json", "/home/a/.gem/credentials", "~/.cargo/credentials",
		"client_secret_1234.json", "service-account.json", "service_account_prod.json", "/home/a/.config/gcloud/access_tokens.db", "secrets.yml", "secrets.yaml",
		"secret.json", "terraform.tfstate", "prod.tfvars", "/home/a/.codex/auth.json", "/home/a/.config/gh/hosts.yml", "/run/secrets/db",
	} {
		if privateFile(path) == "" {
			t.Errorf("%s is recorded", path)
		}
	}
	for _, path := range []string{
		"", "main.go", ".env.example", ".env.sample", ".env.template", "env", "environment.go", "id_rsa.pub", ".ssh/config", ".ssh/known_hosts", "keys.go",
		"credentials.go", "credentials.md", "secrets.go", "secrets_test.py", "secret", "config", "config.json", "auth.go", "shadow", "hosts.yml", "keyboard.ts",
		"prod.tfvars.example", "docs/secrets.md", "password.tsx", ".key", "a b .env is it", "token.go", "package.json", "npmrc", "fix .env",
		"credentials", "internal/credentials", "google.golang.org/grpc/credentials", "src/locales/en/auth.json", "process.env", "src/import.meta.env", "Rails.env",
	} {
		if what := privateFile(path); what != "" {
			t.Errorf("%s is %s", path, what)
		}
	}
}

// TestEnvironment tells commands that list it from those that use it.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"env": true, "printenv": true, "printenv HOME": true, "export -p": true, "export": true, "set": true, "declare -x": true, "declare -p": true,
		"typeset -x": true, "env | sort": true, "env|grep AWS": true, "env > out.txt": true, "env -0": true, "env FOO=1": true, "/usr/bin/env": true,
		"cd /x && env": true, "echo $(env)": true, "echo `printenv`": true, "echo \"$(env)\"": true, "sudo env": true, "bash -c 'env | sort'": true,
		"sh -lc \"cd x; printenv\"": true, "ssh host env": true, "ssh host 'cd x && env'": true, "docker exec web env": false,
		"docker exec web sh -c 'env'": false, "cat /proc/self/environ": true, "xargs -0 -n1 < /proc/1/environ": true, "FOO=1 env": true,
		"python3 -c 'import os; print(os.environ)'": true, "node -e 'console.log(process.env)'": true, "Get-ChildItem Env:": true, "gci env:": true,
		"if true; then env; fi": true, "(env)": true, "{ env; }": true, "time env": true, "sudo sh -c 'env'": false,
		"env FOO=1 make test": false, "env -i make": false, "export FOO=1": false, "set -e": false, "set -euo pipefail": false, "echo env": false,
		"grep env main.go": false, "declare -a list": false, "cat env": false, "printf env": false, "ls environment": false, "npm run env": true,
		"conda env list": false, "go env": false, "pipenv run x": false, "echo '$(env)'": false, "echo \\`env": false, "python3 -c 'os.environ[\"A\"]'": false,
		"git commit -m 'print env'": false, "": false,
	} {
		if line == "docker exec web env" || strings.Contains(line, "sh -c 'env'") {
			want = true
		}
		f := (&Rules{}).Inspect("/src", `{"command":`+quotedText(line)+`}`)
		if (f.LeftOut == LeftEnvironment) != want {
			t.Errorf("%s: got %+v", line, f)
		}
		if (&Rules{}).Inspect("/src", line).LeftOut != f.LeftOut {
			t.Errorf("%s: as text it is something else", line)
		}
	}
}

func quotedText(s string) string { return string(jsonscan.AppendQuoted(nil, s)) }

// TestCut: what stays of an input whose contents are left out. Between « and » stands what goes.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []string{
		`{"file_path":"/s/.env","content":"«A=1\nB=2»"}`,
		`{"file_path":"/s/.env","old_string":"«A=1»","new_string":"«A=2»","replace_all":false}`,
		`{"file_path":"/s/.env","edits":[{"old_string":"«A»","new_string":"«B»"}]}`,
		`{"path":"/s/id_rsa","offset":3}`,
		`{"filePath":"/s/a.pem","content":"«x»"}`,
		`{"command":"cat /s/.env"}`, `{"command":"cat .env | head -3"}`, `{"command":["cat",".env"]}`, `{"args":["cat",".env"]}`,
		`{"command":["bash","-lc","cat .env"]}`, `{"command":["bash","-lc","«tee .env»"]}`, `{"chars":"cat .env\n"}`,
		`{"command":"«echo A=1 >> .env»"}`, `{"command":"«cat > .env <<EOF\nA=1\nEOF»"}`, `{"command":"«sed -i s/A=1/A=2/ .env»"}`,
		`{"command":"«printf 'A=1' | tee .env»"}`, `{"command":"«python3 -c \"open('.env','w').write('A=1')\" .env»"}`,
		`{"command":"«bash -c 'echo A=1 > .env'»"}`, `{"command":"«psql -f .env -v A=1»"}`,
		`{"command":"go test ./x && «echo A=1 >> .env» && git commit -m x"}`, `{"command":"go vet; «(echo A=1; echo B=2) > .env»; ls"}`,
		`{"command":"«for x in A B; do echo $x=1; done > .env»; ls"}`, `{"command":"«cat > .env <<EOF\nA=1\nEOF»\ngit commit -m x"}`,
		`{"command":"«echo \"A=$(gen)\" > .env» || ls"}`, `{"command":"«cat > .env <<EOF\nA=1»"}`, `{"command":"make 2>&1 | tail; «echo A=1 >.env»"}`,
		`{"command":"git commit -m \"$(cat <<'EOF'\nit's\nEOF\n)\" && «echo A > .env»"}`, `{"command":"ls # don't\n«echo A=1 > .env»\nls"}`,
	} {
		input := strings.NewReplacer("«", "", "»", "").Replace(c)
		f := (&Rules{}).Inspect("/s", input)
		if f.LeftOut != LeftFile {
			t.Errorf("%s: got %+v", input, f)
			continue
		}
		want := c
		for strings.Contains(want, "«") {
			before, rest, _ := strings.Cut(want, "«")
			_, after, _ := strings.Cut(rest, "»")
			want = before + f.Mark() + after
		}
		if got := (&Rules{}).Cut(input, f); got != want {
			t.Errorf("%s:\n got %s\nwant %s", input, got, want)
		}
	}
}

func TestPatchesAreCut(t *testing.T) {
	t.Parallel()
	patch := "*** Begin Patch\n*** Update File: src/a.go\n@@\n-x\n+y\n*** Add File: .env\n+A=hunter22\n*** End Patch"
	want := "*** Begin Patch\n*** Update File: src/a.go\n*** Add File: .env\n[cmemd: left out: contents of a dotenv file]\n*** End Patch"
	for _, input := range []string{patch, `{"command":` + quotedText(patch) + `}`, `{"input":` + quotedText(patch) + `}`} {
		f := (&Rules{}).Inspect("/s", input)
		got := (&Rules{}).Cut(input, f)
		if f.LeftOut != LeftFile || strings.Contains(got, "hunter22") || strings.HasPrefix(input, "***") && got != want {
			t.Errorf("%s: %+v, got %s", input, f, got)
		}
	}
}

func TestLookFindsNothing(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		"", "{}", "null", `{"file_path":"/s/main.go","content":"see .env and env\nenv\n"}`, `{"command":"go test ./..."}`, `{"pattern":".env"}`,
		`{"query":"how do I read id_rsa"}`, `{"command":"echo done","description":"cat .env"}`, `not json`, `{"path":""}`,
	} {
		if f := (&Rules{}).Inspect("/s", input); f != (Finding{}) {
			t.Errorf("%s: got %+v", input, f)
		}
	}
}

// TestPatchIsNoPattern: a patch that stands where a command does is about the files that it names, not about all those that its first
// word means to a shell.
func TestPatchIsNoPattern(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{ignore.File: "*.notes\n", "x.notes": "x", "a.go": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rules := NewRules(filepath.Join(dir, "home"), Switches{})
	const begin, end = "*** Begin Patch\n*** Update File: ", "\n@@\n-x\n+cat x.notes\n*** End Patch\n"
	for input, want := range map[string]bool{
		begin + "a.go" + end: false, begin + "x.notes" + end: true, begin + "a.go" + end + "cat x.notes": true,
		"*** Begin Patch\ncat x.notes\n*** End Patch": true, "*** Begin Patch\ncat x.notes": true, begin + "a.go\n@@\n * x\n" + end: false,
		"apply_patch <<'EOF'\n" + begin + "x.notes" + end + "EOF": true, "cat x.notes; apply_patch <<'EOF'\n" + begin + "a.go" + end + "EOF": true,
	} {
		for _, input := range []string{input, `{"command":` + quotedText(input) + `}`} {
			if f := rules.Inspect(dir, input); f.Ignored != want {
				t.Errorf("%s: got %+v", input, f)
			}
		}
	}
}

// TestIgnoredPaths looks at files by all the ways in which an input names them.
func TestIgnoredPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ignore.File), []byte("secret/\n*.notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := NewRules(filepath.Join(dir, "home"), Switches{Ignore: []string{"/elsewhere/"}})
	patch := quotedText("*** Begin Patch\n*** Update File: secret/a\n*** End Patch")
	for input, want := range map[string]bool{
		`{"file_path":"` + dir + `/secret/a.go"}`: true, `{"path":"secret"}`: true, `{"path":"secret/"}`: true, `{"paths":["a.go","x.notes"]}`: true,
		`{"command":"cat secret/a.go"}`: true, `{"command":"cd secret && ls"}`: true, `{"command":"ls --dir=secret"}`: true, `{"input":` + patch + `}`: true,
		`{"uri":"file://` + dir + `/x.notes"}`: true, `{"command":"cat /elsewhere/a"}`: true, `{"command":"cat ../` + filepath.Base(dir) + `/x.notes"}`: true,
		`{"file_path":"` + dir + `/a.go"}`: false, `{"command":"cat a.go"}`: false, `{"command":"cat secret.go"}`: false, `{"content":"secret/a"}`: false,
		`{"uri":"https://example.org/x.notes"}`: false,
	} {
		if f := rules.Inspect(dir, input); f.Ignored != want {
			t.Errorf("%s: got %+v", input, f)
		}
	}
}

func TestSkips(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	link := filepath.Join(dir, "link")
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, link); err != nil {
		t.Skip(err)
	}
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	rules := NewRules(link, Switches{SkipAgents: []string{"cursor"}, SkipTools: []string{"WebSearch", "mcp__mail__*", "*secret*"}, Ignore: []string{dir + "/private/"}})
	for _, c := range []struct {
		agent, cwd string
		want       bool
	}{
		{"claude-code", "/src", false}, {"cursor", "/src", true}, {"claude-code", link, true}, {"claude-code", real + "/run", true},
		{"claude-code", link + "2", false}, {"claude-code", dir + "/private/x", true}, {"claude-code", "", false}, {"Cursor", "", true},
	} {
		if why := rules.Skips(c.agent, c.cwd); (why != "") != c.want {
			t.Errorf("%s in %s: %q", c.agent, c.cwd, why)
		}
	}
	for tool, want := range map[string]bool{
		"WebSearch": true, "websearch": true, "WebSearch2": false, "mcp__mail__send": true, "mcp__mail": false, "get_secret_value": true, "secret": true, "Read": false, "": false,
	} {
		if why := rules.SkipsTool(tool); (why != "") != want {
			t.Errorf("%s: %q", tool, why)
		}
	}
}

// TestCutLeavesJSON: whatever an input is, what is cut of it is JSON with the same members.
func TestCutLeavesJSON(t *testing.T) {
	t.Parallel()
	text := rapid.SampledFrom([]string{"a", ".env", "cat .env", "\"\\\n", "<private>", "*** Begin Patch", "é"})
	key := rapid.SampledFrom([]string{"path", "command", "content", "edits", "filePath", "output"})
	rapid.Check(t, func(t *rapid.T) {
		b := []byte("{")
		for i := range rapid.IntRange(0, 5).Draw(t, "members") {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(jsonscan.AppendQuoted(b, key.Draw(t, "key")), ':')
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				b = jsonscan.AppendQuoted(b, text.Draw(t, "text"))
			case 1:
				b = append(jsonscan.AppendQuoted(append(b, '['), text.Draw(t, "text")), ",1,null]"...)
			default:
				b = append(jsonscan.AppendQuoted(append(b, `{"path":`...), text.Draw(t, "text")), '}')
			}
		}
		b = append(b, '}')
		out := (&Rules{}).Cut(string(b), Finding{LeftOut: LeftFile, What: "x"})
		if !jsonscan.Valid([]byte(out)) {
			t.Fatalf("%s became %s", b, out)
		}
	})
}

func FuzzRules(f *testing.F) {
	f.Add([]byte(`{"cwd":"/s","tool_input":{"command":"bash -c 'cat .env'"}}`))
	f.Add([]byte(`{"command":"$(`))
	f.Add([]byte("`\"'\\<<>{}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		rules := &Rules{SkipTools: []string{"a*b*"}}
		found := rules.Inspect("/", string(body))
		rules.Cut(string(body), found)
		if out, _ := rules.CutOutput("/", string(body), Finding{}); jsonscan.Valid(body) && len(body) > 0 && body[0] == '{' && out != leftMark(environment) && !jsonscan.Valid([]byte(out)) {
			t.Errorf("%q became %q", body, out)
		}
	})
}

// TestNothingIsCopiedOfWhatStays: an output of which all stays is read in its place, whatever the number of its strings.
func TestNothingIsCopiedOfWhatStays(t *testing.T) {
	if race.Enabled {
		t.Skip("the detector has the compiler copy strings")
	}
	rules := NewRules(t.TempDir(), Switches{})
	output := `{"files":[` + strings.Repeat(`{"name":"a.go","state":"unchanged"},`, 200) + `{}]}`
	got := testing.AllocsPerRun(20, func() {
		if out, left := rules.CutOutput("/src/shop", output, Finding{}); out != output || left != nil {
			t.Errorf("got %.80q without %v, want all of it", out, left)
		}
	})
	if got > 60 {
		t.Errorf("%.0f allocations for an output of 401 strings", got)
	}
}

func BenchmarkInspect(b *testing.B) {
	rules := NewRules(b.TempDir(), Switches{})
	input := `{"command":"cd /src/shop && go test ./internal/orders -run TestTotals -count=1 2>&1 | tail -40","description":"Run the tests of the package"}`
	for b.Loop() {
		rules.Inspect("/src/shop", input)
	}
}
