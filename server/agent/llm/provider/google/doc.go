// Package google is the Gemini API of Google. Parts return with their thought signatures, in the
// order in which they came.
//
// It owns the encoding of requests and the decoding of the stream. It knows no session.
package google
