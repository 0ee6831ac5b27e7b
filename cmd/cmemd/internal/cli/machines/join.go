package machines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/sharing"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

const joinHelp = `Join has this machine share its memory with others: everything that its log holds, and will hold, is sealed here and carried through
a store that cannot read it.

With a folder that your machines have in common (Syncthing, NFS, a mounted bucket), or with the address of a NATS server, it makes a space there
and prints a code for the next machine. With a code it enters a space. A code says where its store is; where a folder has another name
on this machine, give that name before the code. - in the place of the code reads it from standard input.

The recovery code is shown once. It is the only way back in where all machines are lost: write it down.`

func newJoin(a *terminal.App) *cobra.Command {
	var q api.ClusterJoin
	yes := false
	c := &cobra.Command{
		Use: "join FOLDER|nats://...|CODE [CODE]", Short: "Share this machine's memory with your other machines", Long: joinHelp,
		Args:    terminal.Takes(1, 2, "a folder, the address of a server, or a code"),
		Example: "  cmemd join ~/Sync/cmemd\n  cmemd join ~/Sync/cmemd CODE\n  cmemd join CODE --name laptop",
	}
	c.Flags().StringVar(&q.Name, "name", "", "what this machine is called; without it, by its host name")
	c.Flags().BoolVar(&q.New, "new", false, "make a space also where there is one already")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := readTarget(c, a, args, &q); err != nil {
			return err
		}
		if ok, err := agreed(c.Context(), a, yes); err != nil || !ok {
			return err
		}
		joined, err := join(c.Context(), a, q)
		if err != nil {
			return err
		}
		return a.Show(joined, func() { showJoined(a, joined) })
	}
	return c
}

// agreed says what joining sends, and asks whoever is at a terminal. Where nobody is there the command itself is the yes.
func agreed(ctx context.Context, a *terminal.App, yes bool) (bool, error) {
	cluster, err := ask(ctx, a)
	if err != nil || cluster.Joined || yes || a.JSON || !terminal.IsTerminal(a.In) {
		return err == nil, err // one that has joined is refused, in words
	}
	status, err := a.Status(ctx)
	if err != nil {
		return false, err
	}
	a.Infof("All that was recorded here, %s, and all that will be, is sealed and sent; machines of the space read it, the store does not.",
		number.Plural(status.Position, "record"))
	a.Infof("What they recorded comes here. `cmemd leave` ends that; what was sent stays with them.")
	return a.Confirm(ctx, "Join?", "joined", false, false)
}

// maxCode is how much of standard input is read as a code, in bytes.
const maxCode = 4 << 10

// readTarget reads the arguments of join into q.
func readTarget(c *cobra.Command, a *terminal.App, args []string, q *api.ClusterJoin) error {
	for i, arg := range args {
		if arg != "-" {
			continue
		}
		line, err := bufio.NewReader(io.LimitReader(a.In, maxCode)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		args[i] = strings.TrimSpace(line)
	}
	_, err := space.ParseCode(args[0])
	isCode := err == nil
	switch {
	case len(args) == 2 && isCode:
		return terminal.Misused(c, "the code is given last, behind the folder or the address")
	case isCode:
		q.Code = args[0]
		return nil
	case len(args) == 2:
		q.Code = args[1]
		if _, err := space.ParseCode(q.Code); err != nil {
			return terminal.Advise(err, "copy it whole, with all its hyphens; `cmemd invite` on a machine that has joined makes another one")
		}
	}
	q.Where = args[0]
	if sharing.IsServer(q.Where) {
		return nil
	}
	if q.Where, err = filepath.Abs(args[0]); err != nil {
		return err
	}
	if info, err := os.Stat(q.Where); err != nil || !info.IsDir() {
		what := "what was given" // it may be most of a code, which is a secret
		if strings.ContainsRune(args[0], filepath.Separator) {
			what = terminal.VisibleLine(args[0])
		}
		return terminal.Advise(fmt.Errorf("%s is no folder that is there, and no code: codes are copied whole", what),
			"make the folder first, or copy the code with all its hyphens")
	}
	return nil
}

// join has the daemon join. A person's yes is the command itself.
func join(ctx context.Context, a *terminal.App, q api.ClusterJoin) (joined api.ClusterJoined, err error) {
	return terminal.Work(ctx, a, "joining", api.ClusterJoinRoute, q)
}

func showJoined(a *terminal.App, j api.ClusterJoined) {
	a.Printf("this machine, %s, shares its memory through %s: %s\n",
		terminal.VisibleLine(j.Name), terminal.VisibleLine(j.Where), number.Plural(j.Machines, "machine"))
	if j.Problem != "" {
		a.Infof("nothing is carried yet: %s", terminal.VisibleLine(j.Problem))
	}
	if j.Recovery == "" {
		a.Infof("`cmemd status --cluster` shows how far each machine is")
		return
	}
	a.Printf("\nRecovery code, shown this once:\n\n  %s\n\n", j.Recovery)
	a.Printf("Write it down, and keep it away from these machines. Where all of them are lost it alone opens what is stored;\nwithout it, that is lost for good.\n")
	if j.Invitation != nil {
		a.Printf("\n")
		showInvitation(a, *j.Invitation)
	}
}

// showInvitation prints the line to type on another machine.
func showInvitation(a *terminal.App, i api.ClusterInvitation) {
	a.Printf("On the other machine, once, until %s:\n\n  cmemd join %s\n", terminal.Moment(i.Expires), i.Code)
}
