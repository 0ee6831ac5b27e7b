// Package extractive is the provider that needs no model: it works offline, costs nothing, and says the same of the
// same prompt each time. It observes one whole answer of the agent at a time, and writes the same grammar as a model,
// through the same parser.
//
// What it writes is taken, never invented: the title says what came of the work, by a commit's subject, or by the sentence of the
// agent's last message that names most, its first one having a lead. Where that has none, the title is what the user
// asked for, or, where that is talk by its form, the files that were changed. Where every edit failed, the title says
// so, and so does the narrative before anything else; where files were changed and what failed last stayed so, the title names it too.
// The subtitle quotes what says why, of a comment, a document or a commit's message; where nothing does, it counts what was done. The
// narrative is the agent's own last message from behind its interjections on, the facts are commands and how they ended, and files that
// were changed. Where nothing of that is there it skips.
//
// What the agent said between its calls that tells something (package sentence) is an observation of its own, quoted: why something
// is so, what to be warned of, what was chosen, what was measured. A list stands with what announces it, a choice with the options it
// was made from. What bears a sentence out counts: a failure before it, an output that holds what it names, words of the person's.
// Announcements, questions, guesses, options alone and what the last message says too are left out. So is what was only thought on the
// way: nothing bears it out, a change followed, and what was said later speaks of all that it names, or the command that it speaks of was
// run again. Steps between which no file was changed are one observation, and so are those that are too short to stand alone, where they
// hold at the same time. What tells how things were before a later call changed them says so in front, and each says below its title what
// was changed behind it. An answer without a call is observed where it has such a sentence.
//
// What commands and files printed is evidence, in facts alone: each error of its own, warnings, what was counted or measured, and the
// line that bears out what was said behind it. What the web, other servers and subagents answered is never quoted so, and titles and
// narratives hold nothing that was printed, because sessions to come are told those. Facts also quote comments that the agent wrote
// into code, or took out, and passages of documents, where they say why or of what to beware; short notes whole, and what the messages of
// commits say below their subjects; searches that found nothing, and files that stayed uncommitted.
//
// Talk opens with a short word and a comma, or trails off; where something was changed, a question is talk too.
//
// The type of an observation follows from what was done, and from words only where a person tells of a failure or a commit says what
// it is. The first line that holds decides:
//
//	a command failed before any file but tests was changed, passed after a change,
//	and half of the changed files or more were there before                             bugfix
//	the person told of a failure, half of the changed files or more were there before,
//	and no command that failed stayed so                                                bugfix
//	a commit's subject names it: fix, feat, refactor                                    that
//	at least half of the changed files are new, and not all of them documents           feature
//	a file was moved: by git mv, by a patch, or made anew while its old place was removed    refactor
//	any other change of files, a commit, a push, a rebase                                change
//	the user was asked to choose, or to approve a plan                                   decision
//	anything else: reading, searching, running, talking                                  discovery
//
// What begins to fail after the work began was broken by it, so that it makes no bugfix. The three security types of
// the mode are a judgement of content and are never given.
//
// The concepts: what-changed with any change, problem-solution where a command failed and passed later, trade-off with
// a decision, how-it-works with a discovery.
//
// A summary says of the session what was asked, which files were read, what discoveries found and why other work was done, and what was
// changed where; of a long one the first request and the last ones, the weightiest of what was found, and the last of the rest. A test, or
// what else failed last and was not seen to go well since, is noted. Its next steps are only what is visibly open: unticked boxes, a closing
// list under a heading that announces it, or what the agent's own list of things to do still holds; and what the person was asked last.
//
// The files, each referring to those below it:
//
//	summarize.go, learned.go, open.go, failing.go, observe.go, facts.go, ran.go, comment.go, left.go, finding.go, standing.go, dated.go,
//	printed.go, gist.go, kind.go, work.go, net.go, compact.go, call.go, shell.go, fact.go, problem.go, narrative.go, title.go,
//	extractive.go, blocks.go, prose.go, fields.go, clean.go
//
// What bites: a command's end is known only if the shell reports it. "go test | tail" ends as tail does; of such a
// command the extractor says that it ran, not that it passed.
package extractive
