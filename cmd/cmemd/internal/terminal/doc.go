// Package terminal is what every command works with: where it reads and writes, how rows, fields and JSON are printed,
// how errors become a message, a next step and an exit code, and how the daemon of this home is asked.
//
// The files, each referring to those below it:
//
//	help.go, lines.go, progress.go, confirm.go, reach.go, query_flags.go, flags.go, when.go, exit.go, usage_error.go, output.go,
//	style.go, visible.go, project.go, hangup.go, closed.go, closed_unix.go, closed_other.go, app.go
//
// What bites: text that was captured may hold anything. It reaches a terminal through Visible, VisibleLine or the JSON
// printer only.
package terminal
