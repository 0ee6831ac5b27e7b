package privacy

import "strings"

// callsTools is how programs begin to call the tools of an agent: no shell line does.
const callsTools = "await tools."

// code looks at a text that may be a program in another language.
func (l *inspection) code(text string) {
	if !readsOrRuns(text) {
		return
	}
	if dumpsEnvironment(text) {
		l.listing()
	}
	l.script(&shellCommand{}, text, true)
}

// readsOrRuns reports whether a text calls what reads a file, runs a command or prints the environment.
func readsOrRuns(text string) bool {
	if strings.IndexByte(text, '(') < 0 || strings.Contains(text, patchBegin) {
		return false
	}
	for _, call := range [...]string{
		"open(", "read(", "readFile", "readText", "read_text(", "read_bytes(", "File.", "Deno.", "Bun.", "process.env", "environ", "dotenv_values(",
	} {
		if strings.Contains(text, call) {
			return true
		}
	}
	return runsCommands(text)
}

// runsCommands reports whether a program may give shell lines to another one.
func runsCommands(text string) bool {
	for _, call := range [...]string{"exec", "spawn", "subprocess", "system(", "popen", "tools."} {
		if strings.Contains(text, call) {
			return true
		}
	}
	return false
}
