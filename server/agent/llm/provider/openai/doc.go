// Package openai is the Responses API of OpenAI. Nothing of a conversation is stored there: each
// request has all of it, with the encrypted reasoning.
//
// It owns the encoding of requests and the decoding of the stream. It knows no session.
package openai
