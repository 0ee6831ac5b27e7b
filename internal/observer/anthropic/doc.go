// Package anthropic asks models by Anthropic's Messages API, and by what speaks it. Answers are streamed: one that is cut
// has no stop reason, and what came of it is kept with the failure. The system text is marked for the service's cache. In
// the structured form the answer is held to a JSON schema (output_config.format); an older model that keeps to none is made
// to use one tool, whose input is the answer. The newest refuse to be made to. What a model can, the service is asked once,
// before the first question (GET /v1/models/MODEL); of one that does not say, a schema is supposed, and that it may be told
// not to think.
//
// What bites: the API refuses a prompt that is too long, an empty account, and a parameter that a model does not know with
// the same words for programs as any other bad request (400, invalid_request_error). Only its words for people differ, and
// those are not read: such turns are refused, and halved, until one fits. A text is cached from a length on that depends
// on the model: 4,096 tokens for Haiku 4.5, 512 for Haiku 5.5. The system text of the modes lies between the two, so that
// the older model reads it anew, and is paid for it, each time.
//
// The files, each referring to those below it:
//
//	anthropic.go, wire.go, ability.go
package anthropic
