package evidence

import "testing"

func TestMayChangeFiles(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"make": true, "./gen.sh": true, "go generate ./...": true, "gofmt -w .": true, "npm run build": true, "python fix.py": true,
		"for f in *.go; do sed -i s/a/b/ $f; done": true, "sed -i.bak s/a/b/ x": true, "sed -ni p x": true, "sed --in-place s/a/b/ x": true,
		"perl -pi -e s/a/b/ x": true, "echo x > f": true, "echo x >>f": true, "echo x >| f": true, "cat <<E > f\nx\nE": true, "make 2>&1 | tail": true,
		"echo x &> f": true, "ls | tee f": true, "find . -name x -delete": true, "find . -exec rm {} +": true, "sort -o f f": true, "sort --output=f f": true,
		"curl -O https://x": true, "curl -ofile https://x": true, "git checkout -- f": true, "git commit -m x": true, "git stash": true, "git apply p": true,
		"bash -lc 'make'": true, "bash -c 'echo x > f'": true, "cd x && rm f": true, "env A=b make": true, "ls $(make)": true, "awk -i inplace 1 f": true,
		"cat > a.go": true, "sh x.sh; ls": true, "xargs rm": true, "time make": true, "go build": true, "go": true, "ls > \"a b\"": true,
		"": false, "ls": false, "ls -la | grep x": false, "cat f 2>/dev/null": false, "ls >/dev/null 2>&1": false, "ls &>/dev/null": false,
		"grep -- '->' f": false, `echo "a > b"`: false, "git status && git diff": false, "git -C x log": false, "find . -name x": false,
		"sed -n 1,5p f": false, "awk '{print $1 > 3}' f": false, "go vet ./...": false, "go list -m all": false, "curl -s https://x": false,
		"bash -lc 'cat f'": false, "cd x && pwd": false, "A=b": false, "cat <(ls)": false, "for f in a b; do echo $f; done": false, "exit 3": false,
		"diff <(sort a) <(sort b)": false, "if [ -f x ]; then cat x; fi": false, "git log > /dev/null": false, `echo \> f`: false,
	} {
		if got := Parse(used("Bash", mustJSON(t, map[string]string{"command": command}), ``)).MayChangeFiles(); got != want {
			t.Errorf("%q may change files: %t, want %t", command, got, want)
		}
	}
	for _, tool := range []struct{ name, input string }{
		{"Read", `{"file_path":"a"}`}, {"Edit", `{"file_path":"a","new_string":"make"}`}, {"WebFetch", `{"url":"make"}`}, {"mcp__sh__run", `{"command":"make"}`},
	} {
		if Parse(used(tool.name, tool.input, ``)).MayChangeFiles() {
			t.Errorf("%s runs no shell", tool.name)
		}
	}
}
