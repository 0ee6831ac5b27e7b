// Package viewer is the page: a static shell, ES modules and one style sheet, embedded as they are written. It holds no data and no
// authority: what it shows it asks of the API under /v1, as anybody may who is let in.
//
// The modules stand in assets, each importing only those below it:
//
//	app.js                                                           the shell: rail, project, search, health, keys
//	now.js memory.js why.js losses.js log.js replay.js decide.js     the pages
//	forget.js fields.js                                              the dialogs that change memory; a whole row
//	ui.js                                                            components, the router, what is asked and shown
//	net.js                                                           the door, requests, work with progress, the live stream
//	text.js                                                          captured text as it may be shown; times, numbers
//	vendor/                                                          Preact and htm as npm has them, pinned by their hashes
//
// Nothing of it makes HTML of text: all that is captured goes through show in text.js and into text nodes. The browser holds the page
// to that (require-trusted-types-for), and a test holds the modules to it.
//
// What bites: files are served under a path with the hash of all of them, so that a browser keeps them for ever; a module imports
// others by relative paths alone, or it would be fetched twice.
package viewer
