// Package fakemodel is a model endpoint for tests: it speaks the streaming wire forms of OpenAI chat completions and
// Responses, Anthropic Messages and Gemini generateContent, and answers each request as the test's Script says.
//
// It owns those four wire forms, as far as real agents and SDKs use them, and nothing else. It must not know who calls
// it: no agent, session or protocol of the project is imported here.
package fakemodel
