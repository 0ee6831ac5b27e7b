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
		l.noteListing(environment)
	}
	l.script(&shellCommand{}, text, true)
}

var (
	// reading are the signs of a program that reads a file or prints the environment.
	reading = newList(
		"*open(*", "*read(*", "*readFile*", "*readText*", "*read_text(*", "*read_bytes(*", "*File.*", "*Deno.*", "*Bun.*", "*process.env*", "*environ*",
		"*dotenv_values(*",
	)

	// running are the signs of a program that may give shell lines to another one.
	running = newList("*exec*", "*spawn*", "*subprocess*", "*system(*", "*popen*", "*tools.*")
)

// readsOrRuns reports whether a text calls what reads a file, runs a command or prints the environment.
func readsOrRuns(text string) bool {
	return strings.IndexByte(text, '(') >= 0 && !strings.Contains(text, patchBegin) && (reading.has(text) || running.has(text))
}
