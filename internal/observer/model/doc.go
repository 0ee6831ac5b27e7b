// Package model is what all providers have in common that ask a language model: a Prompt is rendered into a Question, what
// must not leave the machine is taken out, the service's Asker is asked, retried where its typed answer allows it, and the
// Reply is given back whole.
//
// A service is one small package below observer that implements Asker. It knows its wire and nothing of sessions. Those
// that speak HTTP embed a Client, which posts their JSON with the key, bounds what comes back, and says by one table for all
// of them what a refusal means (Refusal).
//
// The files, each referring to those below it:
//
//	exchange.go, client.go, response.go, refusal.go, resets.go, retry.go, turn.go, request_mode.go, provider.go,
//	guard.go, error_body.go, paid.go, model.go, key.go
//
// What bites: a Failure's class comes from statuses, headers, typed errors and result fields alone. What a model wrote, and
// what an error says in words, decides nothing, and is not passed on: it may hold the prompt, or the key. A service that
// blames every request in the same words (an empty account that answers 400) cannot be told from one that blames this turn.
package model
