// Package embed asks an embeddings endpoint that speaks as OpenAI's does: OpenAI itself, Ollama, llama.cpp, vLLM, LM Studio.
//
// Its client, its key and its table of refusals are those of the models that observe. What bites: an endpoint may send the
// vectors in another order than the texts, so that their index counts, and may send fewer; that is a failure here.
package embed
