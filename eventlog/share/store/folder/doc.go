// Package folder keeps the objects of a store.Store as files in a plain folder: a local one, an NFS mount, or one that Syncthing
// carries between machines.
//
// The object s/log/7q/head is the file s/log/7q/head_. A name without the last letter is a folder; names that no part of a key has
// are nobody's and passed over, and so are the copies that Syncthing makes where two machines changed one file. A file is a header
// (what it is, its revision, the length and a checksum of the body) and the body, so that one that is still being copied is told
// from one that is whole.
//
// A file is written and synced in the folder .syncthing.cmemd, which Syncthing passes over. Create links it to its name, which
// fails where there is one; on a file system without hard links it looks for the name under the lock and renames. Replace and
// Delete hold that lock (flock on a file beside it) while they look at the revision and rename.
//
// The files, each referring to those below it:
//
//	watch.go, list.go, folder.go, scratch.go, errors.go, file.go
//
// What bites: races are decided among processes of one machine, and over NFS as far as its locks go; over Syncthing each key needs
// one writer. On systems without flock (Windows) Replace and Delete hold no lock. Deleted files are written over with zeros, but
// old versions that a file system or Syncthing keeps are not. An unmounted folder that is empty has no file .cmemd, and
// is away (Config.Existing). A call that hangs with its file system ends for its caller with the context, and goes on behind it.
// A list opens each file for its revision: 3,000 take 0.3 s on a busy machine.
package folder
