// Package crash runs a piece of a test in a child process, so that it can be killed for real.
//
// A test package names its roles in TestMain; Start runs one of them in a new process of the same test binary:
//
//	func TestMain(m *testing.M) {
//		os.Exit(crash.Main(m, map[string]crash.Role{"append": appendForEver}))
//	}
//
// EachStep kills a role before each step by which it changes files, one after another. Trace runs any program, and has the system
// refuse it a call: a full disk, a device with errors, a short write.
//
// The files, each referring to those below it:
//
//	faults_linux.go, faults_other.go, fault.go, registers_linux_amd64.go, registers_linux_arm64.go, registers_linux_other.go,
//	steps_linux.go, steps_other.go, crash.go
//
// What the child prints on standard output is kept line by line. What bites: only lines that end with a newline count,
// because a killed child may have printed half of one; print a line only after what it says is true.
package crash
