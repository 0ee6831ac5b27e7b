package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// Question asks the person at the terminal, and returns the line that they answer, without blanks around it.
func (a *App) Question(question string) (string, error) {
	fmt.Fprint(a.Err, question+" ")
	line, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && line == "" {
		return "", errors.New("no answer")
	}
	return strings.TrimSpace(line), nil
}

// Confirm asks whether to go on with what was shown, where there is something to ask and somebody to answer: without a terminal
// it takes no for an answer. Done is the word for what was not done then.
func (a *App) Confirm(question, done string, dryRun, yes bool) (bool, error) {
	switch {
	case dryRun:
		a.Say("nothing was %s: without --dry-run it is", done)
		return false, nil
	case yes:
		return true, nil
	case a.JSON || !IsTerminal(a.In):
		a.Say("nothing was %s: nobody is there to ask; give --yes", done)
		return false, nil
	}
	answer, err := a.Question(question + " [y/N]")
	if err != nil {
		return false, fmt.Errorf("nothing was %s: %w", done, err)
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		a.Say("nothing was %s", done)
		return false, nil
	}
	return true, nil
}
