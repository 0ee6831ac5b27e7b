package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrInterrupted is what Question and Confirm return where the command was to end before the person answered.
var ErrInterrupted = errors.New("interrupted")

// ErrNoAnswer is what Question and Confirm return where the input ended before an answer.
var ErrNoAnswer = errors.New("no answer")

// Question asks the person at the terminal, and returns the line that they answer, without blanks around it. Where ctx is done first, or
// before the answer is used, it returns ErrInterrupted; what reads the terminal then waits until the command ends, so nothing
// may be asked after that.
func (a *App) Question(ctx context.Context, question string) (string, error) {
	fmt.Fprint(a.Err, question+" ")
	type line struct {
		text string
		err  error
	}
	answered := make(chan line, 1)
	go func() { // a terminal's read cannot be ended
		text, err := bufio.NewReader(a.In).ReadString('\n')
		answered <- line{text, err}
	}()
	var answer line
	select {
	case <-ctx.Done():
	case answer = <-answered:
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(a.Err) // the line of the question has no end yet
		return "", ErrInterrupted
	case answer.err != nil && answer.text == "":
		return "", ErrNoAnswer
	}
	return strings.TrimSpace(answer.text), nil
}

// Confirm asks whether to go on with what was shown, where there is something to ask and somebody to answer: without a terminal
// it takes no for an answer. Done is the word for what was not done then.
func (a *App) Confirm(ctx context.Context, question, done string, dryRun, yes bool) (bool, error) {
	switch {
	case dryRun:
		a.Infof("nothing was %s: without --dry-run it is", done)
		return false, nil
	case yes:
		return true, nil
	case a.JSON || !IsTerminal(a.In):
		a.Infof("nothing was %s: nobody is there to ask; give --yes", done)
		return false, nil
	}
	agreed, err := a.AskYesNo(ctx, question, false)
	switch {
	case err != nil:
		return false, fmt.Errorf("nothing was %s: %w", done, err)
	case !agreed:
		a.Infof("nothing was %s", done)
	}
	return agreed, nil
}

// AskYesNo reports whether the person at the terminal answers a question with yes. An empty line is the standard answer. Errors are
// those of Question.
func (a *App) AskYesNo(ctx context.Context, question string, standard bool) (bool, error) {
	choice := " [y/N]"
	if standard {
		choice = " [Y/n]"
	}
	answer, err := a.Question(ctx, question+choice)
	if err != nil {
		return false, err
	}
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes" || answer == "" && standard, nil
}
