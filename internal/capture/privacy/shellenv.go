package privacy

import (
	"path"
	"strings"

	"github.com/cmemd/cmemd/internal/toolinput"
)

// maxOptions is how many words of a program are looked at for one that it would run.
const maxOptions = 64

// listsEnvironment reports whether a command prints the environment, or all variables of a shell.
func (c *shellCommand) listsEnvironment(name string, args []shellWord, kind use) bool {
	if kind == script && (anyWord(args, dumpsEnvironment) || dumpsEnvironment(c.here)) {
		return true
	}
	if listsByQuery(name, args) {
		return true
	}
	before := startOfLine
	for i := range c.words {
		w := c.words[i].text
		if isProcEnviron(w) {
			return true
		}
		if before.runs(w) && !c.more && printsEnvironment(path.Base(w), c.words[i+1:]) {
			return true
		}
		before = before.behind(w)
	}
	return false
}

// A place says whether a word may be a program.
type place byte

const (
	startOfLine   place = iota // only assignments stand before it
	behindRunners              // a program that runs another one does
	behindTool                 // that of a project, which runs another program if it is told to
	behindRun                  // it is
	elsewhere
)

// runs reports whether a word at this place may be a program that prints variables.
func (p place) runs(word string) bool {
	if p == behindRun {
		return word == "env" || word == "printenv"
	}
	return p == startOfLine || p == behindRunners
}

// behind is the place behind a word.
func (p place) behind(word string) place {
	if p == behindTool && (word == "run" || word == "exec") {
		return behindRun
	}
	if p == behindRun && isLetters(word) {
		return elsewhere
	}
	if p != startOfLine || toolinput.IsAssignment(word) {
		return p
	}
	base := path.Base(word)
	if isPlainRunner(base) {
		return behindRunners
	}
	switch base {
	case "watch", "ssh", "docker", "podman", "kubectl", "oc", "su", "wsl", "cmd", "/c", "heroku", "fly", "nix", "dotenv", "env-cmd":
		return behindRunners
	case "poetry", "uv", "pipenv", "bundle", "conda", "mise", "asdf", "direnv", "doppler", "op", "aws-vault", "chamber":
		return behindTool
	}
	return elsewhere
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
		for i := range args {
			if !args[i].written {
				return false
			}
		}
		return true
	case "get-childitem", "gci", "dir", "ls", "get-item":
		return len(args) > 0 && strings.HasPrefix(strings.ToLower(args[0].text), "env:")
	}
	return false
}

// onlyOptions reports whether no argument names a program or a variable. Of env it is told that it assigns, and that -u and
// -C take a word.
func onlyOptions(args []shellWord, env bool) bool {
	for i := 0; i < len(args) && i < maxOptions; i++ {
		w := &args[i]
		switch {
		case w.written || env && toolinput.IsAssignment(w.text):
		case !strings.HasPrefix(w.text, "-"):
			return false
		case env && (w.text == "-u" || w.text == "-C" || w.text == "--unset" || w.text == "--chdir"):
			i++
		}
	}
	return true
}

func isProcEnviron(w string) bool {
	return strings.HasPrefix(w, "/proc/") && strings.HasSuffix(w, "/environ")
}

// dumpsEnvironment knows how scripts in other languages print all of it.
func dumpsEnvironment(script string) bool {
	for _, whole := range [...]string{
		"os.environ)", "os.environ.items()", "os.environ.copy()", "process.env)", "stringify(process.env", "ENV.to_h", "ENV.to_a", "ENV.each", "ENV.inspect",
		"dict(os.environ", "%ENV", "os.Environ()", "phpinfo(", "getenv())", "dotenv_values(", "$_ENV)",
	} {
		if strings.Contains(script, whole) {
			return true
		}
	}
	bare := strings.TrimRight(script, "; \n")
	for _, end := range [...]string{"p ENV", "pp ENV", "puts ENV", "print ENV"} {
		if strings.HasSuffix(bare, end) {
			return true
		}
	}
	return bare == "process.env" || bare == "Deno.env.toObject()" || bare == "Bun.env"
}

// listsByQuery knows programs that list the environment when they are asked for it.
func listsByQuery(name string, args []shellWord) bool {
	switch name {
	case "jq", "gojq", "yq":
		return anyWord(args, func(w string) bool {
			filter, _, _ := strings.Cut(w, "|")
			filter = strings.TrimSpace(filter)
			return filter == "env" || filter == "$ENV"
		})
	case "systemctl":
		return anyWord(args, func(w string) bool { return w == "show-environment" })
	case "php":
		return anyWord(args, func(w string) bool { return w == "-i" })
	case "awk", "gawk", "mawk":
		return anyWord(args, func(w string) bool { return strings.Contains(w, "in ENVIRON") })
	case "ps":
		return len(args) > 0 && (args[0].text == "-E" || isLetters(args[0].text) && strings.Contains(args[0].text, "e"))
	}
	return false
}

// isLetters reports whether a word is of small letters only.
func isLetters(w string) bool {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return w != ""
}
