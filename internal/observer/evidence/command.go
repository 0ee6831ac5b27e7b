package evidence

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// IsTest reports whether the command runs tests, by the programs it starts and their arguments, never by what it
// prints. A call that only lists tests or asks for help is none. Its Scripts and a nested shell's script count.
func (c Simple) IsTest() bool { return slices.ContainsFunc(c.unnest(), isTest) }

// IsPush reports whether the command, one of its Scripts or a nested shell's script pushes with git.
func (c Simple) IsPush() bool { return runsGit(c.unnest(), "push") }

func runsGit(cmds []Simple, subcommands ...string) bool {
	return slices.ContainsFunc(cmds, func(c Simple) bool {
		sub, args := c.Git()
		return slices.Contains(subcommands, sub) && !asksOnly(args) && !slices.Contains(args, "--dry-run")
	})
}

// Git returns the sub-command of git that the command runs, or "", and what stands behind it.
func (c Simple) Git() (sub string, args []string) {
	name, args := program(c.Words)
	if name != "git" {
		return "", nil
	}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-C" || a == "-c" || a == "--git-dir" || a == "--work-tree" || a == "--namespace":
			i++
		case !strings.HasPrefix(a, "-"):
			return a, args[i+1:]
		}
	}
	return "", nil
}

func asksOnly(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		switch a {
		case "--help", "--version", "--collect-only", "--listTests", "--list-tests", "-list":
			return true
		}
		return false
	})
}

func isTest(c Simple) bool {
	name, args := program(c.Words)
	if asksOnly(args) {
		return false
	}
	plain := operands(args)
	first := ""
	if len(plain) > 0 {
		first = plain[0]
	}
	return isTestProgram(name) || runsTests(name, first) || testsByTarget(name, plain) || testsByScript(name, args, plain)
}

// operands are the arguments that are no options and not the folder of -C.
func operands(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-C" || a == "--prefix" || a == "--filter" || a == "--cwd" || a == "--manifest-path" || a == "-w":
			i++
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+"):
			out = append(out, a)
		}
	}
	return out
}

// isTestProgram names the programs that do nothing but run tests.
func isTestProgram(name string) bool {
	switch name {
	case "pytest", "py.test", "tox", "nox", "nosetests", "nose2", "behave", "robot", "trial", "stestr", // Python
		"jest", "vitest", "mocha", "ava", "tap", "jasmine", "karma", "cypress", "tape", "wtr", "testcafe", // JavaScript
		"rspec", "minitest", "cucumber", "phpunit", "pest", "behat", "codecept", "paratest", // Ruby, PHP
		"ctest", "gotestsum", "ginkgo", "bats", "busted", "prove", "elm-test", "cargo-nextest", "shellspec": // others
		return true
	}
	return false
}

// runsTests knows the programs whose first operand says that tests are run.
func runsTests(name, first string) bool {
	switch name {
	case "go", "deno", "bazel", "bazelisk", "buck2", "meson", "rails", "dotnet", "swift", "flutter", "dart", "mix", "stack", "cabal",
		"zig", "ng", "hardhat", "forge", "anchor", "gleam", "nimble", "lein", "playwright", "react-scripts", "dub", "sui", "melos":
		return first == "test" || first == "coverage" && strings.HasPrefix(name, "bazel")
	case "cargo":
		return first == "test" || first == "t" || first == "nextest" || first == "tarpaulin"
	case "npm", "yarn", "pnpm", "bun":
		return first == "t" || first == "tst" || strings.HasPrefix(first, "test")
	case "rebar3":
		return first == "eunit" || first == "ct"
	case "crystal":
		return first == "spec"
	case "composer", "rush":
		return strings.HasPrefix(first, "test")
	}
	return false
}

// testsByTarget knows the programs that take targets or tasks, any of which may be tests.
func testsByTarget(name string, plain []string) bool {
	switch strings.TrimSuffix(strings.TrimSuffix(name, "w"), ".bat") {
	case "make", "gmake", "ninja", "just", "task", "rake", "mage", "invoke", "inv", "doit", "mvn", "mvnd", "gradle", "ant", "sbt",
		"xcodebuild", "earthly", "cmake", "npm", "yarn", "pnpm", "bun", "nx", "turbo", "lerna", "moon", "mise", "zig", "lake":
		return slices.ContainsFunc(plain, isTestTarget)
	}
	return false
}

func isTestTarget(target string) bool {
	t := strings.TrimLeft(target[strings.LastIndexAny(target, ":/")+1:], "+")
	switch t {
	case "test", "tests", "check", "verify", "spec", "unittest", "testOnly":
		return true
	}
	return strings.HasPrefix(target, "test:") || strings.HasPrefix(t, "test-") || strings.HasPrefix(t, "test_") ||
		strings.HasSuffix(t, "-test") || strings.HasSuffix(t, "_test") || strings.HasSuffix(t, "-tests") ||
		strings.HasSuffix(t, "Test") || strings.HasSuffix(t, "UnitTests")
}

// testsByScript knows the interpreters that run a test module or a test file.
func testsByScript(name string, args, plain []string) bool {
	switch {
	case strings.HasPrefix(name, "python") || name == "pypy" || name == "py" || name == "uv":
		for i, a := range args {
			if a == "-m" && i+1 < len(args) {
				module := args[i+1]
				return isTestProgram(module) || module == "unittest"
			}
		}
	case name == "node":
		if slices.Contains(args, "--test") {
			return true
		}
	case name == "php" || name == "ruby" || name == "perl":
	case name == "manage.py" || name == "artisan":
		return len(plain) > 0 && plain[0] == "test"
	default:
		return false
	}
	return len(plain) > 0 && isTestFile(plain)
}

func isTestFile(plain []string) bool {
	base := path.Base(plain[0])
	stem := strings.TrimSuffix(base, path.Ext(base))
	if base == "manage.py" || base == "artisan" {
		return len(plain) > 1 && plain[1] == "test"
	}
	return isTestProgram(stem) || strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") ||
		strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, "_spec")
}

// Commit is a commit that git itself reported when it made it.
type Commit struct {
	Branch  string // as git names it: main, detached HEAD, ...
	Hash    string // abbreviated
	Subject string
	Files   int // that it changed; 0: git did not say
}

// Commits reads git's own lines, "[branch hash] subject", and " 2 files changed" behind them, out of what a command printed.
func Commits(output string) []Commit {
	var out []Commit
	for line := range strings.Lines(output) {
		if c, ok := commitLine(strings.TrimRight(line, "\r\n")); ok {
			out = append(out, c)
		} else if n := len(out); n > 0 && out[n-1].Files == 0 {
			out[n-1].Files = filesChanged(line)
		}
	}
	return out
}

// filesChanged reads a line such as " 2 files changed, 7 insertions(+)"; 0: it is none.
func filesChanged(line string) int {
	number, rest, _ := strings.Cut(strings.TrimPrefix(line, " "), " ")
	if !strings.HasPrefix(rest, "file changed") && !strings.HasPrefix(rest, "files changed") {
		return 0
	}
	n, _ := strconv.Atoi(number)
	return max(n, 0)
}

func commitLine(line string) (Commit, bool) {
	head, subject, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
	at := strings.LastIndexByte(head, ' ')
	if !ok || !strings.HasPrefix(line, "[") || at <= 0 {
		return Commit{}, false
	}
	hash := head[at+1:]
	if len(hash) < 4 || len(hash) > 64 || !isLowerHex(hash) {
		return Commit{}, false
	}
	branch := strings.TrimSuffix(head[:at], " (root-commit)")
	return Commit{Branch: branch, Hash: hash, Subject: subject}, branch != ""
}

func isLowerHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
