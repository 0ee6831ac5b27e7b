package crash

import (
	"os"
	"syscall"
)

// A Program is what Trace runs.
type Program struct {
	Args  []string // the first is its path
	Env   []string
	Stdin *os.File // nil: nothing
	Dir   string   // calls that write below it count
	Armed bool     // they do from the beginning, not from Traced.Arm on
	Fault Fault
}

// A Fault is what the system answers a program instead of doing what it asks for. The zero value is none.
type Fault struct {
	Call  string        // which call, as Traced.Calls names it
	Nth   int           // which of the calls of that name, counted from 0
	Errno syscall.Errno // what it returns
	Short bool          // instead, of what it is to write only half is written
	Full  bool          // instead, all calls that take room on the disk fail, behind the first Nth that were counted
}
