// Package idempotency keeps what calls were answered, by the key that the caller gave them: who lost the answer asks once more with the
// same key, and nothing is done twice.
//
// What bites: keys are forgotten when the program ends; of what was asked a hash is kept, and of answers what they are: an answer that
// holds words would keep them.
package idempotency
