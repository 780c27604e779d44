// Package anthropic is the Messages API of Anthropic. Thinking is returned with its signatures, and
// marks in the requests let the provider cache the constant part.
//
// It owns the encoding of requests and the decoding of the stream. It knows no session.
package anthropic
