// Package embeddings is an embeddings endpoint for measurements and tests, deterministic and without a network: it speaks
// the wire of OpenAI, and what it knows of meaning it has counted in a few texts.
//
// It is no language model, and its figures say nothing of one. A word's vector is a sum of signs that its letters in threes
// decide (so that forms of a word are near), and of signs of the texts in which it stands (random indexing, so that words of
// the same texts are near); a text's is the sum of its words', each by how rare it is. What it has beside a search by words
// is little. It is there to show that fusion does no harm with a weak model, and what a floor cuts off.
package embeddings
