package person

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/internal/agents/known"
)

// stepOfPerson is the variable that says which of its processes the program person is.
const stepOfPerson = "PERSON_STEP"

// typedByPerson is the variable that says what the person answers, lines with | between, and ^D where the input ends. Then the terminal is the
// command's standard input.
const typedByPerson = "PERSON_TYPES"

// interruptedByPerson is the variable that says at which words on standard error the person presses Ctrl-C, once. Then too
// the terminal is the command's standard input.
const interruptedByPerson = "PERSON_INTERRUPTS"

// Main runs the command that its arguments are as a person does: on a terminal of its own, below no program of an agent. It ends
// as the command does. Its first process hands the command on to a second one, which ends at once, so that the third is
// nobody's child, and runs the command on the terminal.
func Main() {
	if err := take(os.Getenv(stepOfPerson)); err != nil {
		fmt.Fprintln(os.Stderr, "person:", err)
		os.Exit(125)
	}
}

// What the processes are given beside the standard files.
const (
	terminalFile = 3
	statusFile   = 4
)

func take(step string) error {
	switch step {
	case "":
		return awaitCommand()
	case "hand on":
		return passOn("run as "+strconv.Itoa(os.Getpid()), os.NewFile(terminalFile, "terminal"), os.NewFile(statusFile, "status")).Start()
	}
	var parent int
	if _, err := fmt.Sscanf(step, "run as %d", &parent); err != nil {
		return err
	}
	for os.Getppid() == parent {
		runtime.Gosched() // it is ending
	}
	return runOnTerminal()
}

// passOn is this program in another step.
func passOn(step string, files ...*os.File) *exec.Cmd {
	c := exec.Command(os.Args[0], os.Args[1:]...)
	c.Path, c.Err = os.Executable()
	unmarked := slices.DeleteFunc(os.Environ(), isMark) // whoever runs the tests may be an agent
	c.Env = append(unmarked, stepOfPerson+"="+step)
	c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, files
	return c
}

// isMark reports whether a variable is one by which an agent's commands are known.
func isMark(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains(known.Marks(), name)
}

// awaitCommand ends as the command does.
func awaitCommand() error {
	master, terminal, err := openTerminal()
	if err != nil {
		return err
	}
	defer master.Close()
	if typed := os.Getenv(typedByPerson); typed != "" {
		if _, err := master.WriteString(strings.NewReplacer("|", "\n", "^D", "\x04").Replace(typed) + "\n"); err != nil {
			return err
		}
	}
	status, report, err := os.Pipe()
	if err != nil {
		return err
	}
	first := passOn("hand on", terminal, report)
	shown := func() error { return nil }
	if at := os.Getenv(interruptedByPerson); at != "" {
		if first.Stderr, shown, err = interruptAt(at, master); err != nil {
			return err
		}
	}
	err = first.Run()
	if err := errors.Join(err, terminal.Close(), report.Close()); err != nil {
		return err
	}
	said, err := io.ReadAll(status)
	if err := errors.Join(err, shown()); err != nil {
		return err
	}
	code, err := strconv.Atoi(string(said))
	if err == nil {
		os.Exit(code)
	}
	return fmt.Errorf("the command did not end: %w", err)
}

// interruptAt returns a file that is to be the standard error of the processes to come. What they say is passed on, and once
// the words of at were said Ctrl-C is pressed on the terminal. Shown, which is called when this process has started them,
// returns when all was passed on.
func interruptAt(at string, master *os.File) (stderr *os.File, shown func() error, err error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	passed := make(chan error, 1)
	go func() { passed <- passUntil(from, at, master) }()
	return to, func() error { return errors.Join(to.Close(), <-passed) }, nil
}

// ctrlC is what a terminal takes for an interrupt of who is in front.
const ctrlC = "\x03"

// passUntil copies from to standard error, and writes ctrlC to master when at was among it.
func passUntil(from io.Reader, at string, master io.Writer) error {
	var said []byte
	for b := make([]byte, 4<<10); ; {
		n, err := from.Read(b)
		was := bytes.Contains(said, []byte(at))
		said = append(said, b[:n]...)
		if _, err := os.Stderr.Write(b[:n]); err != nil {
			return err
		}
		if !was && bytes.Contains(said, []byte(at)) {
			if _, err := io.WriteString(master, ctrlC); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// runOnTerminal runs the command in a session of its own, with the terminal, and reports how it ended.
func runOnTerminal() error {
	keep(statusFile)
	c := exec.Command(os.Args[1], os.Args[2:]...)
	terminal := os.NewFile(terminalFile, "terminal")
	c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{terminal}
	if os.Getenv(typedByPerson)+os.Getenv(interruptedByPerson) != "" {
		c.Stdin = terminal
	}
	c.SysProcAttr = onTerminal(terminalFile)
	err := c.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return err
	}
	_, err = fmt.Fprint(os.NewFile(statusFile, "status"), c.ProcessState.ExitCode())
	return err
}
