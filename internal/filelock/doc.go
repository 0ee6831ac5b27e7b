// Package filelock locks files between processes, as flock does: of those who open one file one holds its lock, until it closes it or
// ends, however it ends. Where a system has no flock (Windows) nobody is kept out.
package filelock
