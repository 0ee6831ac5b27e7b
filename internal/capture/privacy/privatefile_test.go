package privacy

import (
	"strings"
	"testing"
)

// TestWellKnownFiles adds to what TestPrivateFiles has.
func TestWellKnownFiles(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"~/.gemini/oauth_creds.json", "~/.claude.json", "~/.m2/settings.xml", "~/.gradle/gradle.properties", "~/.sbt/.credentials", "~/.config/github-copilot/hosts.json",
		"~/.config/github-copilot/apps.json", "NuGet.Config", ".vault_pass", ".vault-password", ".secrets", "secrets/db_password", "deploy/secrets/prod.yaml", "secrets/token.txt",
		".env~", ".env_prod", ".env-prod", ".env.bak", "prod.env.old", "id_rsa.bak", "mykey.pem.old", "server.key.txt", "~/.config/gcloud/credentials", "~/.azure/auth.json", "credentials.json.orig", ".npmrc.save", "id_rsa.bak~", "secrets.txt", "/secrets/db",
	} {
		if privateFile(path) == "" {
			t.Errorf("%s is recorded", path)
		}
	}
	for _, path := range []string{
		"src/secrets/store.go", "src/secrets/index.tsx", "internal/secrets/testdata", "secrets/README.md", "secrets/README", "secrets/kustomization.yaml", "secrets/package.json", "src/secrets",
		"secrets/app/package-lock.json", "secrets/tsconfig.build.json", "secrets/.eslintrc.json", "secrets/Cargo.toml", "secrets/docker-compose.yml", "secrets/src", "./secrets/internal",
		"https://docs.example/actions/secrets/intro", "https://docs.example/secrets/intro.txt", "locales/secret.json", "src/i18n/secrets.yml", "src/locales/en/secrets/a.json", "settings.xml",
		"gradle.properties", "app/gradle.properties", "inventory/hosts.json", "notes.txt", "main.go.orig", "main.go~", ".env.example~", ".env-example", ".env_sample", "id_rsa.pub.bak",
		".secrets.baseline", "requirements.txt", "keys.txt", "config.bak", ".environment",
	} {
		if what := privateFile(path); what != "" {
			t.Errorf("%s is %s", path, what)
		}
	}
}

// TestProjectsCalledSecrets: a word is no secret for the name of the folder in which a command works, and a file in there is one
// where it is read.
func TestProjectsCalledSecrets(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/home/u/proj/secrets", "/home/u/proj/secrets/app", "/home/u/.worktrees/x/secrets"} {
		for _, line := range []string{
			"npm test", "npm run build -- --watch", "npm test -- --grep this.key", "terraform plan", "terraform plan -out plan", "kubectl get pods", "kubectl apply -f deploy.yaml", "grep -rn foo .", "grep -rn foo src",
			"rg -n event.key src", "cargo build", "cargo test --manifest-path " + dir + "/Cargo.toml", "docker compose up", "docker build -t web .", "go test ./...", "go run ./cmd/x", "git status", "git diff", "git diff main",
			"git show HEAD", "git log -p main", "git commit -m x", "make", "make build", "ls -la", "cat package-lock.json", "cat package.json tsconfig.json", "cat Makefile", "cat main.go", "cat src/config.json", "sed -n 1,5p lib/x.yaml",
			"pytest", "pytest tests", "python3 app.py", "node server.js", "FOO=1 yarn", "sudo systemctl status web", "helm lint chart", "poetry run pytest -k words", "time mvn package", "echo ok | sort", "curl -s localhost",
		} {
			if f := (&Rules{}).Inspect(dir, `{"command":`+quotedText(line)+`}`); f != (Finding{}) {
				t.Errorf("%s in %s: got %+v", line, dir, f)
			}
			if f := (&Rules{}).Inspect("/s", `{"command":`+quotedText("cd "+dir+" && "+line)+`}`); f.LeftOut != "" {
				t.Errorf("%s behind a cd to %s: got %+v", line, dir, f)
			}
		}
		for _, input := range []string{`{"command":["npm","test"]}`, `{"file_path":"` + dir + `/src/config.json"}`, `{"file_path":"package-lock.json"}`, `{"pattern":"x","path":"src"}`, `{"pattern":"x","path":"` + dir + `"}`, `{"pattern":"x","path":"` + dir + `/"}`, `{"pattern":"x","path":"."}`, `{"pattern":"x","path":"app/"}`, `{"pattern":"x","glob":"*.json"}`} {
			if f := (&Rules{}).Inspect(dir, input); f != (Finding{}) {
				t.Errorf("%s in %s: got %+v", input, dir, f)
			}
		}
	}
	for _, line := range []string{
		"cat db", "cat ./db", "cat < db_password", "head -1 db", "cat prod.yaml", "cat prod/db.json", "grep -v x token", "sed -n 1p db", "cat .env", "cat /srv/secrets/db", "npm test | cat db",
		"cd .. && cat secrets/db", "cd prod && cat db.yaml", "app ../secrets/db", "bash -c 'cat db'", "while read l; do echo $l; done < db", "python3 -c \"print(open('db').read())\"",
	} {
		if f := (&Rules{}).Inspect("/srv/secrets", `{"command":`+quotedText(line)+`}`); f.LeftOut != LeftFile || f.OutputStays {
			t.Errorf("%s: got %+v", line, f)
		}
	}
	if f := (&Rules{}).Inspect("/srv/secrets", `{"command":"echo hunter22 > db"}`); f.LeftOut != LeftFile || !f.OutputStays {
		t.Errorf("a file that is only written: got %+v", f)
	}
	if f := (&Rules{}).Inspect("/run/secrets", `{"command":"app token"}`); f.LeftOut != LeftFile {
		t.Errorf("what only secrets are in: got %+v", f)
	}
}

// TestNamesOfSecretsStay in lists of folders and of mistakes, and their lines go.
func TestNamesOfSecretsStay(t *testing.T) {
	t.Parallel()
	for _, output := range []string{
		".:\ntotal 4\ndrwxr-xr-x 2 u u 40 db\n\n./secrets/db:\ntotal 0\n-rw-r--r-- 1 u u 0 a\n", "./secrets/db:", "/home/u/secrets/app/x.json\n  3:5  error  Unexpected comma  json/comma\n  12:5  warning  Long  x\n",
		"secrets/x.yaml\n  1024:1024  error    wrong\n",
	} {
		if got, left := (&Rules{}).CutOutput("/home/u/secrets", output, Finding{}); got != output || left != nil {
			t.Errorf("%q: got %q, %v", output, got, left)
		}
	}
	for _, output := range []string{
		"./secrets/db:hunter22", "./secrets/db: hunter22", "secrets/x.json\n3:  error hunter22", "secrets/x.json\n  3: error hunter22", "secrets/x.json\n  3:5 hunter22", "secrets/x.json\n3:5  error hunter22",
		"secrets/x.json\n  3:error hunter22",
	} {
		if got, left := (&Rules{}).CutOutput("/home/u/secrets", output, Finding{}); strings.Contains(got, "hunter22") || len(left) != 1 {
			t.Errorf("%q: got %q, %v", output, got, left)
		}
	}
}
