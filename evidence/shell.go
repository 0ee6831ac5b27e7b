package evidence

import (
	"path"
	"strings"
)

// simple is one simple command of a shell line and the operator that follows it.
type simple struct {
	words []string
	next  string // "&&", "||", "|", "&", ";", ")" or "" at the end; a newline is ";"
}

// maxCommand bounds how much of a command line is looked at.
const maxCommand = 64 << 10

// split takes a shell line apart: quotes, escapes, redirections, here-documents and comments are understood as far as
// needed to tell which programs run. Substitutions stay part of their word. It never fails and takes linear time.
func split(line string) []simple {
	p := shell{in: line[:min(len(line), maxCommand)]}
	for p.at < len(p.in) {
		p.step()
	}
	p.end("")
	return p.out
}

type shell struct {
	in   string
	at   int
	out  []simple
	cur  simple
	word strings.Builder
	open bool     // a word is being read, maybe an empty quoted one
	drop bool     // the next word is the target of a redirection
	docs []string // ends of here-documents that begin after this line
	doc  bool     // the next word is the end of a here-document
}

func (p *shell) step() {
	c := p.in[p.at]
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
	case ';', '(', ')':
		p.operator(string(c))
	case '&', '|':
		p.andOr(c)
	case '<', '>':
		p.redirect(c)
	case '#':
		p.comment()
	default:
		p.open = true
		p.word.WriteByte(c)
	}
}

func (p *shell) peek(c byte) bool { return p.at < len(p.in) && p.in[p.at] == c }

func (p *shell) quoted(quote byte) {
	p.open = true
	for p.at < len(p.in) && p.in[p.at] != quote {
		if quote == '"' && p.in[p.at] == '\\' && p.at+1 < len(p.in) {
			p.at++
		}
		p.word.WriteByte(p.in[p.at])
		p.at++
	}
	p.at++
}

func (p *shell) escaped() {
	if p.at >= len(p.in) {
		return
	}
	if c := p.in[p.at]; c != '\n' {
		p.open = true
		p.word.WriteByte(c)
	}
	p.at++
}

func (p *shell) comment() {
	if p.open {
		p.word.WriteByte('#')
		return
	}
	for p.at < len(p.in) && p.in[p.at] != '\n' {
		p.at++
	}
}

func (p *shell) operator(op string) {
	if p.peek(op[0]) && op != "(" && op != ")" {
		p.at++
	}
	if op == "(" {
		op = ";"
	}
	p.end(op)
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
	if digits := p.word.String(); strings.Trim(digits, "0123456789") != "" {
		p.flush()
	}
	p.word.Reset()
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
	w := p.word.String()
	p.word.Reset()
	p.open = false
	switch {
	case p.doc:
		p.docs = append(p.docs, w)
	case !p.drop:
		p.cur.words = append(p.cur.words, w)
	}
	p.doc, p.drop = false, false
}

// end ends the simple command with the operator op.
func (p *shell) end(op string) {
	p.flush()
	p.doc, p.drop = false, false
	switch {
	case len(p.cur.words) > 0:
		p.cur.next = op
		p.out = append(p.out, p.cur)
	case len(p.out) > 0 && p.out[len(p.out)-1].next == ")": // what follows a group follows its last command
		p.out[len(p.out)-1].next = op
	}
	p.cur = simple{}
}

// passDocs moves behind the here-documents that were announced on the line before.
func (p *shell) passDocs() {
	for _, end := range p.docs {
		for p.at < len(p.in) {
			line, _, _ := strings.Cut(p.in[p.at:], "\n")
			p.at = min(p.at+len(line)+1, len(p.in))
			if strings.Trim(line, "\t\r ") == end {
				break
			}
		}
	}
	p.docs = nil
}

// program is the program of words, by its base name, and its arguments, with assignments and wrappers taken away.
func program(words []string) (name string, args []string) {
	for len(words) > 0 {
		name = strings.TrimSuffix(strings.TrimSuffix(path.Base(strings.ReplaceAll(words[0], `\`, "/")), ".exe"), ".cmd")
		switch skip := wrapper(name, words[1:]); {
		case isAssignment(words[0]):
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
	case "sudo", "doas", "env", "time", "nice", "nohup", "command", "exec", "timeout", "gtimeout", "stdbuf", "xvfb-run", "npx",
		"bunx", "pnpx", "nyc", "c8", "dotenv", "cross-env", "then", "do", "else", "if", "while", "!", "{":
		return 1
	}
	if len(rest) == 0 {
		return 0
	}
	switch name + " " + rest[0] {
	case "pnpm exec", "pnpm dlx", "yarn exec", "yarn dlx", "npm exec", "npm x", "bun x", "uv run", "poetry run", "pipenv run",
		"pdm run", "hatch run", "rye run", "bundle exec", "mise exec", "mise x", "coverage run", "uv tool":
		return 2
	}
	return 0
}

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+") == ""
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

// commands is split, with the scripts of nested shells in the place of the shell that runs them.
func commands(line string) []simple {
	var out []simple
	for _, c := range split(line) {
		script, ok := shellScript(program(c.words))
		inner := split(script)
		if !ok || len(inner) == 0 {
			out = append(out, c)
			continue
		}
		inner[len(inner)-1].next = c.next
		out = append(out, inner...)
	}
	return out
}
