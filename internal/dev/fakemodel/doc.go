// Package fakemodel is a model endpoint for tests. It implements the streaming forms of OpenAI chat
// completions and Responses, Anthropic Messages and Gemini generateContent, and answers each
// request with a Script of the test.
//
// It owns these four APIs, as far as real agents and SDKs use them. It must not know its clients:
// it imports no agent, session or protocol of the project.
package fakemodel
