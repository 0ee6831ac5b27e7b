// Package gemini asks models by Google's Gemini API (generateContent). In the structured form the answer is held to a JSON
// schema. What the service blocks, of the prompt or of the answer, is a refusal of the turn.
//
// The files, each referring to those below it:
//
//	gemini.go, thinking.go, wire.go
//
// What bites: models think before they answer unless they are told not to, and their thoughts count against the bound of
// tokens: Question.LeastThinking bounds them, by the generation in the model's name. A key that is not one is answered by
// 400; the reason in its details tells.
package gemini
