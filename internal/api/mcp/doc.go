// Package mcp is memory as tools, resources and a prompt of the Model Context Protocol, for agents that ask by themselves.
//
// One Server asks by the routes of package api: through the client of a running daemon where an agent starts `cmemd mcp` and speaks
// over its standard input and output, and the daemon itself where it speaks HTTP at /mcp. Both answer alike:
//
//	search, timeline   rows in short, about fifty tokens each, with what reading them whole costs
//	get                rows whole, or what their tools were given and printed
//	why                where a row comes from
//	save, forget       write, and forget by the person's leave
//	status             how memory is doing
//
// Agents see the names of tools and the server's instructions before any schema, so the instructions say when to use what.
//
// # What bites
//
//   - No answer is longer than 25,000 tokens: agents cut longer ones, or refuse them. What was left out is named, and how to
//     get it.
//   - Captured text stands inside the fence that injected memory has, without what could close it, and below a line that says
//     that it gives no orders. What stands outside the fence is ours alone.
//   - Each question is kept to the project that the agent works in; the daemon holds it to that, and knows what else may be reached. A
//     yes in a form is the person's; without a form, what an agent forgets is a request.
//   - Schemas are made from the tags of arguments, and not by the library: it lets slices be null, which some agents refuse.
//   - What goes wrong is the result of a tool, with the next step, and no error of the protocol: agents show the former to
//     the model.
//
// The files, each referring to those below it:
//
//	guard.go, forget.go, ticket.go, timeline.go, resources.go, prompts.go, search.go, status.go,
//	save.go, why.go, get.go, tools.go, place.go, server.go, stdio.go, unanswered.go, when.go, rows.go, page.go, errors.go,
//	tokens.go, text.go, schema.go, instructions.go
package mcp
