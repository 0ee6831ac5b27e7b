// Package machines tries on the real programs what happens to machines that share one memory: daemons and the store are killed,
// stopped, cut off, wiped and slowed down while agents report, homes are copied and restored, a machine sleeps for long. Two or three
// homes have daemons of their own, over a folder or over cmemd-hub behind a proxy on loopback; beside them is a home that has not
// joined. Whatever happened: nothing that was acknowledged is missing, nothing is there twice, all machines have the same memory by
// id in the end, and hooks take as long as in the home beside.
//
//	go test ./testkit/machines -machines                  as the gate does it
//	go test ./testkit/machines -machines -figures -v      what is measured rather than held; takes ten minutes more
//	go test ./testkit/machines -machines -programs DIR    with programs that are built already
//
// What bites: the programs are built anew, and without a flag nothing runs. A hook is measured from outside, as a process, and all
// that runs on the machine slows it down: it is set beside the hooks of the home that has not joined, which are run by turns with it.
// Clocks of machines that differ are not tried: one kernel has one clock. testkit/fleet has them.
package machines
