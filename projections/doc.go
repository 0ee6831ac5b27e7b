// Package projections holds the views: what the log's records add up to, kept in one bbolt file that can be deleted at
// any time, because the log rebuilds it to the same content.
//
// The views are listed in open.go, each in a bucket of its own with a checkpoint and a version.
//
// Package engine stores, runs and rebuilds them. The first four are package rows, turns are package turn; each other view has
// a package of its name, whose comment says what it keeps. Package gain keeps nothing: it joins what others have. A package of
// a view has its tables, its fold, and a Reader, whose methods are those of Views.
// The file is not synced: after a stop that was not clean it is checked, and rebuilt where a check cannot vouch for it
// (see engine.Config).
//
// What bites: reads see at least what Position returned before them, and may see more. Rows belong to the caller.
// A view that is rebuilt because its version changed answers from what it has so far, and holds Position back until
// it has caught up; one that Rebuild makes anew answers from the old content until then. What was forgotten leaves
// nothing but its id: only the payloads of kinds that engine.Forgettable names may be erased from the log, or a rebuilt view
// would differ from a live one.
package projections
