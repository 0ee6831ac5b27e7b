// Package openai asks models by the Chat Completions API, of OpenAI or of any endpoint that speaks it: OpenRouter, Ollama, LM
// Studio, vLLM, llama.cpp, Gemini's compatible endpoint. A local one needs no key. In the structured form the answer is held
// to a JSON schema (response_format).
//
// What bites: endpoints differ in what they refuse and in what they ignore. One that takes response_format and answers in
// prose is found out by model.Provider; one that names the bound of tokens otherwise, by the parameter that it refuses.
// How much to think is told to OpenAI and OpenRouter alone (reasoning_effort): others take it to turn thinking on.
package openai
