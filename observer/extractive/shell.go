package extractive

import (
	"path"
	"strings"
)

// step is one simple command of a shell command.
type step struct {
	words []string // unquoted; the first few
	text  string   // as written
	after string   // the operator behind it: "&&", "||", "|", ";", "&" or ""
}

const (
	maxSteps = 64
	maxWords = 12
)

// steps cuts a shell command into simple commands. Quotes and here-documents are respected; what is inside of $(...)
// stays part of its word. It is no shell: what it misreads is only told less exactly.
func steps(command string) []step {
	var all []step
	for s := strings.ReplaceAll(command, "\\\n", " "); s != "" && len(all) < maxSteps; {
		end, op := stepEnd(s)
		st := step{text: line(s[:end]), after: op, words: shellWords(s[:end])}
		s = s[end+len(op):]
		if op == "\n" {
			st.after = ";"
		}
		if doc := hereDoc(st.text); doc != "" {
			s = skipDoc(s, doc)
		}
		all = append(all, st.plain()...)
	}
	return all
}

// plain takes the words of control off s, and puts the script of a nested shell in the place of the shell.
func (s step) plain() []step {
	for len(s.words) > 0 {
		switch s.words[0] {
		case "do", "then", "else", "if", "elif", "while", "until", "time", "sudo", "!", "nohup", "exec":
			s.text = strings.TrimSpace(strings.TrimPrefix(s.text, s.words[0]))
			s.words = s.words[1:]
			continue
		case "for", "done", "fi", "esac", "case", "function", "select":
			return nil
		case "bash", "sh", "zsh":
			if len(s.words) > 2 && strings.HasSuffix(s.words[1], "c") && s.words[1][0] == '-' {
				inner := steps(s.words[2])
				if n := len(inner); n > 0 {
					inner[n-1].after = s.after
				}
				return inner
			}
		}
		return []step{s}
	}
	return nil
}

// stepEnd finds the operator that ends the simple command that begins s.
func stepEnd(s string) (end int, op string) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			i = quoteEnd(s, i)
		case c == '$' && strings.HasPrefix(s[i:], "$("):
			depth++
			i++
		case c == ')' && depth > 0:
			depth--
		case depth > 0:
		case strings.HasPrefix(s[i:], "&&"), strings.HasPrefix(s[i:], "||"):
			return i, s[i : i+2]
		case c == '|' || c == ';' || c == '\n':
			return i, s[i : i+1]
		case c == '&' && (i == 0 || s[i-1] != '>') && !strings.HasPrefix(s[i:], "&>"):
			return i, "&"
		}
	}
	return len(s), ""
}

// quoteEnd is the place of the quote that closes the one at s[i], or the last byte.
func quoteEnd(s string, i int) int {
	q := s[i]
	for j := i + 1; j < len(s); j++ {
		switch {
		case s[j] == q:
			return j
		case s[j] == '\\' && q == '"':
			j++
		}
	}
	return len(s) - 1
}

// shellWords are the words of a simple command, without assignments before it and redirections in it.
func shellWords(s string) []string {
	var words []string
	for i := 0; i < len(s) && len(words) < maxWords; {
		if isSpace(s[i]) || s[i] == '(' || s[i] == ')' || s[i] == '{' || s[i] == '}' {
			i++
			continue
		}
		var w strings.Builder
		for ; i < len(s) && !isSpace(s[i]); i++ {
			switch s[i] {
			case '\'', '"':
				end := quoteEnd(s, i)
				w.WriteString(strings.TrimSuffix(s[i+1:max(i+1, end)], s[i:i+1]))
				i = end
			case '\\':
			default:
				w.WriteByte(s[i])
			}
		}
		word := w.String()
		name, _, assigned := strings.Cut(word, "=")
		switch {
		case len(words) == 0 && (assigned && !strings.ContainsAny(name, "-/.")):
		case strings.ContainsAny(word[:min(len(word), 2)], "<>"):
		default:
			words = append(words, word)
		}
	}
	return words
}

// hereDoc is the word that ends the here-document that a command reads, or "".
func hereDoc(s string) string {
	_, rest, ok := strings.Cut(s, "<<")
	if !ok || strings.HasPrefix(rest, "<") || strings.HasSuffix(strings.TrimSpace(s), `"`) {
		return ""
	}
	words := shellWords(strings.TrimPrefix(rest, "-"))
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// skipDoc cuts the here-document that ends with the line doc off s.
func skipDoc(s, doc string) string {
	for rest := s; rest != ""; {
		var l string
		if l, rest, _ = strings.Cut(rest, "\n"); strings.TrimSpace(l) == doc {
			return rest
		}
	}
	return s
}

// quiet is for commands that only move about, print or wait: how they end says nothing.
func (s step) quiet() bool {
	switch s.words[0] {
	case "cd", "echo", "printf", "true", ":", "export", "set", "unset", "source", ".", "sleep", "pwd", "wait", "exit",
		"cat", "head", "tail", "tee", "tr", "cut", "sort", "uniq", "wc", "sed", "awk", "column", "less", "kill", "clear",
		"mkdir", "touch", "chmod", "ln", "pushd", "popd", "trap":
		return true
	}
	return false
}

// looks is for commands that only look at files or at the system.
func (s step) looks() bool {
	switch s.words[0] {
	case "ls", "tree", "find", "fd", "grep", "egrep", "rg", "ag", "file", "stat", "du", "df", "which", "whereis", "type",
		"ps", "env", "date", "whoami", "hostname", "diff", "cmp", "jq", "xargs", "basename", "dirname", "realpath", "xxd",
		"test", "[", "command", "man", "history", "uname", "id", "nl", "strings", "od":
		return true
	case "go":
		return s.sub(1) == "doc" || s.sub(1) == "list" || s.sub(1) == "env" || s.sub(1) == "version" || s.sub(1) == "mod" && s.sub(2) == "graph"
	case "npm", "pnpm", "yarn":
		return s.sub(1) == "ls" || s.sub(1) == "list" || s.sub(1) == "view" || s.sub(1) == "info" || s.sub(1) == "outdated"
	case "git":
		switch s.sub(1) {
		case "status", "log", "diff", "show", "blame", "branch", "remote", "rev-parse", "ls-files", "ls-tree", "describe",
			"reflog", "config", "fetch", "cat-file", "grep", "shortlog", "for-each-ref", "":
			return true
		}
	case "gh":
		return s.sub(2) == "view" || s.sub(2) == "list" || s.sub(2) == "status" || s.sub(2) == "checks" || s.sub(2) == "diff"
	}
	return s.quiet()
}

// sub is the nth word behind the program that is no flag, or "".
func (s step) sub(n int) string {
	for _, w := range s.operands() {
		if strings.HasPrefix(w, "-") {
			continue
		}
		if n--; n == 0 {
			return w
		}
	}
	return ""
}

// operands are the words behind the program, without the options of git that come before its sub-command.
func (s step) operands() []string {
	rest := s.words[1:]
	for s.words[0] == "git" && len(rest) > 1 && (rest[0] == "-C" || rest[0] == "-c") {
		rest = rest[2:]
	}
	return rest
}

// family names the kind of work that a command does: its program and up to two sub-commands. Runs of one family check
// the same thing, perhaps of more or less.
func (s step) family() string {
	name := s.words[0]
	if strings.Count(name, "/") > 1 {
		name = path.Base(name)
	}
	taken := 0
	for _, w := range s.operands() {
		if strings.HasPrefix(w, "-") && taken == 0 {
			continue
		}
		if taken == 2 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789-:_") != "" || w == "" || w[0] == '-' {
			break
		}
		taken++
		name += " " + w
	}
	return name
}

// akin tells whether two families are one, or one a part of the other.
func akin(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+" ") || strings.HasPrefix(b, a+" ")
}

// ended says how the steps of a command ended, as far as the shell told it: ok that it succeeded as a whole.
// Unknown ends are those of all but the last command of a pipe, of a list, and of whatever "||" follows.
func ended(all []step, ok bool) []outcome {
	ends := make([]outcome, len(all))
	if !ok {
		blamed := -1
		for i, s := range all {
			if s.quiet() {
				continue
			}
			if blamed >= 0 {
				return ends
			}
			blamed = i
		}
		if blamed >= 0 && (all[blamed].after == "" || all[blamed].after == "&&" || all[blamed].after == ";") {
			ends[blamed] = failed
		}
		return ends
	}
	for i := len(all) - 1; i >= 0; i-- {
		if a := all[i].after; a != "" && a != "&&" {
			break
		}
		if i > 0 && all[i-1].after == "||" {
			break
		}
		ends[i] = passed
	}
	return ends
}
