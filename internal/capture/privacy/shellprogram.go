package privacy

import (
	"path"
	"strings"

	"github.com/cmemd/cmemd/internal/toolinput"
)

// program is the program that a command runs, without its folder, and the words behind it. Programs that run it, as sudo
// does, are passed over; xargs says that one of them is that one.
func (c *shellCommand) program() (name string, args []shellWord, xargs bool) {
	runner := false
	for i := range c.words {
		w := &c.words[i]
		switch {
		case i == maxBefore:
			return "", c.words[i:], xargs
		case w.written || w.read || toolinput.IsAssignment(w.text):
			continue
		case runner && (strings.HasPrefix(w.text, "-") || isNumber(w.text)):
			continue
		}
		base := path.Base(w.text)
		if !isPlainRunner(base) {
			return strings.ToLower(base), c.words[i+1:], xargs
		}
		runner, xargs = true, xargs || base == "xargs"
	}
	return "", nil, xargs
}

// isPlainRunner knows what stands before a program and its words, and takes none but options.
func isPlainRunner(word string) bool {
	switch word {
	case "sudo", "doas", "command", "builtin", "exec", "time", "nohup", "nice", "xargs", "timeout", "then", "do", "else", "if", "elif", "while", "until", "!",
		"env", "stdbuf", "setsid", "busybox", "npx", "bunx", "pnpx":
		return true
	}
	return false
}

// isNumber reports whether a word is a number, perhaps of seconds: 5, 0.5, 10s.
func isNumber(w string) bool { return w != "" && w[0] >= '0' && w[0] <= '9' && len(w) < 8 }

// A use is what a program does with the files among its words.
type use byte

const (
	unknown use = iota // what it prints may hold them
	reader             // the same; all its words but options are files
	silent             // it prints nothing of them
	script             // it may be given a program as one of its words
	writer             // it prints nothing of them, and what stands in its words may go into them
	pattern            // a reader whose first word is what it looks for
)

// useOf says what a program does with files.
func useOf(name string, args []shellWord) use {
	switch name {
	case "cat", "head", "tail", "less", "more", "bat", "batcat", "nl", "tac", "sort", "uniq", "cut", "xxd", "od", "hexdump", "base64", "strings", "openssl",
		"diff", "cmp", "comm", "paste", "tee", "vim", "vi", "nano", "get-content", "gc", "fold", "column", "sponge", "gpg", "age", "type":
		return unlessQuiet(reader, name, args)
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "gsed", "awk", "gawk", "mawk", "jq", "yq", "gojq":
		return unlessQuiet(pattern, name, args)
	case "docker", "podman", "kubectl", "oc", "helm", "tar", "zip":
		return unlessQuiet(unknown, name, args)
	case "source", ".", "test", "[", "[[", "ls", "ll", "dir", "stat", "touch", "cp", "mv", "rm", "chmod", "chown", "chgrp", "ln", "mkdir", "rmdir", "shred",
		"du", "wc", "file", "realpath", "readlink", "dirname", "basename", "cd", "pushd", "echo", "printf", "export", "unset", "alias", "which",
		"install", "sha256sum", "shasum", "md5sum", "make", "for", "scp", "ssh-add", "ssh-keygen", "direnv", "env-cmd", "gh", "tree", "open", "code", "printenv", "declare", "local", "readonly":
		return silentUnless(args, "/dev/std", "/dev/fd", "/dev/tty")
	case "dotenv":
		return silentUnless(args, "list", "get", "-p")
	case "find", "fd":
		return useOfFind(args)
	case "git":
		return useOfGit(args)
	case "go":
		if len(args) > 0 && args[0].text == "run" {
			return unknown
		}
		return silent
	case "node", "nodejs", "ruby", "perl", "php", "deno", "bun", "tsx", "ts-node", "lua", "rscript", "osascript", "groovy":
		return script
	}
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") {
		return script
	}
	return unknown
}

// silentUnless is silent if no word begins so.
func silentUnless(args []shellWord, begins ...string) use {
	for _, w := range args {
		for _, b := range begins {
			if strings.HasPrefix(w.text, b) {
				return unknown
			}
		}
	}
	return silent
}

// A role is what a command does with one word that may be a file.
type role byte

const (
	unseen  role = iota // nothing of it is printed
	shown               // what the command prints may hold it; only names that are nothing else count
	operand             // the same, and it stands where only a file may
	output              // it is written
)

// eachOperand calls visit with what may be files among the words of a command. Of one that names files which another reads,
// what they are called counts too.
func (c *shellCommand) eachOperand(name string, args []shellWord, kind use, visit func(word string, as role)) {
	first := len(c.words) - len(args)
	for i := range c.words[:first] {
		switch w := &c.words[i]; {
		case w.written:
			visit(w.text, output)
		case w.read:
			visit(w.text, operand)
		case i == first-1 && !mayBePrivate(w.text): // the program
		case len(c.words) == 1, !toolinput.IsAssignment(w.text): // of a script, or of no shell; of what runs the program
			visit(w.text, shown)
		}
	}
	wantsPattern, skip := kind == pattern, false
	gitSub := name == "git" && kind == pattern
	shows, plain := showsLoaded(name, kind, args), false // plain: behind --
	for i := range args {
		w := &args[i]
		text := w.text
		switch {
		case w.written:
			visit(text, output)
		case w.read && kind != silent:
			visit(text, operand)
		case skip:
			skip = false
		case text == "--" && kind == pattern:
			plain = true
		case kind == pattern && !plain && endsInPattern(name, text):
			wantsPattern, skip = false, true
		case len(text) > 1 && text[0] == '-' && !plain:
			taken := optionTaking(name, kind, text) && !(shows && isLoading(text))
			skip = taken && takesNext(text)
			wantsPattern = wantsPattern && !isPatternOption(kind, text)
			if !taken {
				visit(text, kind.roleOf(shown))
			}
		case gitSub && text == "grep":
			gitSub = false
		case wantsPattern && !gitSub:
			wantsPattern = false
		default:
			visit(text, kind.roleOf(operand))
		}
	}
}

// takesNext reports whether the value of an option is the next word, and not a part of its own.
func takesNext(option string) bool {
	return len(option) == 2 || option[1] != 'S' && option[1] != 'G' && strings.IndexByte(option, '=') < 0
}

// roleOf is the role of a word of a program of this use.
func (u use) roleOf(as role) role {
	switch {
	case u == silent:
		return unseen
	case u == writer:
		return output
	case u == reader || u == pattern:
		return as
	}
	return shown
}

// optionTaking reports whether an option takes a word that is no file, or one of which nothing is printed.
func optionTaking(name string, kind use, option string) bool {
	long, _, _ := strings.Cut(option, "=")
	switch long {
	case "--env-file", "--from-env-file", "--from-file", "--cacert", "--capath", "--cert", "--key", "--kubeconfig", "--volume", "--mount", "--secret", "--private-key", "--identity-file",
		"--grep", "--author", "--tls-cert", "--tls-key", "--ssl-key", "--ssl-cert", "--exclude", "--include", "--glob", "--iglob", "--regexp", "--message",
		"-var-file", "--var-file", "-backend-config", "--envfile", "--userconfig", "--netrc-file", "--ca-bundle", "--key-file", "--defaults-file", "--defaults-extra-file":
		return true
	}
	switch name {
	case "git":
		return strings.HasPrefix(option, "-S") || strings.HasPrefix(option, "-G") || option == "-m" || option == "-e"
	case "openssl":
		return option == "-out" || option == "-keyout" || option == "-CAfile"
	case "curl":
		return option == "-E" || option == "-o"
	case "wget":
		return option == "-O"
	case "rsync":
		return option == "-e"
	case "ansible", "ansible-playbook":
		return option == "-i" || option == "-e"
	case "ssh", "scp", "sftp", "ssh-copy-id", "mosh":
		return option == "-i"
	case "docker", "podman", "docker-compose":
		return option == "-v"
	case "find", "fd":
		return kind == silent && (option == "-name" || option == "-iname")
	}
	if kind != pattern {
		return false
	}
	switch name {
	case "jq", "yq", "gojq":
		return false
	case "sed", "gsed", "awk", "gawk", "mawk":
		return option == "-e" || option == "-F" || option == "-v"
	}
	switch option {
	case "-e", "-g", "-t", "-T", "-A", "-B", "-C", "-m", "--type", "--max-count":
		return true
	}
	return false
}

// isPatternOption reports whether what is looked for stands at an option.
func isPatternOption(kind use, option string) bool {
	return kind == pattern && (option == "-e" || option == "-f" || strings.HasPrefix(option, "--regexp") || option == "--files" || strings.HasPrefix(option, "--file"))
}

// endsInPattern reports whether several letters of a search are one option, whose next word is what is looked for: -ie.
func endsInPattern(name, option string) bool {
	switch name {
	case "grep", "egrep", "fgrep", "zgrep", "rg", "git":
		return len(option) > 2 && option[0] == '-' && option[len(option)-1] == 'e' && strings.Trim(option[1:len(option)-1], "niwxvsFEoHacl") == ""
	}
	return false
}

// givesCommands reports whether a program takes a shell line as one of its words.
func (c *shellCommand) givesCommands() bool {
	for i, w := range c.words {
		if i == maxBefore {
			return false
		}
		if isShell(path.Base(w.text)) {
			return true
		}
		switch path.Base(w.text) {
		case "ssh", "su", "sudo", "eval", "docker", "podman", "kubectl", "oc", "xargs", "watch", "timeout", "nohup", "script", "wsl", "tmux", "screen",
			"vagrant", "heroku", "fly", "nix", "time", "doas":
			return true
		}
	}
	return false
}

func isShell(name string) bool {
	switch strings.TrimSuffix(name, ".exe") {
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "cmd":
		return true
	}
	return false
}

// isGivenCommand reports whether word i of a command that gives commands is a shell line.
func (c *shellCommand) isGivenCommand(i int) bool {
	if i == 0 {
		return false
	}
	if strings.ContainsAny(c.words[i].text, " \t\n;|") {
		return true
	}
	before := c.words[i-1].text // -c, -lc, /c
	return len(before) > 1 && len(before) < 6 && (before[0] == '-' || before[0] == '/') && before[len(before)-1] == 'c'
}

// eachQuoted calls use with what stands in quotes in a script, and is not longer than a path.
func eachQuoted(text string, use func(string)) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '"' && c != '\'' && c != '`' {
			continue
		}
		rest := text[i+1 : min(len(text), i+1+256)]
		n := strings.IndexByte(rest, c)
		if n < 0 {
			continue
		}
		if n > 0 && strings.IndexByte(rest[:n], '\n') < 0 {
			use(rest[:n])
			i += n + 1
		}
	}
}
