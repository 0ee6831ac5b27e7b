package homedir

import "github.com/cmemd/cmemd/internal/durable"

// WantLog notes that this process, a daemon that starts, waits for the log: commands that only read it let go of it then. Withdraw
// takes the note back.
func (p Paths) WantLog() (withdraw func() error, err error) {
	if err := ThisProcess().Write(p.logWanted); err != nil {
		return nil, err
	}
	return func() error { return durable.Remove(p.logWanted) }, nil
}

// LogWanted reports whether a process that lives waits for the log. What a daemon that was killed noted counts for nothing.
func (p Paths) LogWanted() bool {
	d, err := ReadDaemonFile(p.logWanted)
	return err == nil && d.Lives()
}
