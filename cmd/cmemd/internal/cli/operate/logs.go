package operate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/sleep"
)

const (
	followEvery = 200 * time.Millisecond // between two looks for new lines
	maxLogTail  = 8 << 20                // bytes at the end of the file in which the last lines are looked for
	maxLogLine  = 1 << 20
)

func newLogs(a *terminal.App) *cobra.Command {
	n, follow := 0, false
	c := &cobra.Command{
		Use: "logs", Short: "Print what the daemon logged", Args: terminal.Takes(0, 0, ""),
		Long: "Logs prints the end of logs/cmemd.log in CMEMD_HOME. A daemon that runs on a terminal logs there instead.",
	}
	c.Flags().IntVarP(&n, "lines", "n", 50, "how many of the last lines")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until interrupted")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if n < 0 {
			return terminal.Misused(c, "--lines %d: it must be 0 or more", n)
		}
		p, err := homedir.Of(a)
		if err != nil {
			return err
		}
		return logs(c.Context(), a, p, n, follow)
	}
	return c
}

func logs(ctx context.Context, a *terminal.App, p homedir.Paths, n int, follow bool) error {
	path := p.LogFile
	f, _, err := durable.OpenLinked(path)
	if errors.Is(err, fs.ErrNotExist) && !follow {
		path = p.StartLog
		f, _, err = durable.OpenLinked(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return terminal.Advise(fmt.Errorf("%w: no daemon has logged anything in %s", terminal.ErrNothing, p.Home), "`cmemd start`")
	}
	if err != nil {
		return err
	}
	defer func() { f.Close() }()
	lines, err := lastLines(f, n)
	if err != nil {
		return err
	}
	for _, line := range lines {
		showLogLine(a, line)
	}
	ctx, stop := terminal.UntilClosed(ctx, a.Out)
	defer stop()
	for follow {
		if f, err = followLog(ctx, a, path, f); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// lastLines returns the last n lines of f, and leaves f at its end.
func lastLines(f *os.File, n int) ([][]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(info.Size()-maxLogTail, 0)
	tail := make([]byte, info.Size()-from)
	if _, err := f.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if _, err := f.Seek(info.Size(), io.SeekStart); err != nil {
		return nil, err
	}
	tail = bytes.TrimSuffix(tail, []byte("\n"))
	if len(tail) == 0 || n == 0 {
		return nil, nil
	}
	lines := bytes.Split(tail, []byte("\n"))
	return lines[max(len(lines)-n, 0):], nil
}

// followLog prints what is written to f, all that is there when ctx ends, or until the file at path is another one, which it then returns.
func followLog(ctx context.Context, a *terminal.App, path string, f *os.File) (*os.File, error) {
	in := bufio.NewReaderSize(f, maxLogLine)
	var line []byte
	ended := false
	for {
		part, err := in.ReadBytes('\n')
		line = append(line, part...)
		if err == nil {
			showLogLine(a, bytes.TrimSuffix(line, []byte("\n")))
			line = line[:0]
			continue
		}
		if !errors.Is(err, io.EOF) {
			return f, err
		}
		if ended {
			return f, nil
		}
		if next := openRotated(path, f); next != nil {
			return next, f.Close()
		}
		ended = sleep.For(ctx, followEvery) != nil
	}
}

// openRotated returns the file that is at path now, if that is not f any more.
func openRotated(path string, f *os.File) *os.File {
	next, _, err := durable.OpenLinked(path)
	if err != nil {
		return nil
	}
	was, err1 := f.Stat()
	is, err2 := next.Stat()
	if err1 != nil || err2 != nil || os.SameFile(was, is) {
		next.Close()
		return nil
	}
	return next
}

// showLogLine prints a line of the log file; with --json as it is, if it is JSON, else as a string in an object.
func showLogLine(a *terminal.App, line []byte) {
	if !a.JSON {
		a.Printf("%s\n", terminal.VisibleLine(string(line)))
		return
	}
	if json.Valid(line) {
		a.Printf("%s\n", terminal.EscapeJSON(line))
		return
	}
	_ = a.PrintJSONLine(map[string]string{"line": string(line)}) // a string always encodes; who left is not answered
}
