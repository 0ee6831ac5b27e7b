package privacy

import "testing"

// TestCodeIsLookedAt: programs in other languages, as tools take them: as they are, or as a member.
func TestCodeIsLookedAt(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		`console.log(require("fs").readFileSync(".env","utf8"))`, `const r = await tools.exec_command({cmd:"cat .env"}); text(r.output)`,
		`const r = await tools.exec_command({"cmd":"cd ~/.ssh && cat deploy"})`, `print(open('.env').read())`, `from pathlib import Path; print(Path('conf/.env').read_text())`,
		`import subprocess; print(subprocess.check_output(['cat', '.env']))`, "await Bun.file(`.env`).text()", `execSync('find . -name .env | xargs cat')`,
		"import os\nos.system('cat /srv/app/.env')", `exec("cat 'my docs/.env'")`,
	} {
		for _, input := range []string{code, `{"code":` + quotedText(code) + `}`, `{"script":` + quotedText(code) + `}`, `{"source":` + quotedText(code) + `}`, `{"input":` + quotedText(code) + `}`} {
			if f := (&Rules{}).Inspect("/s", input); f.LeftOut != LeftFile || f.OutputStays {
				t.Errorf("%s: got %+v", input, f)
			}
		}
	}
	if f := (&Rules{}).Inspect("/s", `{"code":"console.log(process.env)"}`); f.LeftOut != LeftEnvironment {
		t.Errorf("a program that lists the environment: got %+v", f)
	}
	for _, code := range []string{
		`console.log(require("fs").readFileSync("main.go","utf8"))`, `const r = await tools.exec_command({cmd:"ls -la .env && git status"}); text(r.output)`,
		`const r = await tools.exec_command({cmd:"source .env && npm test"})`, `open('package.json').read()`, `port = process.env.PORT; exec("x")`,
		`say "see .env" and go`, `await tools.exec_command({cmd:"ls -la /srv/.env"})`, `print(open("README.md").read(), "see .env")`, `import os; print(os.environ['HOME'])`, `ls("a.key.ts")`, `exec("git commit -m 'no .env'")`,
	} {
		for _, input := range []string{code, `{"code":` + quotedText(code) + `}`, `{"input":` + quotedText(code) + `}`} {
			if f := (&Rules{}).Inspect("/s", input); f.LeftOut != "" && !f.OutputStays {
				t.Errorf("%s: got %+v", input, f)
			}
		}
	}
}
