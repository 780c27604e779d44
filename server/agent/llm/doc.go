// Package llm is an agent that talks to a model itself: OpenAI, Anthropic, Google, or a server with
// their APIs. It has the conversation, requests the model, runs the tools that it calls, and asks
// for approval before.
//
// It owns the loop of a turn, the stored conversation, retries and limits, and declares the
// interfaces of tools (Tool, Toolbox). It knows no provider: package provider makes models from the
// configuration. Package policy decides which calls run without asking.
package llm
