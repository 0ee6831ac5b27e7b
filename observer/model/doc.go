// Package model is what all providers have in common that ask a language model: a Prompt is rendered into a Question, what
// must not leave the machine is taken out, the service's Asker is asked, retried where its typed answer allows it, and the
// Reply is given back whole.
//
// A service is one small package below observer that implements Asker. It knows its wire and nothing of sessions.
//
// What bites: a Failure's class comes from statuses, headers, typed errors and result fields alone. What a model wrote, and
// what an error says in words, decides nothing.
package model
