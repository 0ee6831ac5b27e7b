// Package store is a small store of objects on an existing engine, by which logs travel between machines: the eight methods that
// a shared space needs, and no more. What is put there is sealed before it comes here: a store sees keys, sizes and times.
//
// Objects are written once, or replaced under the revision that the writer saw last. So a segment of a log is created under its
// number and at most one writer can be first, and a head that two hold can be renewed by one of them only.
//
// The engines are folder (a plain folder: local, NFS, Syncthing) and jet (NATS JetStream). storetest holds the suite that each
// engine passes, a store in memory, and a store with faults for the tests of those who use one.
//
// What bites:
//
//   - An error of Create, Replace or Delete that is none of the sentinels below leaves open whether it was done: the answer may be
//     what was lost. Get tells.
//   - Where a key was deleted Create succeeds again. Whoever fences by Create leaves an empty body in the place of what it deletes.
//   - List and Watch go by prefix: what is asked for together should begin alike (S/head/L, not S/L/head).
//   - A watch is a hint: whoever must not miss a change lists too, now and then.
//   - A folder that Syncthing carries decides races on each machine alone: each key needs one writer.
package store
