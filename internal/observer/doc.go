// Package observer turns a session's events into memory: what a provider is asked, and what its answer means.
//
// The output contract (Parse) is structural. It looks at tags and at blanks, never at words: an output that did not
// parse is dropped and kept in the log, and nobody reads it in order to act on it.
//
// The files, each referring to those below it:
//
//	mode_code.go, mode_file.go, structured_schema.go, mode_check.go, mode_draft.go, grammar_render.go,
//	mode.go, structured.go, grammar.go, grammar_fields.go, grammar_text.go, grammar_blocks.go,
//	grammar_tags.go, structured_cut.go, scrub.go, provider.go, mode_toml.go
//
// What bites: Parse is not an XML parser and must not become one, because models quote tags, forget to close them and
// write bare < and &. The text of an observation is what a model said, not what happened: evidence checks it.
package observer
