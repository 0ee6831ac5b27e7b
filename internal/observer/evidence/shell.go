package evidence

import (
	"bytes"
	"path"
	"strings"

	"github.com/cmemd/cmemd/internal/toolinput"
)

// Simple is one simple command of a shell line.
type Simple struct {
	Text    string   // as written, with its redirections and the parentheses that stand at it, without blanks around it
	Words   []string // unquoted, without redirections; never empty
	Scripts []string // of the substitutions in it that are not quoted
	Input   string   // the here-document that it reads, as written, the last of several
	Next    string   // the operator behind it: "&&", "||", "|", "&", ";", or "" at the end; a newline is ";", |& is "|"
}

// maxCommand bounds how much of a command line is looked at.
const maxCommand = 64 << 10

// Split takes a shell line apart into its simple commands, in order. Quotes, escapes, redirections, here-documents,
// comments and groups are understood as far as needed to tell which programs run: words of control, such as if and do,
// and assignments stay before the command that they stand before; a substitution, $(...) or <(...), stays part of its
// word; a group's last command has the operator behind the group. Where a word follows a group, which no shell takes,
// that operator is ")". Only the first 64 KiB are looked at. It never fails and takes linear time.
func Split(line string) []Simple {
	p := shell{in: line[:min(len(line), maxCommand)]}
	for p.at < len(p.in) {
		p.step()
	}
	p.mark = len(p.in)
	p.end("")
	return p.out
}

type shell struct {
	in   string
	at   int
	from int // where the simple command begins
	mark int // where the step began, and so the operator that ends the command
	out  []Simple
	cur  Simple
	word []byte
	open bool       // a word is being read, maybe an empty quoted one
	drop bool       // the next word is the target of a redirection
	docs []document // that begin after this line
	doc  bool       // the next word is the end of a here-document
}

// document is a here-document that was announced.
type document struct {
	end string
	of  int // the number of the command that reads it
}

func (p *shell) step() {
	c := p.in[p.at]
	p.mark = p.at
	p.at++
	switch c {
	case '\'', '"':
		p.quoted(c)
	case '\\':
		p.escaped()
	case ' ', '\t', '\r':
		p.flush()
	case '\n':
		p.end(";")
		p.passDocs()
	case ';':
		if p.peek(';') {
			p.at++
		}
		p.end(";")
	case '(': // belongs to the command behind it
		p.flush()
	case ')': // belongs to the command before it
		p.mark = p.at
		p.end(")")
	case '&', '|':
		p.andOr(c)
	case '<', '>':
		p.redirect(c)
	case '#':
		p.comment()
	case '$':
		p.substitution()
	default:
		p.open = true
		p.word = append(p.word, c)
	}
}

func (p *shell) peek(c byte) bool { return p.at < len(p.in) && p.in[p.at] == c }

func (p *shell) quoted(quote byte) {
	p.open = true
	for p.at < len(p.in) && p.in[p.at] != quote {
		if quote == '"' && p.in[p.at] == '\\' && p.at+1 < len(p.in) {
			p.at++
		}
		p.word = append(p.word, p.in[p.at])
		p.at++
	}
	p.at++
}

// substitution keeps $(...), <(...) and >(...) as they stand; any other '$' is a letter.
func (p *shell) substitution() {
	start := p.at - 1
	if p.peek('(') {
		p.at = closing(p.in, p.at)
		p.cur.Scripts = append(p.cur.Scripts, strings.TrimSuffix(p.in[start+2:p.at], ")"))
	}
	p.open = true
	p.word = append(p.word, p.in[start:p.at]...)
}

// closing is behind the parenthesis that closes the one at s[i], or the end.
func closing(s string, i int) int {
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\\':
			i++
		case '\'', '"':
			i = quoteEnd(s, i)
		}
	}
	return len(s)
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

func (p *shell) escaped() {
	if p.at >= len(p.in) {
		return
	}
	if c := p.in[p.at]; c != '\n' {
		p.open = true
		p.word = append(p.word, c)
	}
	p.at++
}

func (p *shell) comment() {
	if p.open {
		p.word = append(p.word, '#')
		return
	}
	for p.at < len(p.in) && p.in[p.at] != '\n' {
		p.at++
	}
}

func (p *shell) andOr(c byte) {
	switch {
	case c == '&' && p.peek('>'):
		p.at++
		p.redirect('>')
	case p.peek(c):
		p.at++
		p.end(string(c) + string(c))
	case c == '|' && p.peek('&'):
		p.at++
		p.end("|")
	default:
		p.end(string(c))
	}
}

func (p *shell) redirect(c byte) {
	if len(bytes.Trim(p.word, "0123456789")) > 0 {
		p.flush()
	}
	if p.peek('(') {
		p.substitution()
		return
	}
	p.word = p.word[:0]
	p.open = false
	if c == '<' && p.peek('<') {
		p.at++
		if p.peek('<') { // a here-string
			p.at++
			p.drop = true
			return
		}
		if p.peek('-') {
			p.at++
		}
		p.doc = true
		return
	}
	for p.at < len(p.in) && strings.IndexByte(">&|", p.in[p.at]) >= 0 {
		p.at++
	}
	p.drop = true
}

// flush ends the word.
func (p *shell) flush() {
	if !p.open {
		return
	}
	w := string(p.word)
	p.word = p.word[:0]
	p.open = false
	switch {
	case p.doc:
		p.docs = append(p.docs, document{w, len(p.out)})
	case !p.drop:
		if p.cur.Words == nil {
			p.cur.Words = make([]string, 0, 4) // as most have
		}
		p.cur.Words = append(p.cur.Words, w)
	}
	p.doc, p.drop = false, false
}

// end ends the simple command with the operator op.
func (p *shell) end(op string) {
	p.flush()
	p.doc, p.drop = false, false
	switch {
	case len(p.cur.Words) > 0:
		p.cur.Text, p.cur.Next = strings.Trim(p.in[p.from:p.mark], " \t\r\n"), op
		p.out = append(p.out, p.cur)
	case len(p.out) > 0 && p.out[len(p.out)-1].Next == ")": // what follows a group follows its last command
		p.out[len(p.out)-1].Next = op
	}
	p.cur, p.from = Simple{}, p.at
}

// passDocs moves behind the here-documents that were announced on the line before.
func (p *shell) passDocs() {
	for _, doc := range p.docs {
		from, to := p.at, len(p.in)
		for p.at < len(p.in) {
			line, _, _ := strings.Cut(p.in[p.at:], "\n")
			begin := p.at
			p.at = min(p.at+len(line)+1, len(p.in))
			if strings.Trim(line, "\t\r ") == doc.end {
				to = begin
				break
			}
		}
		if doc.of < len(p.out) {
			p.out[doc.of].Input = p.in[from:to]
		}
	}
	p.docs, p.from = nil, p.at
}

// program is the program of words, by its base name, and its arguments, with assignments and wrappers taken away.
func program(words []string) (name string, args []string) {
	for len(words) > 0 {
		name = strings.TrimSuffix(strings.TrimSuffix(path.Base(strings.ReplaceAll(words[0], `\`, "/")), ".exe"), ".cmd")
		switch skip := wrapper(name, words[1:]); {
		case toolinput.IsAssignment(words[0]):
			words = words[1:]
		case skip > 0:
			words = words[skip:]
			for len(words) > 0 && (strings.HasPrefix(words[0], "-") || isDuration(words[0])) {
				words = words[1:]
			}
		default:
			return name, words[1:]
		}
	}
	return "", nil
}

// wrapper returns how many words say that another program is to be run; 0 when name is the program itself.
func wrapper(name string, rest []string) int {
	switch name {
	case "env", "nice", "command", "timeout", "gtimeout", "stdbuf", "xvfb-run", "npx", "bunx",
		"pnpx", "nyc", "c8", "dotenv", "cross-env":
		return 1
	}
	switch {
	case PrecedesProgram(name):
		return 1
	case len(rest) == 0:
		return 0
	}
	switch name + " " + rest[0] {
	case "pnpm exec", "pnpm dlx", "yarn exec", "yarn dlx", "npm exec", "npm x", "bun x", "uv run", "poetry run", "pipenv run",
		"pdm run", "hatch run", "rye run", "bundle exec", "mise exec", "mise x", "coverage run", "uv tool":
		return 2
	}
	return 0
}

func isDuration(w string) bool {
	digits := strings.TrimRight(w, "smhd")
	return digits != "" && len(w)-len(digits) <= 1 && strings.Trim(digits, "0123456789.") == ""
}

// shellScript returns the script of a call such as bash -lc 'go test'.
func shellScript(name string, args []string) (script string, ok bool) {
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "fish":
	default:
		return "", false
	}
	for i, a := range args {
		if strings.HasPrefix(a, "-") && strings.HasSuffix(a, "c") && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}

// commands are all that the line runs: what Split finds, unnested.
func commands(line string) []Simple { return unnested(Split(line)) }

// unnested are all that the simple commands of a line run.
func unnested(line []Simple) []Simple {
	out := make([]Simple, 0, len(line))
	for _, c := range line {
		out = c.appendUnnested(out)
	}
	return out
}

// unnest is c with the commands of its substitutions before it, and those of a nested shell's script in the place of
// the shell.
func (c Simple) unnest() []Simple { return c.appendUnnested(nil) }

// appendUnnested appends what unnest returns.
func (c Simple) appendUnnested(out []Simple) []Simple {
	for _, s := range c.Scripts {
		out = append(out, Split(s)...)
	}
	if script, ok := shellScript(program(c.Words)); ok {
		if inner := Split(script); len(inner) > 0 {
			return append(out, inner...)
		}
	}
	return append(out, c)
}
