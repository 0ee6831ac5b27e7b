package privacy

import "strings"

// A shellWord is a word of a command, without its quotes.
type shellWord struct {
	text    string
	written bool // output is redirected to it
	read    bool // input is redirected from it
}

// A shellCommand is one of the simple commands of a line.
type shellCommand struct {
	words           []shellWord
	hereDocs        string // what its here-documents hold
	group           int    // of the commands that hand each other what they print, or stand in one loop or pair of brackets
	inSubstitution  bool   // it stands in a substitution
	swallowed       bool   // the same, and its result is not printed
	hasSubstitution bool   // a substitution follows, and stands for words of it
	piped           bool   // what it prints goes to the next one
	dropped         bool   // what it prints goes to one that prints nothing of it

	// What resolve finds out of its words.
	name      string // of the program, without its folder; empty: it runs none
	args      []shellWord
	xargs     bool // that runs it
	takesLine bool // it takes a shell line as one of its words
	program   *program
	use       use
}

// A shellSpan is where a group, or a part of it, stands in a line.
type shellSpan struct{ group, from, to int }

// Most commands have no more words, and most lines no more commands.
const (
	usualWords    = 8
	usualCommands = 4
)

// A shellLine is a line in its parts.
type shellLine struct {
	commands []shellCommand
	spans    []shellSpan // in the order of the line
}

// maxHere is how many here-documents may begin in one line; nobody writes two.
const maxHere = 8

// A hereMark is a here-document that began and whose lines are still to come.
type hereMark struct {
	end     string
	command int
	group   int
}

// A shellSplitter goes through a line once, as far as is needed to see what it runs on what. What stands in a substitution or
// in a group counts as commands too.
type shellSplitter struct {
	line     string
	shell    shellLine
	words    []shellWord
	word     []byte
	start    int // of the command that is read
	inWord   bool
	written  bool // the next word is written to
	read     bool // the next word is read from
	quote    byte // that is open, or 0
	outer    []byte
	swallows []bool // whether what each open substitution prints is not shown
	group    int
	open     int // loops and brackets that are open
	here     []hereMark
	noHere   bool // one had no end: those that follow would not either
}

func splitShell(line string) shellLine {
	s := shellSplitter{line: line, shell: shellLine{commands: make([]shellCommand, 0, usualCommands)}}
	for i := 0; i < len(line); {
		i += s.step(i)
	}
	s.endGroup(len(line))
	return s.shell
}

// step takes what begins at i, and returns how much that is.
func (s *shellSplitter) step(i int) int {
	c, next := s.line[i], byte(0)
	if i+1 < len(s.line) {
		next = s.line[i+1]
	}
	switch {
	case c == '\\' && s.quote != '\'' && next != 0:
		if next != '\n' {
			s.put(next)
		}
		return 2
	case s.quote != 0 && c == s.quote:
		s.quote = 0
	case s.quote != '\'' && c == '$' && next == '(':
		s.substitute()
		return 2
	case s.quote == '"' && c != '`', s.quote == '\'':
		s.put(c)
	case c == '#' && s.quote == 0 && !s.inWord:
		if n := strings.IndexByte(s.line[i:], '\n'); n > 0 {
			return n
		}
		return len(s.line) - i
	case c == '<' && next == '<':
		return s.hereDocument(i)
	case c == '\n':
		s.separate(i)
		return 1 + s.takeHere(i+1)
	case (c == '<' || c == '>') && next == '&', c == '&' && next == '>', c == '>' && next == '|':
		s.redirect('>')
		return 2
	case c == '|' && next == '|', c == '&' && next == '&':
		s.separate(i)
		return 2
	default:
		s.plain(i, c)
	}
	return 1
}

// plain takes a byte outside of quotes, or a backtick.
func (s *shellSplitter) plain(i int, c byte) {
	switch {
	case c == '|':
		s.pipe()
	case c == '`':
		s.endCommand()
	case c == '"' || c == '\'':
		s.quote, s.inWord = c, true
	case c == ')':
		s.endCommand()
		if n := len(s.outer); n > 0 {
			s.quote, s.outer, s.swallows = s.outer[n-1], s.outer[:n-1], s.swallows[:n-1]
			return
		}
		s.open = max(s.open-1, 0)
	case c == '(', c == '{' && !s.inWord && strings.IndexByte(" \t\n;", s.at(i+1)) >= 0:
		s.bracket()
		if c == '(' && len(s.outer) > 0 {
			s.outer, s.swallows = append(s.outer, 0), append(s.swallows, s.isSwallowed())
			return
		}
		s.open++
	case c == '}' && !s.inWord:
		s.endCommand()
		s.open = max(s.open-1, 0)
	case c == ';' || c == '&':
		s.separate(i)
	case c == ' ' || c == '\t' || c == '\r':
		s.endWord()
	case c == '<' || c == '>':
		s.redirect(c)
	default:
		s.put(c)
	}
}

// pipe ends a command whose output the next one takes.
func (s *shellSplitter) pipe() {
	known := len(s.shell.commands)
	s.endCommand()
	if len(s.shell.commands) > known {
		s.shell.commands[known].piped = !s.shell.commands[known].writes()
	}
}

// writes reports whether output goes to where the next command does not take it. That of errors to it does not count.
func (c *shellCommand) writes() bool {
	for i := range c.words {
		if w := &c.words[i]; w.written && w.text != "/dev/null" && w.text != "1" {
			return true
		}
	}
	return false
}

// bracket begins commands of which not only the first takes what is piped.
func (s *shellSplitter) bracket() {
	if n := len(s.shell.commands); n > 0 && !s.inWord && len(s.words) == 0 {
		s.shell.commands[n-1].piped = false
	}
	s.endCommand()
}

// at is the byte at a place of the line; behind its end, a line break.
func (s *shellSplitter) at(i int) byte {
	if i < len(s.line) {
		return s.line[i]
	}
	return '\n'
}

// separate ends a command, and its group unless something is open.
func (s *shellSplitter) separate(at int) {
	s.endCommand()
	if s.open == 0 && len(s.outer) == 0 {
		s.endGroup(at)
	}
}

// endGroup ends a group at a place of the line.
func (s *shellSplitter) endGroup(at int) {
	s.endCommand()
	from := at - len(strings.TrimLeft(s.line[s.start:at], " \t\r\n;&|"))
	if from < at {
		s.shell.spans = append(s.shell.spans, shellSpan{s.group, from, from + len(strings.TrimRight(s.line[from:at], " \t\r\n"))})
	}
	s.start = at
	s.group++
}

// substitute begins the commands of a $( ), inside of which no quote around it counts.
func (s *shellSplitter) substitute() {
	swallowed := s.isSwallowed() || len(s.words) > 0 && (s.words[0].text == "export" || s.words[0].text == "env")
	known := len(s.shell.commands)
	s.endCommand()
	if len(s.shell.commands) > known {
		s.shell.commands[known].hasSubstitution = true
	}
	s.outer, s.quote, s.swallows = append(s.outer, s.quote), 0, append(s.swallows, swallowed)
}

func (s *shellSplitter) isSwallowed() bool {
	return len(s.swallows) > 0 && s.swallows[len(s.swallows)-1]
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
	s.written, s.read = c == '>', c == '<'
}

func (s *shellSplitter) endWord() {
	if s.inWord {
		if s.words == nil {
			s.words = make([]shellWord, 0, usualWords)
		}
		s.words = append(s.words, shellWord{text: string(s.word), written: s.written, read: s.read})
		s.written, s.read = false, false
	}
	s.word, s.inWord = s.word[:0], false
}

func (s *shellSplitter) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.shell.commands = append(s.shell.commands, shellCommand{
			words: s.words, group: s.group, inSubstitution: len(s.outer) > 0, swallowed: s.isSwallowed(),
		})
		first := 0
		for first+1 < min(len(s.words), maxWordsBefore) && bodies.has(s.words[first].text) {
			first++
		}
		switch s.words[first].text {
		case "for", "while", "until", "if", "case", "select":
			s.open++
		case "done", "fi", "esac":
			s.open = max(s.open-1, 0)
		}
	}
	s.words, s.written, s.read = nil, false, false
}

// bodies are the words behind which a loop or condition may stand.
var bodies = newList("do", "then", "else", "!", "time")

// hereDocument takes the << that begins at i and the word that ends its lines, or the <<< before a word.
func (s *shellSplitter) hereDocument(i int) int {
	rest := s.line[i+2:]
	if strings.HasPrefix(rest, "<") || s.noHere || len(s.here) == maxHere {
		s.endWord()
		return 2 + len(rest) - len(strings.TrimLeft(rest, "<"))
	}
	s.redirect(' ')
	end := strings.TrimLeft(strings.TrimPrefix(rest, "-"), " \t")
	skipped := len(rest) - len(end)
	size := strings.IndexAny(end, " \t\r\n;&|<>()")
	if size < 0 {
		size = len(end)
	}
	word := strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(end[:size])
	if word != "" {
		s.here = append(s.here, hereMark{end: word, command: len(s.shell.commands), group: s.group})
	}
	return 2 + skipped + size
}

// takeHere takes the here-documents that begin at a line, and returns how long they are. What has no end is taken for
// commands, all in one group: perhaps it was a shift of bits.
func (s *shellSplitter) takeHere(at int) (size int) {
	ended := s.start == at-1 // its group, before the here-document
	for _, h := range s.here {
		length, whole := hereLength(s.line[at+size:], h.end)
		if !whole {
			s.noHere = true
			s.open++
			s.group = h.group
			break
		}
		if h.command < len(s.shell.commands) {
			s.shell.commands[h.command].hereDocs += s.line[at+size : at+size+length]
		}
		if ended {
			s.shell.spans = append(s.shell.spans, shellSpan{h.group, at + size, at + size + length})
			s.start = at + size + length
		}
		size += length
	}
	s.here = s.here[:0]
	return size
}

// hereLength measures a here-document to behind its last line.
func hereLength(text, end string) (size int, whole bool) {
	for line := range strings.Lines(text) {
		size += len(line)
		if strings.Trim(line, "\t\r\n") == end {
			return size - (len(line) - len(strings.TrimRight(line, "\r\n"))), true
		}
	}
	return 0, false
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

// isVariable reports whether a word may be the name of a variable.
func isVariable(name string) bool {
	return name != "" && strings.Trim(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// maxWordsBefore is how many words before a program are looked at: nobody runs one through more.
const maxWordsBefore = 64
