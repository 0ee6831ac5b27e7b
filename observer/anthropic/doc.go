// Package anthropic asks models by Anthropic's Messages API, and by what speaks it. Answers are streamed: one that is cut
// has no stop reason, and what came of it is kept with the failure. The system text is marked for the service's cache. In
// the structured form the model is made to use one tool, whose input is the answer.
//
// What bites: the API refuses a prompt that is too long, and an empty account, with the same words for programs as any other
// bad request (400, invalid_request_error). Only its words for people differ, and those are not read: such turns are
// refused, and halved, until one fits.
package anthropic
