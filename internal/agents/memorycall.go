package agents

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// unobservedMemory marks a call of this memory's own tools: counted, never turned into memory again.
const unobservedMemory = "own"

// memoryCall is t without what was said: what comes out of memory is not put into it again.
func memoryCall(t events.ToolUsed, inputSize, outputSize int) events.ToolUsed {
	t.Input, t.Output, t.Unobserved = "", "", unobservedMemory
	t.InputSize, t.OutputSize = inputSize, outputSize
	return t
}

// ownCall is t, a call of this memory's own with an input: without what was said, but with the rows that it asks for.
func ownCall(t events.ToolUsed, input []byte, outputSize int) events.ToolUsed {
	t = memoryCall(t, len(input), outputSize)
	t.Named = namedBy(t.Tool, input)
	return t
}

// maxNamed is how many rows one call is known to ask for.
const maxNamed = 20

// namedBy are the rows that a call of this memory's own asks for whole: those that a tool's id and ids name, and those behind the
// sub-commands of askedBy. What is no id, no beginning of one and no handle is left out. To forget is not to ask.
func namedBy(tool string, input []byte) (names []string) {
	if strings.HasSuffix(tool, "forget") {
		return nil
	}
	take := func(word string) {
		word = strings.ToLower(word)
		if len(names) < maxNamed && isRowName(word) && !slices.Contains(names, word) {
			names = append(names, word)
		}
	}
	take(member(input, "id"))
	jsonscan.Elements(rawMember(input, "ids"), func(id []byte) bool {
		take(stringOf(id))
		return true
	})
	command := commandIn(input)
	if len(command) > maxCommandLine || !strings.Contains(command, "cmemd") {
		return names
	}
	for _, c := range evidence.Split(command) {
		i := slices.IndexFunc(c.Words, func(w string) bool { return path.Base(w) == "cmemd" })
		if i < 0 {
			continue
		}
		words := behindHome(c.Words[i+1:])
		if len(words) == 0 || !slices.Contains(askedBy(), words[0]) {
			continue
		}
		for _, word := range words[1:] {
			take(word)
		}
	}
	return names
}

// behindHome is what follows on the command's name, and on the home that it may be given first.
func behindHome(words []string) []string {
	if len(words) > 1 && words[0] == "--home" {
		return words[2:]
	}
	return words
}

// askedBy are the sub-commands that show a row whole.
func askedBy() []string { return []string{"show", "why"} }

// isRowName reports whether a word may name a row: m and a number, or an id's hex digits from the eighth on, with its hyphens.
func isRowName(word string) bool {
	if rest, ok := strings.CutPrefix(word, "m"); ok {
		return rest != "" && len(rest) <= 20 && strings.Trim(rest, "0123456789") == ""
	}
	return len(word) <= 36 && len(strings.ReplaceAll(word, "-", "")) >= 8 && strings.Trim(word, "0123456789abcdef-") == ""
}

// isMemoryCall reports whether a tool is served by this memory's own MCP server, added as such or by a plugin, reads one of
// its resources, or runs its command in a shell.
func isMemoryCall(tool, server string, input []byte) bool {
	if isMemoryServer(server) {
		return true
	}
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		name, _, _ := strings.Cut(rest, "__")
		return isMemoryServer(name)
	}
	if !bytes.Contains(input, []byte("cmemd")) {
		return false
	}
	if member(input, "uri") != "" && isMemoryServer(member(input, "server")) {
		return true
	}
	return isMemoryCommand(commandIn(input))
}

// commandIn is the shell command in the input of a tool call, by whichever name the tool has for it; "" if there is none. Several, of
// which nobody knows which one ran, are lines.
func commandIn(input []byte) string {
	var all []string
	jsonscan.Members(input, func(key, value []byte) bool {
		if command := stringOf(value); command != "" && toolinput.Of(string(key)).Is(toolinput.Command) {
			all = append(all, command)
		}
		return true
	})
	return strings.Join(all, "\n")
}

// maxCommandLine is how much of a command line is looked at; see evidence.Split.
const maxCommandLine = 64 << 10

// isMemoryCommand reports whether all that a shell line prints comes out of this memory's own command: each of its simple
// commands is cmemd, cuts down what stands before it in a pipe, or has nothing to say of its own.
func isMemoryCommand(command string) bool {
	if len(command) > maxCommandLine || !strings.Contains(command, "cmemd") {
		return false
	}
	memory, piped := false, false
	for _, c := range evidence.Split(command) {
		program := programOf(c.Words)
		name := path.Base(program)
		if substitutes(c) || strings.Contains(program, "/") && !path.IsAbs(program) { // what that brings in is not memory's, nor is a script of the folder
			return false
		}
		if name == "cmemd" {
			memory = true
		} else if !isSilent(name, c.Text) && (!piped || !evidence.IsFilter(name)) {
			return false
		}
		piped = c.Next == "|"
	}
	return memory
}

// programOf is the first word that is no assignment, or "".
func programOf(words []string) string {
	for _, w := range words {
		if !toolinput.IsAssignment(w) {
			return w
		}
	}
	return ""
}

// isSilent knows the programs that agents put around a command and that tell nothing: they print words of the line or
// none, unless another program gives them words or they write a file.
func isSilent(name, text string) bool {
	switch name {
	case "cd", "echo", "printf", "true", ":":
		return !strings.Contains(text, "$(") && !strings.ContainsAny(text, "`>")
	}
	return false
}

// substitutes reports whether a command's words hold the output of another.
func substitutes(c evidence.Simple) bool {
	return len(c.Scripts) > 0 || strings.Contains(c.Text, "$(") || strings.Contains(c.Text, "`") || strings.Contains(c.Text, "<(")
}

// isMemoryServer knows the names "cmemd", "plugin:NAME:cmemd" and "plugin_NAME_cmemd".
func isMemoryServer(name string) bool {
	if rest, ok := strings.CutPrefix(name, "plugin"); ok && rest != "" && (rest[0] == ':' || rest[0] == '_') {
		return strings.HasSuffix(rest, rest[:1]+"cmemd")
	}
	return name == "cmemd"
}
