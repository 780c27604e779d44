// Package openai is the Responses API of OpenAI. The provider stores no conversation: each request
// has all of it, with the encrypted reasoning.
//
// It owns the encoding of requests and the decoding of the stream. It knows no session.
package openai
