package privacy

import (
	"path"
	"strings"

	"github.com/cmemd/cmemd/internal/toolinput"
)

// maxOptions is how many words of a program are looked at for one that it would run.
const maxOptions = 64

// lists says what a command lists that is left out; empty: nothing.
func (c *shellCommand) lists() string {
	switch {
	case c.listsEnvironment():
		return environment
	case !c.inSubstitution && !c.writes() && c.program.meetsAny(c.program.secrets, c.args):
		return printedSecrets
	}
	return ""
}

// listsEnvironment reports whether a command prints the environment, or all variables of a shell.
func (c *shellCommand) listsEnvironment() bool {
	if c.use == runsCode && (anyWord(c.args, dumpsEnvironment) || dumpsEnvironment(c.hereDocs)) {
		return true
	}
	if c.program.meets(c.program.lists, c.args) || c.name == "ps" && showsEnvironments(c.args) {
		return true
	}
	before := startOfLine
	for i := range c.words {
		w := c.words[i].text
		if isProcEnviron(w) {
			return true
		}
		if before.runs(w) && !c.hasSubstitution && printsEnvironment(path.Base(w), c.words[i+1:]) {
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
	behindToolRun              // it is
	elsewhere
)

// runs reports whether a word at this place may be a program that prints variables.
func (p place) runs(word string) bool {
	if p == behindToolRun {
		return word == "env" || word == "printenv"
	}
	return p == startOfLine || p == behindRunners
}

// behind is the place behind a word.
func (p place) behind(word string) place {
	if p == behindTool && (word == "run" || word == "exec") {
		return behindToolRun
	}
	if p == behindToolRun && isLetters(word) {
		return elsewhere
	}
	if p != startOfLine || toolinput.IsAssignment(word) {
		return p
	}
	switch p := programNamed(path.Base(word)); {
	case p.has(runsProgram | mayRunEnv):
		return behindRunners
	case p.has(mayRunEnvInside):
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

// environmentDumps are the signs of a script in another language that prints all of its environment.
var environmentDumps = newList(
	"*os.environ)*", "*os.environ.items()*", "*os.environ.copy()*", "*process.env)*", "*stringify(process.env*", "*ENV.to_h*", "*ENV.to_a*",
	"*ENV.each*", "*ENV.inspect*", "*dict(os.environ*", "*%ENV*", "*os.Environ()*", "*phpinfo(*", "*getenv())*", "*dotenv_values(*", "*$_ENV)*",
	"*.config().parsed*",
)

// environmentDumpsAtEnd are those with which it ends.
var environmentDumpsAtEnd = newList("*p ENV", "*pp ENV", "*puts ENV", "*print ENV", "process.env", "Deno.env.toObject()", "Bun.env")

// dumpsEnvironment reports whether a script prints all of its environment.
func dumpsEnvironment(script string) bool {
	return environmentDumps.has(script) || environmentDumpsAtEnd.has(strings.TrimRight(script, "; \n"))
}

// showsEnvironments reports whether ps shows the environments of processes: ps eww, ps -E.
func showsEnvironments(args []shellWord) bool {
	return len(args) > 0 && (args[0].text == "-E" || isLetters(args[0].text) && strings.Contains(args[0].text, "e"))
}

// isLetters reports whether a word is of small letters only.
func isLetters(w string) bool { return w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" }
