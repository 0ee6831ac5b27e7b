// Package watch follows the transcripts of agents that have no hooks, and hands what they grow by to a Sink.
//
// A Rule says whose transcripts lie where. Folders are watched by the system's notices where it gives them, and looked
// through again every half minute, because notices get lost, are limited in number, and do not come over a network. Folders
// that are new are found either way.
//
// How far a file was read is kept in a small file, written after what was read is in the log: a crash between the two
// repeats lines, which the log knows by their keys. A file is read on from where its reading stands; after a restart, or when
// too many are open, it is read from its beginning as soon as it grows, because a result may belong to a call that stands
// anywhere before it. A file that was cut, rewritten or replaced by another is noticed by its last bytes before that place, and
// read from its beginning too.
//
// The state names what the log held when it was written. Where the log lacks some of that (an older one was put in its place, it was
// salvaged, or begun anew), all files of the state are read again, and those that changed since then or within the backlog before. A file
// that was read longer after it had changed stays in the state, so that it is among these however old it is.
//
// A file that was never seen is read if it changed within the backlog, or since files of its rule were looked for last: a daemon
// that was away for a week loses nothing of it. Older ones are left alone until they grow.
//
// The files, each referring to those below it:
//
//	watch.go, scan.go, read.go, watcher.go, file.go, state.go, pattern.go, notify.go
//
// What bites: a line without its end is not taken until the end comes, unless it is whole JSON. That an agent has stopped is
// known from silence alone: half a minute after the last line. Symbolic links below the folder of a rule are not followed. The
// folder itself may be one, but not to the root of the file system, nor into /proc, /sys or /dev.
package watch
