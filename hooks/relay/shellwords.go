package relay

import (
	"path"
	"strings"
)

// A shellWord is a word of a command, without its quotes.
type shellWord struct {
	text    string
	written bool // output is redirected to it
}

// A shellCommand is one of the simple commands of a line.
type shellCommand struct{ words []shellWord }

// maxNested is how deep commands in words of commands are looked at: ssh HOST "sh -c '...'".
const maxNested = 3

// simpleCommands parts a shell line, as far as is needed to see what it runs on what. What stands in a substitution, in a
// group, in a here-document or in the word that a shell is given counts as commands too.
func simpleCommands(line string) []shellCommand { return nested(line, maxNested) }

func nested(line string, depth int) []shellCommand {
	all := splitShell(line)
	if depth == 0 {
		return all
	}
	for _, c := range all {
		if !givesCommands(c.words) {
			continue
		}
		for _, w := range c.words[1:] {
			if strings.ContainsAny(w.text, " \t\n;|") {
				all = append(all, nested(w.text, depth-1)...)
			}
		}
	}
	return all
}

// givesCommands reports whether a program takes a shell line as one of its words.
func givesCommands(words []shellWord) bool {
	for _, w := range words {
		switch path.Base(w.text) {
		case "sh", "bash", "zsh", "dash", "ksh", "fish", "ssh", "su", "sudo", "eval", "docker", "podman", "kubectl", "oc", "xargs",
			"watch", "timeout", "nohup", "script", "wsl", "pwsh", "powershell", "cmd", "tmux", "screen", "vagrant", "heroku", "fly":
			return true
		}
	}
	return false
}

// A shellSplitter goes through a line once.
type shellSplitter struct {
	all     []shellCommand
	words   []shellWord
	word    []byte
	inWord  bool
	written bool   // the next word is written to
	quote   byte   // that is open, or 0
	outer   []byte // the quotes around the substitutions that are open
}

func splitShell(line string) []shellCommand {
	var s shellSplitter
	for i := 0; i < len(line); i++ {
		c, next := line[i], byte(0)
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch {
		case c == '\\' && s.quote != '\'' && next != 0:
			i++
			if next != '\n' {
				s.put(next)
			}
		case s.quote != 0 && c == s.quote:
			s.quote = 0
		case s.quote != '\'' && c == '$' && next == '(':
			s.substitute()
			i++
		case s.quote == '"' && c != '`':
			s.put(c)
		default:
			s.plain(c)
		}
	}
	s.endCommand()
	return s.all
}

// plain takes a byte outside of double quotes, or what counts there too.
func (s *shellSplitter) plain(c byte) {
	switch {
	case s.quote == '\'':
		s.put(c)
	case c == '`':
		s.endCommand()
	case c == '"' || c == '\'':
		s.quote, s.inWord = c, true
	case c == ')':
		s.endCommand()
		if n := len(s.outer); n > 0 {
			s.quote, s.outer = s.outer[n-1], s.outer[:n-1]
		}
	case strings.IndexByte(";&|\n(", c) >= 0, (c == '{' || c == '}') && !s.inWord:
		s.endCommand()
	case c == ' ' || c == '\t' || c == '\r':
		s.endWord()
	case c == '<' || c == '>':
		s.redirect(c)
	default:
		s.put(c)
	}
}

// substitute begins the commands of a $( ), inside of which no quote around it counts.
func (s *shellSplitter) substitute() {
	s.endCommand()
	s.outer, s.quote = append(s.outer, s.quote), 0
}

func (s *shellSplitter) put(c byte) {
	s.word = append(s.word, c)
	s.inWord = true
}

func (s *shellSplitter) redirect(c byte) {
	if len(s.word) == 1 && s.word[0] >= '0' && s.word[0] <= '9' {
		s.word, s.inWord = s.word[:0], false // the number of what is redirected
	}
	s.endWord()
	s.written = c == '>'
}

func (s *shellSplitter) endWord() {
	if s.inWord {
		s.words = append(s.words, shellWord{text: string(s.word), written: s.written})
		s.written = false
	}
	s.word, s.inWord = s.word[:0], false
}

func (s *shellSplitter) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.all = append(s.all, shellCommand{words: s.words})
	}
	s.words, s.written = nil, false
}

// eachPath calls use for what of a word may be a path: itself, and what stands behind a = or @, or beside a colon.
func eachPath(word string, use func(string)) {
	use(word)
	if i := strings.LastIndexAny(word, "=@"); i >= 0 && i+1 < len(word) {
		use(word[i+1:])
	}
	if strings.Contains(word, "://") {
		return
	}
	if before, after, ok := strings.Cut(word, ":"); ok {
		use(before)
		use(after)
	}
}

// listsEnvironment reports whether a command prints the environment, or all variables of a shell.
func listsEnvironment(words []shellWord) bool {
	for i := range words {
		w := words[i].text
		if isProcEnviron(w) || dumpsEnvironment(w) {
			return true
		}
		if i > 0 && !isBeforeProgram(words[:i]) {
			continue
		}
		if printsEnvironment(path.Base(w), words[i+1:]) {
			return true
		}
	}
	return false
}

// isBeforeProgram reports whether what stands before a word may be followed by a program: assignments, or a program that
// runs another one.
func isBeforeProgram(words []shellWord) bool {
	for _, w := range words {
		if name, _, ok := strings.Cut(w.text, "="); ok && isVariable(name) {
			continue
		}
		switch path.Base(w.text) {
		case "sudo", "doas", "command", "builtin", "exec", "time", "nohup", "nice", "xargs", "watch", "timeout", "ssh", "docker", "podman",
			"kubectl", "oc", "then", "do", "else", "if", "while", "!", "su", "wsl", "cmd", "/c", "env", "busybox", "stdbuf", "setsid", "heroku", "fly", "nix":
			return true
		}
		return false
	}
	return true
}

func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// printsEnvironment reports whether a program with these arguments prints variables.
func printsEnvironment(program string, args []shellWord) bool {
	switch strings.ToLower(program) {
	case "printenv":
		return true
	case "env":
		return onlyOptions(args, true)
	case "export", "declare", "typeset", "readonly":
		return onlyOptions(args, false)
	case "set":
		return len(readWords(args)) == 0
	case "get-childitem", "gci", "dir", "ls", "get-item":
		return len(args) > 0 && strings.HasPrefix(strings.ToLower(args[0].text), "env:")
	}
	return false
}

// onlyOptions reports whether no argument names a program or a variable.
func onlyOptions(args []shellWord, assign bool) bool {
	for _, w := range readWords(args) {
		name, _, assigned := strings.Cut(w.text, "=")
		if !strings.HasPrefix(w.text, "-") && !(assign && assigned && isVariable(name)) {
			return false
		}
	}
	return true
}

// readWords is words without the files that are written to.
func readWords(words []shellWord) (out []shellWord) {
	for _, w := range words {
		if !w.written {
			out = append(out, w)
		}
	}
	return out
}

func isProcEnviron(w string) bool {
	return strings.HasPrefix(w, "/proc/") && strings.HasSuffix(w, "/environ")
}

// dumpsEnvironment knows how scripts in other languages print all of it.
func dumpsEnvironment(w string) bool {
	for _, whole := range [...]string{"os.environ)", "os.environ.items()", "process.env)", "ENV.to_h", "dict(os.environ", "%ENV", "os.Environ()"} {
		if strings.Contains(w, whole) {
			return true
		}
	}
	return false
}

// cutCommand is a command that names a private file as it may be kept: as it is where it only reads, else by its programs.
func cutCommand(line string, f Finding) string {
	if f.Left != LeftFile {
		return line
	}
	if strings.Contains(line, patchBegin) {
		return cutPatch(line, f)
	}
	all := simpleCommands(line)
	if len(all) == 1 && len(all[0].words) == 1 { // of a list of words, perhaps
		if w := all[0].words[0].text; privateFile(w) != "" || onlyReads(path.Base(w)) {
			return line
		}
	}
	named := false
	for _, c := range all {
		private, written := c.namesPrivate()
		if written || private && !onlyReads(path.Base(programOf(c.words))) {
			return f.Mark()
		}
		named = named || private
	}
	if named && !strings.Contains(line, "<<") {
		return line
	}
	return f.Mark()
}

// namesPrivate reports whether a command names a private file, and whether it writes one.
func (c shellCommand) namesPrivate() (named, written bool) {
	for _, w := range c.words {
		eachPath(w.text, func(p string) {
			if privateFile(p) != "" {
				named, written = true, written || w.written
			}
		})
	}
	return named, written
}

// programOf is the first word that is no assignment.
func programOf(words []shellWord) string {
	for _, w := range words {
		if name, _, ok := strings.Cut(w.text, "="); !ok || !isVariable(name) {
			return w.text
		}
	}
	return ""
}

// onlyReads knows the programs to which no contents of a file are given.
func onlyReads(program string) bool {
	switch program {
	case "cat", "head", "tail", "less", "more", "bat", "ls", "stat", "wc", "test", "[", "grep", "egrep", "fgrep", "rg", "source", ".", "cp",
		"mv", "rm", "chmod", "chown", "touch", "diff", "cmp", "sort", "cut", "git", "ssh-add", "ssh-keygen", "scp", "rsync", "find", "file", "ln":
		return true
	}
	return false
}
