// Package chat is the chat completions API, as OpenAI defined it and as compatible servers speak
// it: Ollama, vLLM, llama.cpp, OpenRouter, DeepSeek and others.
//
// It owns the encoding of requests, and the decoding of the stream with the deviations of these
// servers. It knows no session.
package chat
