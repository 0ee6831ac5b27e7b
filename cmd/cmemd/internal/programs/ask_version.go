package programs

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// askVersionWait is how long a program is waited for that is to say its version, which takes milliseconds.
const askVersionWait = 5 * time.Second

// By which argument the programs say their versions.
const (
	CommandVersion = "version"   // cmemd
	HookVersion    = "--version" // cmemd-hook
)

// AskVersion has a program of cmemd say its version: the second word of what it prints. The program is run, and killed where it takes more
// than 5 s.
func AskVersion(ctx context.Context, program, arg string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askVersionWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, arg)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("it does not say its version: %w", err)
	}
	words := strings.Fields(string(out))
	if len(words) < 2 || !strings.HasPrefix(words[0], "cmemd") {
		return "", errors.New("it is no program of cmemd")
	}
	return words[1], nil
}
