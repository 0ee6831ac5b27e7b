package redact

import "strings"

// Commands are given secrets as words that no name stands before: behind an option, as a pair, through a pipe.

// commandShapes lists the words at which these are looked for.
func commandShapes() []shape {
	all := []shape{
		{word: "convertto-securestring", find: (*finder).secureString},
		{word: "--password-stdin", exact: true, find: (*finder).piped},
		{word: "--from-literal", exact: true, find: (*finder).fromLiteral},
	}
	for _, program := range [...]string{"vault kv put", "vault kv patch"} {
		all = append(all, shape{word: program, exact: true, find: (*finder).pairs})
	}
	for _, program := range [...]string{
		"sshpass", "mysql", "mariadb", "mongo", "docker login", "podman login", "redis-cli", "ldap", "sqlcmd", "gh secret set",
	} {
		all = append(all, shape{word: program, find: (*finder).option})
	}
	return all
}

// args calls arg for where each word of a command begins from i on, until it returns true, and returns where that was, or
// where the command ends. A word in quotes is one.
func (f *finder) args(i int, arg func(at int) bool) int {
	stop := min(len(f.s), i+maxCommand)
	for ; i < stop && !f.endsCommand(i); i++ {
		if !isBlank(f.s[i]) || isBlank(f.at(i+1)) {
			continue
		}
		if arg(i + 1) {
			return i + 1
		}
		if v := f.readLiteral(place{at: i + 1}, name{}); v.quoted && v.end > v.start {
			i = v.end
		}
	}
	return i
}

// endsCommand reports whether what is at i stands behind a command.
func (f *finder) endsCommand(i int) bool {
	return strings.IndexByte("\n;|&`", f.s[i]) >= 0 || f.at(i) == '\\' && f.at(i+1) == 'n' || f.json && f.s[i] == '"' && f.at(i-1) != '\\'
}

// A passOption is an option behind which a program takes a secret.
type passOption struct {
	name   string
	joined bool // the secret may stand right behind it
	apart  bool // and behind a blank
}

func optionsOf(program string) []passOption {
	switch program {
	case "mysql", "mariadb":
		return []passOption{{name: "-p", joined: true}}
	case "sshpass":
		return []passOption{{name: "-p", joined: true, apart: true}}
	case "redis-cli":
		return []passOption{{name: "-a", apart: true}}
	case "ldap":
		return []passOption{{name: "-w", apart: true}}
	case "sqlcmd":
		return []passOption{{name: "-P", joined: true, apart: true}}
	case "gh secret set":
		return []passOption{{name: "--body", apart: true}, {name: "-b", joined: true, apart: true}}
	}
	return []passOption{{name: "-p", apart: true}}
}

// option looks for a secret among the words of a command.
func (f *finder) option(l *shape, start, end int) {
	if !f.begins(start) || end < f.optioned {
		return
	}
	options := optionsOf(l.word)
	f.optioned = f.args(end, func(at int) bool {
		for _, o := range options {
			if i := f.behind(o, at); i > 0 {
				f.hideWord(i)
				return true
			}
		}
		return false
	})
}

// behind returns where the value of an option begins that stands at i, or 0 if it does not.
func (f *finder) behind(o passOption, i int) int {
	if !strings.HasPrefix(f.s[i:], o.name) {
		return 0
	}
	i += len(o.name)
	switch {
	case isBlank(f.at(i)) && o.apart:
		return f.blanks(i)
	case !isBlank(f.at(i)) && o.joined:
		return i
	case f.at(i) == '=' && strings.HasPrefix(o.name, "--"):
		return i + 1
	}
	return 0
}

// hideWord adds the hideWord of a command that begins at i, if it says something.
func (f *finder) hideWord(i int) {
	v := f.readLiteral(place{at: i, direct: true}, name{})
	f.hideText(v.start, v.end)
}

func (f *finder) hideText(start, end int) {
	if text := f.s[start:end]; len(text) >= 3 && text[0] != '-' && !hides(text) {
		f.weak(start, end, "password")
	}
}

// pairs looks for the values of a command whose words are names with values.
func (f *finder) pairs(_ *shape, start, end int) {
	if !f.begins(start) || end < f.optioned {
		return
	}
	f.optioned = f.args(end, func(at int) bool {
		if f.at(at) != '-' {
			f.hideAssigned(at)
		}
		return false
	})
}

// hideAssigned adds the value in the word name=value of a command that begins at i. One that begins with @ is a file's name.
func (f *finder) hideAssigned(i int) {
	v := f.readLiteral(place{at: i, direct: true}, name{})
	eq := run(f.s[:v.end], v.start, isTokenDot)
	switch {
	case eq == v.start || f.at(eq) != '=' || f.at(eq+1) == '@':
	case v.quoted:
		f.hideText(eq+1, max(eq+1, v.end))
	default:
		f.hideWord(eq + 1)
	}
}

// fromLiteral looks for the value that kubectl puts into a secret.
func (f *finder) fromLiteral(_ *shape, start, end int) {
	if !strings.Contains(f.s[max(0, start-maxCommand):start], "create secret ") {
		return // a ConfigMap is public
	}
	if i := f.blanks(end); i > end {
		f.hideAssigned(i)
	} else if f.at(end) == '=' {
		f.hideAssigned(end + 1)
	}
}

// secureString looks for the text that PowerShell is to make a secure one of.
func (f *finder) secureString(_ *shape, start, end int) {
	if !f.begins(start) {
		return
	}
	plain, value := false, 0
	f.args(end, func(at int) bool {
		plain = plain || f.has(at, "-asplaintext")
		if value == 0 && f.at(at) != '-' {
			value = at
		}
		return plain && value > 0
	})
	if plain && value > 0 {
		f.hideWord(value)
	}
}

// piped looks for the word that echo sends through a pipe to the command with the option in s[start:end].
func (f *finder) piped(_ *shape, start, _ int) {
	before := f.s[:start]
	pipe := strings.LastIndexByte(before[max(0, start-maxCommand):], '|') + max(0, start-maxCommand)
	if f.at(pipe) != '|' {
		return
	}
	left := before[max(0, pipe-maxCommand):pipe]
	for _, program := range [...]string{"echo ", "printf "} {
		i := strings.LastIndex(left, program)
		if i < 0 {
			continue
		}
		at := f.blanks(pipe - len(left) + i + len(program))
		for _, option := range [...]string{"-n ", "'%s' ", `"%s" `, `\"%s\" `, "%s "} {
			if strings.HasPrefix(f.s[at:], option) {
				at = f.blanks(at + len(option))
			}
		}
		v := f.readLiteral(place{at: at, direct: true}, name{})
		end := v.end
		if v.quoted {
			end = f.skipQuote(end)
		}
		if end <= pipe && f.blanks(end) == pipe {
			f.hideText(v.start, v.end)
			return
		}
	}
}
