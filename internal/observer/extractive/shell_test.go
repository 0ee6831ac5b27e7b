package extractive

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/observer/evidence"
)

func TestSteps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		command string
		ok      bool
		want    string // "family:end" of each step
	}{
		{"go test ./...", true, "go test:passed"},
		{"go test ./...", false, "go test:failed"},
		{"go test ./... 2>&1 | tail -5", true, "go test:unknown tail:passed"},
		{"go test ./... | tail -5", false, "go test:unknown tail:unknown"},
		{"cd api && go vet ./... && go test ./...", true, "cd api:passed go vet:passed go test:passed"},
		{"cd api && go test ./...", false, "cd api:unknown go test:failed"},
		{"go vet ./... && go test ./...", false, "go vet:unknown go test:unknown"},
		{"npm test; echo done", true, "npm test:unknown echo done:passed"},
		{"npm test || true", true, "npm test:unknown true:unknown"},
		{"npm start &", true, "npm start:unknown"},
		{"CGO_ENABLED=0 GOOS=linux go build -o x ./cmd/x", true, "go build:passed"},
		{"git -C sub commit -m 'a && b; c | d'", true, "git commit:passed"},
		{"git commit -m \"$(cat <<'EOF'\nSubject && more\n\nBody | x\nEOF\n)\"", true, "git commit:passed"},
		{"cat > x.txt <<EOF\ngo test ./...\nEOF\ngo build ./...", true, "cat:unknown go build:passed"},
		{"bash -lc 'go test ./...'", true, "go test:passed"},
		{"bash -lc 'make build && make test'", false, "make build:unknown make test:unknown"},
		{"for i in 1 2 3; do go test ./...; done", true, "go test:unknown"},
		{"./node_modules/.bin/jest --ci src/a.test.js", true, "jest:passed"},
		{"python3 scripts/run.py --all", true, "python3:passed"},
		{"cargo test parses_it", true, "cargo test parses_it:passed"},
		{"echo \"unclosed && go test", true, "echo:passed"},
		{"go build \\\n  ./...", true, "go build:passed"},
		{"# all of it\ngo test ./... # quick", true, "go test:passed"},
		{"BIN=$(go env GOBIN) && go build ./... > out.txt", true, "go env:passed go build:passed"},
		{"OUT=$(cd api; make check)", false, "make check:failed"},
		{"A=1 B=2", true, ""},
		{"(cd api && npm test)", false, "cd api:unknown npm test:failed"},
		{"time DEBUG=1 ./shop total", true, "./shop total:passed"},
		{"DEBUG=1 time ./shop total", false, "./shop total:failed"},
		{"time (DEBUG=1 ./shop total > /dev/null 2>&1)", true, "./shop total:passed"},
		{"", true, ""},
		{"&& ; | &", true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.command, func(t *testing.T) {
			t.Parallel()
			all := steps(evidence.Split(tt.command))
			var got []string
			for i, end := range ended(all, tt.ok) {
				got = append(got, all[i].family()+":"+[]string{"unknown", "passed", "failed"}[end])
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLooksAreNotWork(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"ls -la": true, "git status": true, "git -C x log -1": true, "rg foo": true, "cat x": true, "gh pr view 3": true, "md5sum x": true,
		"go doc fmt": true, "npm ls": true, "git commit -m x": false, "git push": false, "make": false, "gh pr create": false,
		"go test ./...": false, "npm run build": false, "rm x": false, "git stash": false,
	} {
		if got := steps(evidence.Split(command))[0].onlyReads(); got != want {
			t.Errorf("%q: got %v, want %v", command, got, want)
		}
	}
}

func FuzzSteps(f *testing.F) {
	for _, s := range []string{"a && b | c", "x <<EOF\ny\nEOF", `bash -c "bash -c 'a'"`, "$((", `"'`, "\\", "git -C", "<<''"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, command string, ok bool) {
		all := steps(evidence.Split(command))
		if len(ended(all, ok)) != len(all) {
			t.Fatal("an end is missing")
		}
		for _, s := range all {
			if len(s.words) == 0 || len(s.words) > maxWords {
				t.Fatalf("a step has %d words", len(s.words))
			}
			s.family()
			s.onlyReads()
		}
	})
}
